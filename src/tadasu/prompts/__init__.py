"""Prompts as versioned files, read through a registry."""
