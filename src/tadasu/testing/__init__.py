"""Doubles and conformance suites, shipped for third parties and used by our own tests."""
