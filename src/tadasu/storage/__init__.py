"""The state database: schema, migrations and repositories behind the ports."""
