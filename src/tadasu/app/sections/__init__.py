"""The tables of ``tadasu.toml``, each with its keys, defaults and what they mean."""
