"""Model memory, KV cache capacity and cost."""
