"""Outside services, each behind a port; each vendor's package is imported in exactly one file."""
