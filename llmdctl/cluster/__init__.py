"""The client seam: apply, membership, wait, revisions. Knows no guide."""

from llmdctl.cluster.client import Access, Reader, Refused, connect
from llmdctl.cluster.inventory import PREFIX, Inventory, kinds_read, merge, read_definitions, read_inventory

__all__ = [
    "PREFIX",
    "Access",
    "Inventory",
    "Reader",
    "Refused",
    "connect",
    "kinds_read",
    "merge",
    "read_definitions",
    "read_inventory",
]
