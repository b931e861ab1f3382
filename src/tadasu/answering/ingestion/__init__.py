"""From files to passages in the index."""
