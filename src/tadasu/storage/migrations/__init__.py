"""How the state database came to its present form: an Alembic environment, run when the database is opened."""
