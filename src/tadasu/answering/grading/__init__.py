"""Graders: calibrated probabilities of relevance for passages and strips."""
