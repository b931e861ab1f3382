"""How work is scheduled: clock, ids, chance, budgets. Knows nothing of documents."""
