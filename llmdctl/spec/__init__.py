"""InferenceStack: the typed model, strict loading, `--set`, and its JSON Schema."""
