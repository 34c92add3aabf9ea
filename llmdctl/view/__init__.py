"""Objects as workloads, roles, engine commands, pools and router configs. Rules read this, never raw dictionaries."""

from llmdctl.view.container import Container, Port, Probe
from llmdctl.view.devices import Accelerators, DeviceClaim, DeviceRequest, Devices, PodClaim
from llmdctl.view.engine import EngineCommand
from llmdctl.view.epp import Epp
from llmdctl.view.extent import Extent
from llmdctl.view.labels import Labels, Match
from llmdctl.view.networking import Monitor, Service
from llmdctl.view.peers import Group, Pair
from llmdctl.view.pod import PodTemplate
from llmdctl.view.pool import Pool, TargetPort
from llmdctl.view.ports import PortRange
from llmdctl.view.sidecar import Sidecar
from llmdctl.view.transfer import Connector, KvTransfer
from llmdctl.view.versions import VersionOptions, parse_version_options
from llmdctl.view.view import View
from llmdctl.view.workload import Workload

__all__ = [
    "Accelerators",
    "Connector",
    "Container",
    "DeviceClaim",
    "DeviceRequest",
    "Devices",
    "EngineCommand",
    "Epp",
    "Extent",
    "Group",
    "KvTransfer",
    "Labels",
    "Match",
    "Monitor",
    "Pair",
    "PodClaim",
    "PodTemplate",
    "Pool",
    "Port",
    "PortRange",
    "Probe",
    "Service",
    "Sidecar",
    "TargetPort",
    "VersionOptions",
    "View",
    "Workload",
    "parse_version_options",
]
