"""Edits that rules offer: flags of engines, labels of pod templates, names of ports."""

from __future__ import annotations

from collections.abc import Iterable

from llmdctl.engines.command import Option
from llmdctl.findings import Edit, MapKey, Op, Place
from llmdctl.manifest.typed import surely_meant
from llmdctl.view import EngineCommand, PodTemplate
from llmdctl.view.node import Node


def flag_renamed(engine: EngineCommand, option: Option, name: str) -> tuple[Edit, ...]:
    """`--wrong` or `--wrong=value` as `--name`, where the argument stands by itself."""
    place = engine.place_at(option)
    text = _at(engine.container.node, place).text()
    if text != option.written and not text.startswith(f"{option.written}="):
        return ()
    return (Edit(Op.REPLACE, place, f"--{name}{text.removeprefix(option.written)}", text),)


def part_replaced(node: Node, place: Place, old: str, new: str) -> tuple[Edit, ...]:
    """One part of the text at a place of the node's document by another, where it stands there once."""
    text = _at(node, place).text()
    return (Edit(Op.REPLACE, place, text.replace(old, new), text),) if text.count(old) == 1 else ()


def flag_added(engine: EngineCommand, text: str) -> tuple[Edit, ...]:
    """One more argument at the end of the engine's command line."""
    place = engine.end
    return (Edit(Op.ADD, place, text),) if place else ()


def label_set(template: PodTemplate, key: str, value: str) -> tuple[Edit, ...]:
    """A label of the pod template; none when the workload's selector names the label, which can't be changed."""
    if key in template.workload.selector:
        return ()
    labels = template.node.at("metadata", "labels")
    place = template.at("metadata", "labels", MapKey(key))
    if labels.key(key).exists:
        return (Edit(Op.REPLACE, place, value),)
    return (Edit(Op.ADD, place, value),) if isinstance(labels.value, dict) else ()


def name_corrected(place: Place, name: str, known: Iterable[str]) -> tuple[Edit, ...]:
    """A name that can only mean one of the known ones."""
    meant = surely_meant(name, known)
    return (Edit(Op.REPLACE, place, meant, name),) if meant else ()


def number_replaced(place: Place, number: int, by: int) -> tuple[Edit, ...]:
    """One number by another."""
    return (Edit(Op.REPLACE, place, by, str(number)),)


def _at(node: Node, place: Place) -> Node:
    """The value at a place of the node's document."""
    return Node(node.document, node.document.object).at(*place.path)
