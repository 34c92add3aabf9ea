"""What a ServiceAccount may do: Roles and bindings of the input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llmdctl.manifest.document import Document
from llmdctl.view.node import Node

Grant = tuple[frozenset[str], frozenset[str], frozenset[str]]
"""API groups, resources and verbs of a rule."""


def grants(bindings: Sequence[Document], roles: Sequence[Document], account: str, namespace: str) -> Iterator[Grant]:
    """The rules that bindings of the input give to a ServiceAccount; those of roles outside the input give nothing."""
    for binding in bindings:
        root = Node(binding, binding.object)
        if not any(_is(subject, account, namespace, binding) for subject in root.at("subjects").items()):
            continue
        kind, name = root.at("roleRef", "kind").text(), root.at("roleRef", "name").text()
        for role in roles:
            if role.ref.kind == kind and role.ref.name == name:
                for rule in Node(role, role.object).at("rules").items():
                    yield (
                        frozenset(rule.at("apiGroups").strings() or []),
                        frozenset(rule.at("resources").strings() or []),
                        frozenset(rule.at("verbs").strings() or []),
                    )


def refers_outside(bindings: Sequence[Document], roles: Sequence[Document], account: str, namespace: str) -> bool:
    """True when a binding gives the account a role that the input doesn't hold."""
    known = {(role.ref.kind, role.ref.name) for role in roles}
    for binding in bindings:
        root = Node(binding, binding.object)
        role = root.at("roleRef", "kind").text(), root.at("roleRef", "name").text()
        if role not in known and any(_is(item, account, namespace, binding) for item in root.at("subjects").items()):
            return True
    return False


def _is(subject: Node, account: str, namespace: str, binding: Document) -> bool:
    where = subject.at("namespace").text() or binding.ref.namespace
    return (
        subject.at("kind").text() == "ServiceAccount"
        and subject.at("name").text() == account
        and (not namespace or not where or where == namespace)
    )
