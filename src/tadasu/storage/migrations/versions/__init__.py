"""One module per step, each with the step that it follows."""
