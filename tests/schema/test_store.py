"""The store: which kinds and versions are known, served, namespaced."""

from __future__ import annotations

from typing import Any

import pytest

from llmdctl.schema import SUPPORTED_MINORS, KindSchema, SchemaStore, Unserved


def crd(schema: dict[str, Any], *, kind: str = "Widget", served: bool = True) -> dict[str, Any]:
    """A CustomResourceDefinition with one version v1 of that schema, and an unserved v1alpha1."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": kind, "plural": "widgets"},
            "scope": "Namespaced",
            "versions": [
                {"name": "v1", "served": served, "storage": True, "schema": {"openAPIV3Schema": schema}},
                {"name": "v1alpha1", "served": False, "storage": False, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    }


@pytest.mark.parametrize("minor", SUPPORTED_MINORS)
@pytest.mark.parametrize(
    ("api_version", "kind", "namespaced"),
    [
        ("apps/v1", "Deployment", True),
        ("v1", "Service", True),
        ("v1", "Namespace", False),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", False),
        ("rbac.authorization.k8s.io/v1", "Role", True),
        ("autoscaling/v2", "HorizontalPodAutoscaler", True),
    ],
)
def test_every_minor_has_the_stable_kinds(minor: str, api_version: str, kind: str, namespaced: bool) -> None:
    schema = SchemaStore(minor).lookup(api_version, kind)
    assert isinstance(schema, KindSchema)
    assert schema.namespaced is namespaced
    assert not schema.custom


def test_dra_v1_is_served_from_1_34_on() -> None:
    served = {
        minor: SchemaStore(minor).lookup("resource.k8s.io/v1", "ResourceClaimTemplate") for minor in ("1.33", "1.34")
    }
    assert isinstance(served["1.34"], KindSchema)
    absent = served["1.33"]
    assert isinstance(absent, Unserved)
    assert "1.34 to 1.37" in absent.served_in
    assert "resource.k8s.io/v1beta2" in absent.served_in


def test_a_removed_version_names_its_successor() -> None:
    found = SchemaStore("1.36").lookup("policy/v1beta1", "PodDisruptionBudget")
    assert isinstance(found, Unserved)
    assert "policy/v1" in found.served_in


def test_a_misspelt_kind_of_a_built_in_group_gets_a_suggestion() -> None:
    found = SchemaStore().lookup("apps/v1", "Deploymnet")
    assert isinstance(found, Unserved)
    assert '"Deployment"' in found.served_in


@pytest.mark.parametrize(("api_version", "kind"), [("example.com/v1", "Widget"), ("v1", "PodList"), ("v1", "List")])
def test_kinds_without_a_schema_are_unknown_not_unserved(api_version: str, kind: str) -> None:
    assert SchemaStore().lookup(api_version, kind) is None


def test_an_unknown_minor_is_refused() -> None:
    with pytest.raises(ValueError, match=r"1\.2.*known"):
        SchemaStore("1.2")


def test_added_crds_are_found_and_their_unserved_versions_named() -> None:
    store = SchemaStore()
    assert store.lookup("example.com/v1", "Widget") is None
    store.add_crds([{"kind": "ConfigMap"}, crd({"type": "object"})])
    schema = store.lookup("example.com/v1", "Widget")
    assert isinstance(schema, KindSchema)
    assert schema.custom
    unserved = store.lookup("example.com/v1alpha1", "Widget")
    assert isinstance(unserved, Unserved)
    assert "example.com/v1" in unserved.served_in


def test_an_added_crd_overrides_the_bundled_one() -> None:
    store = SchemaStore()
    own = crd({"type": "object", "properties": {"mine": {"type": "string"}}}, kind="LeaderWorkerSet")
    own["spec"]["group"] = "leaderworkerset.x-k8s.io"
    obj = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "mine": "yes"}
    before = store.lookup(obj["apiVersion"], obj["kind"])
    assert isinstance(before, KindSchema)
    assert [violation.kind for violation in before.check(obj).violations] == ["unknown"]
    store.add_crds([own])
    after = store.lookup(obj["apiVersion"], obj["kind"])
    assert isinstance(after, KindSchema)
    assert after.check(obj).violations == ()


def test_a_later_minor_knows_fields_that_an_earlier_one_does_not() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"hostnameOverride": "h", "containers": [{"name": "c"}]},
    }
    kinds = {}
    for minor in ("1.33", "1.34"):
        schema = SchemaStore(minor).lookup("v1", "Pod")
        assert isinstance(schema, KindSchema)
        kinds[minor] = [violation.kind for violation in schema.check(pod).violations]
    assert kinds == {"1.33": ["unknown"], "1.34": []}


@pytest.mark.parametrize(
    ("api_version", "kind", "spec"),
    [
        (
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"groupIdentity": "Hash", "leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": []}}}},
        ),
        (
            "disaggregatedset.x-k8s.io/v1",
            "DisaggregatedSet",
            {
                "slices": 2,
                "roles": [
                    {
                        "name": name,
                        "spec": {
                            "groupIdentity": "Hash",
                            "leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": []}}},
                        },
                    }
                    for name in ("prefill", "decode")
                ],
            },
        ),
    ],
)
def test_an_older_release_does_not_know_what_its_leader_worker_set_lacks(
    api_version: str, kind: str, spec: dict[str, Any]
) -> None:
    obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    unknown = {}
    for release in ("0.9", "1.0", "1.10"):
        schema = SchemaStore(release=release).lookup(api_version, kind)
        assert isinstance(schema, KindSchema)
        unknown[release] = {str(violation.path[-1]) for violation in schema.check(obj).violations}
    assert unknown == {"0.9": {"groupIdentity"}, "1.0": set(), "1.10": set()}


@pytest.mark.parametrize("release", ["", "1", "v1.0", "latest", "1.0.0"])
def test_a_release_is_two_numbers(release: str) -> None:
    with pytest.raises(ValueError, match="not an llm-d release"):
        SchemaStore(release=release)
