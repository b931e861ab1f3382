"""Values that every floor speaks in: frozen, without behaviour that reaches outside."""
