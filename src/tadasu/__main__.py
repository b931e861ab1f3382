"""``python -m tadasu``: the command line."""

from __future__ import annotations

from tadasu.cli import main

if __name__ == "__main__":
    main()
