"""How work is seen from outside: spans, counters, log lines. It knows nothing of documents, questions or answers."""
