"""``python -m tadasu``: the command line, where its script is not on the path."""

from tadasu.cli import main

if __name__ == "__main__":
    main()
