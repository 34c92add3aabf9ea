"""The llm-d router's EndpointPickerConfig by version: model, loading, dumping, plugin registry; sidecar flags."""
