"""The one scheduler of every outside call: limits, order, retries, circuit breakers (DESIGN §3.4)."""
