"""Roles and their bindings.

Source of the facts: k8s.io/kubernetes pkg/apis/rbac/validation/validation.go.
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, is_missing, objects, struct, text
from llmdctl.validate.admission.metadata import check_selector
from llmdctl.validate.admission.names import dns_subdomain, path_segment
from llmdctl.validate.admission.violation import Out

CODE = "ADM017"

_GROUP = "rbac.authorization.k8s.io"


def check_role(obj: Object, out: Out) -> None:
    """A Role."""
    _check_rules(obj, out, namespaced=True)


def check_cluster_role(obj: Object, out: Out) -> None:
    """A ClusterRole, which may also speak of paths that are no resources."""
    _check_rules(obj, out, namespaced=False)
    aggregation = child(obj, "aggregationRule")
    if aggregation is None:
        return
    if is_missing(aggregation, "clusterRoleSelectors"):
        detail = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        out.required(("aggregationRule", "clusterRoleSelectors"), CODE, detail)
    for index, selector in objects(aggregation, "clusterRoleSelectors"):
        check_selector(selector, ("aggregationRule", "clusterRoleSelectors", index), out)


def _check_rules(obj: Object, out: Out, *, namespaced: bool) -> None:
    for index, rule in objects(obj, "rules"):
        at: Path = ("rules", index)
        if is_missing(rule, "verbs"):
            out.required((*at, "verbs"), CODE, "verbs must contain at least one value")
        if not is_missing(rule, "nonResourceURLs"):
            _check_url_rule(rule, at, out, namespaced=namespaced)
            continue
        if is_missing(rule, "apiGroups"):
            out.required((*at, "apiGroups"), CODE, "resource rules must supply at least one api group")
        if is_missing(rule, "resources"):
            out.required((*at, "resources"), CODE, "resource rules must supply at least one resource")


def _check_url_rule(rule: Object, path: Path, out: Out, *, namespaced: bool) -> None:
    at = (*path, "nonResourceURLs")
    if namespaced:
        out.invalid(at, CODE, rule["nonResourceURLs"], "namespaced rules cannot apply to non-resource URLs")
    if any(not is_missing(rule, key) for key in ("apiGroups", "resources", "resourceNames")):
        detail = "rules cannot apply to both regular resources and non-resource URLs"
        out.invalid(at, CODE, rule["nonResourceURLs"], detail)


def check_role_binding(obj: Object, out: Out) -> None:
    """A RoleBinding."""
    _check_binding(obj, ("ClusterRole", "Role"), out, namespaced=True)


def check_cluster_role_binding(obj: Object, out: Out) -> None:
    """A ClusterRoleBinding."""
    _check_binding(obj, ("ClusterRole",), out, namespaced=False)


def _check_binding(obj: Object, kinds: tuple[str, ...], out: Out, *, namespaced: bool) -> None:
    ref = struct(obj, "roleRef")
    if ref is not None:
        group, kind, name = text(ref, "apiGroup"), text(ref, "kind"), text(ref, "name")
        if group and group != _GROUP:
            out.unsupported(("roleRef", "apiGroup"), CODE, group, (_GROUP,))
        if kind is not None and kind not in kinds:
            out.unsupported(("roleRef", "kind"), CODE, kind, kinds)
        if name == "":
            out.required(("roleRef", "name"), CODE)
        elif name is not None:
            out.each_invalid(("roleRef", "name"), CODE, name, path_segment(name))
    for index, subject in objects(obj, "subjects"):
        _check_subject(subject, ("subjects", index), out, namespaced=namespaced)


def _check_subject(subject: Object, path: Path, out: Out, *, namespaced: bool) -> None:
    name, kind, group = text(subject, "name"), text(subject, "kind"), text(subject, "apiGroup")
    if name == "":
        out.required((*path, "name"), CODE)
    if kind == "ServiceAccount":
        if name:
            out.each_invalid((*path, "name"), CODE, name, dns_subdomain(name))
        if group:
            out.unsupported((*path, "apiGroup"), CODE, group, ("",))
        if not namespaced and text(subject, "namespace") == "":
            out.required((*path, "namespace"), CODE)
    elif kind in ("User", "Group"):
        if group and group != _GROUP:
            out.unsupported((*path, "apiGroup"), CODE, group, (_GROUP,))
    elif kind is not None:
        out.unsupported((*path, "kind"), CODE, kind, ("Group", "ServiceAccount", "User"))
