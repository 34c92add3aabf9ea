"""llmdctl: distributed LLM inference the llm-d way, rendered, validated, installed and diagnosed.

Data flows one way through the packages: spec -> plan -> objects -> findings -> cluster. docs/architecture.md
says what each package is for and which may import which.
"""
