"""The published JSON Schema of the stack file."""

from __future__ import annotations

from typing import Any

from llmdctl.manifest.typed import json_schema
from llmdctl.spec.model import InferenceStack

STACK_SCHEMA_ID = "https://llmdctl.io/schemas/inferencestack-v1alpha1.json"


def stack_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of an InferenceStack: it accepts what `load_stack` accepts."""
    return json_schema(InferenceStack, identifier=STACK_SCHEMA_ID, title="InferenceStack (llmdctl.io/v1alpha1)")
