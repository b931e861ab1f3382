"""Heads of the second tier: does a source support a sentence, and where does an answer stand."""
