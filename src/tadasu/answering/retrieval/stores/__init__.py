"""Engines behind the Store port."""
