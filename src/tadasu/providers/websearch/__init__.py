"""Web search providers behind the WebSearch port."""
