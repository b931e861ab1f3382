"""What makes the models that Tadasu ships. Not part of the wheel."""
