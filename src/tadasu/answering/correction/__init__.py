"""Verdicts, and what to do about them: search again, search the web, stop."""
