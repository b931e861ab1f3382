"""Pure functions over text, English and Japanese: folding, sentences, search terms, numbers, names."""
