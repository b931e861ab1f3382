"""From evidence to a checked, cited answer or an abstention."""
