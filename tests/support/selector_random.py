"""Random selectors of devices, right and wrong ones."""

from __future__ import annotations

import random

from cel_wide import damaged

_ATTRIBUTES = (
    "device.attributes['gpu.nvidia.com']", 'device.attributes["dra.net"]', "device.attributes[device.driver]",
    "device.attributes", "device.attributes['resource.kubernetes.io']",
)  # fmt: skip
_FORMS = (
    "device.driver == 'gpu.nvidia.com'", "device.driver in ['a', 'b']", "device.driver.startsWith('gpu')",
    "device.driver == 1", "device.driver", "device.name == 'a'", "device", "has(device.driver)",
    "devices.driver == 'a'",
    "{a}.productName == 'H100'", "{a}.productName.lowerAscii().matches('^h[12]00$')", "{a}.index == 3",
    "{a}.driverVersion.isGreaterThan(semver('570.0.0'))", "{a}.driverVersion.compareTo(semver('1.2.3')) >= 0",
    "{a}.rdma", "!{a}.rdma", "has({a}.rdma)", "'rdma' in {a}", "'gpu.nvidia.com' in device.attributes",
    "{a}['rdma']", "{a}[?'rdma'].orValue(false)", "{a}.?rdma.orValue(false)", "{a}.numa + 1 > 2", "{a}.x == {a}.y",
    "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0",
    "device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('80Gi'))",
    "device.capacity['gpu.nvidia.com'].memory == quantity('80Gi')", "device.capacity['a'].memory > 80",
    "device.capacity['a'].memory.asInteger() > 80", "device.capacity['a']['memory'] == '80Gi'",
    "quantity('80Gi').isLessThan(device.capacity['a'].memory)", "device.capacity.memory == quantity('1')",
    "cel.bind(d, {a}, d.rdma && d.numa == 0)", "cel.bind(d, device.attributes['a'], d.x == 'a')",
    "device.allowMultipleAllocations == true", "device.allowMultipleAllocations", "device.bindsToNode",
    "{a}.exists(k, k == 'rdma')", "{a}.all(k, v, v != null)", "device.attributes.exists(d, d == 'dra.net')",
    "device.attributes.size() > 1", "{a}.family in ['H100', 'H200']", "{a}.driverVersion == semver('1.2.3')",
    "{a}.productName == 'A' ? true : {a}.rdma", "{a}.rdma ? 1 : 'a'", "true", "1", "'a' + 1 == 2",
    "[1, 'a'].size() == 2",
)  # fmt: skip


def selector(chance: random.Random) -> str:
    """A random selector; about a quarter of them are such as the server takes."""
    text = chance.choice(_FORMS)
    while "{a}" in text:
        text = text.replace("{a}", chance.choice(_ATTRIBUTES), 1)
    draw = chance.random()
    if draw < 0.3:
        return f"{text} {chance.choice(('&&', '||', '=='))} {selector(chance)}"
    return damaged(chance, text) if draw < 0.45 else text
