"""Rules over the view, one module a family: each rule is a function and its page."""

from llmdctl.validate.rules.claims import DRA_RULES
from llmdctl.validate.rules.engine_flags import ENG_RULES
from llmdctl.validate.rules.handover import HANDOVER_RULES
from llmdctl.validate.rules.host import RES_RULES
from llmdctl.validate.rules.hygiene import HYGIENE_RULES
from llmdctl.validate.rules.images import IMG_RULES
from llmdctl.validate.rules.labels import LBL_RULES
from llmdctl.validate.rules.parallel import PAR_RULES
from llmdctl.validate.rules.pickers import PICKER_RULES
from llmdctl.validate.rules.ports import PRT_RULES
from llmdctl.validate.rules.prefix import PFX_RULES
from llmdctl.validate.rules.references import REFERENCE_RULES
from llmdctl.validate.rules.router_config import RTR_CONFIG_RULES
from llmdctl.validate.rules.scaling import SCL_RULES
from llmdctl.validate.rules.start_flags import START_FLAG_RULES
from llmdctl.validate.rules.start_ranks import START_RANK_RULES
from llmdctl.validate.rules.start_transfer import START_TRANSFER_RULES
from llmdctl.validate.rules.transfer import KVT_RULES

VIEW_RULES = [
    *LBL_RULES,
    *PRT_RULES,
    *KVT_RULES,
    *ENG_RULES,
    *START_FLAG_RULES,
    *START_RANK_RULES,
    *START_TRANSFER_RULES,
    *IMG_RULES,
    *RTR_CONFIG_RULES,
    *PAR_RULES,
    *DRA_RULES,
    *HANDOVER_RULES,
    *PFX_RULES,
    *RES_RULES,
    *SCL_RULES,
    *HYGIENE_RULES,
    *PICKER_RULES,
    *REFERENCE_RULES,
]

__all__ = ["VIEW_RULES"]
