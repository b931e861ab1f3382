"""One parser per format: bytes to a Document with blocks."""
