"""From passages to evidence: strips scored, chosen, packed."""
