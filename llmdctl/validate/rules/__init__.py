"""Rules over the view, one module a family: each rule is a function and its page."""

from llmdctl.validate.rules.labels import LBL_RULES
from llmdctl.validate.rules.ports import PRT_RULES
from llmdctl.validate.rules.transfer import KVT_RULES

VIEW_RULES = [*LBL_RULES, *PRT_RULES, *KVT_RULES]

__all__ = ["KVT_RULES", "LBL_RULES", "PRT_RULES", "VIEW_RULES"]
