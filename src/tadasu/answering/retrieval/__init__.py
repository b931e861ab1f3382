"""Hybrid search over a store: dense and keyword rankings, fused."""
