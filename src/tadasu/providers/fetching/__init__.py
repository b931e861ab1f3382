"""Pages of the web, fetched as if each were an attack (DESIGN §3.3)."""
