"""What a ServiceAccount may do: Roles and bindings of the input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from llmdctl.manifest.document import Document
from llmdctl.view.names import ByName
from llmdctl.view.node import Node

Grant = tuple[frozenset[str], frozenset[str], frozenset[str]]
"""API groups, resources and verbs of a rule."""

_BINDINGS = ("RoleBinding", "ClusterRoleBinding")


class Input(Protocol):
    """What is needed of the view."""

    def of_kind(self, kind: str) -> list[Document]:
        """The documents of a kind."""

    def by_name(self, kind: str) -> ByName[Document]:
        """The documents of a kind by name."""


class Rights:
    """Who may do what by the bindings of an input."""

    def __init__(self, view: Input) -> None:
        self._view = view
        self._bound = ByName(
            (item.at("namespace").text() or document.ref.namespace, item.at("name").text(), document)
            for kind in _BINDINGS
            for document in view.of_kind(kind)
            for item in Node(document, document.object).at("subjects").items()
            if item.at("kind").text() == "ServiceAccount"
        )
        self.is_stated = any(map(view.of_kind, _BINDINGS)) and any(map(view.of_kind, ("Role", "ClusterRole")))
        """True when the input holds both bindings and roles."""

    def grants(self, account: str, namespace: str) -> Iterator[Grant]:
        """The rules that bindings of the input give to a ServiceAccount; roles outside the input give nothing."""
        for roles in self._roles(account, namespace):
            for role in roles:
                for rule in Node(role, role.object).at("rules").items():
                    yield (
                        frozenset(rule.at("apiGroups").strings() or []),
                        frozenset(rule.at("resources").strings() or []),
                        frozenset(rule.at("verbs").strings() or []),
                    )

    def refers_outside(self, account: str, namespace: str) -> bool:
        """True when a binding gives the account a role that the input doesn't hold."""
        return not all(self._roles(account, namespace))

    def _roles(self, account: str, namespace: str) -> Iterator[list[Document]]:
        """The roles of each binding of the account."""
        seen = set()
        for binding in self._bound.named(account, namespace):
            if id(binding) in seen:
                continue
            seen.add(id(binding))
            reference = Node(binding, binding.object).at("roleRef")
            kind = reference.at("kind").text()
            # A ClusterRole has no namespace, whatever a manifest writes.
            where = binding.ref.namespace if kind == "Role" else ""
            yield self._view.by_name(kind).named(reference.at("name").text(), where)
