"""What a real API server refuses although no schema says so: its Go validation, and the webhooks of llm-d's kinds."""

from llmdctl.validate.admission.dispatch import admission_findings, check_admission
from llmdctl.validate.admission.rules import ADM_RULES
from llmdctl.validate.admission.violation import Violation

__all__ = ["ADM_RULES", "Violation", "admission_findings", "check_admission"]
