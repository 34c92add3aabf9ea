"""`llmdctl validate --from-cluster`, with the real client against a loopback server that gives recorded answers.

None of these tests met a real API server: their names say `_simulated`. test_from_real_cluster.py has those that did.
"""

from __future__ import annotations

import copy
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_answers import Answers, serving, write_kubeconfig
from cli_run import Cli, Result, run_cli

from llmdctl.cluster import kinds_read, merge
from llmdctl.manifest import read_text
from llmdctl.validate.registry import EXAMPLES

BAD = yaml.safe_load((EXAMPLES / "PRT004" / "bad.yaml").read_text(encoding="utf-8"))
GOOD = yaml.safe_load((EXAMPLES / "PRT004" / "good.yaml").read_text(encoding="utf-8"))


def stored(obj: dict[str, Any], name: str = "", namespace: str = "llm-d", **metadata: Any) -> dict[str, Any]:
    """The object as a server would return it, with what servers write into it."""
    obj = copy.deepcopy(obj)
    obj["metadata"] = {
        **obj["metadata"],
        "name": name or obj["metadata"]["name"],
        "namespace": namespace,
        "uid": "1-2-3",
        "resourceVersion": "77",
        "creationTimestamp": "2026-12-01T00:00:00Z",
        "managedFields": [{"manager": "kubectl"}],
        **metadata,
    }
    obj["status"] = {"replicas": 1}
    return obj


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[Answers]:
    """A server on loopback and, in the working folder, the kubeconfig `kubeconfig`."""
    made = Answers()
    with serving(made, tmp_path / "kubeconfig"):
        yield made


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Runs `llmdctl validate --from-cluster` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("KUBECONFIG", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)

    def run(*args: str) -> Result:
        return run_cli(capsys, monkeypatch, "validate", "--from-cluster", "--kubeconfig", "kubeconfig", *args)

    return run


def report(result: Result) -> Any:
    """The report of a run with `-o json`."""
    return json.loads(result.out)


def test_a_namespace_is_read_and_checked_simulated(cli: Cli, answers: Answers) -> None:
    answers.objects = [stored(BAD), stored(BAD, "elsewhere", "other")]
    result = cli()
    assert result.code == 1
    assert result.out.startswith("error PRT004 Deployment/decode")
    assert "\n  cluster:llm-d  spec.template.spec" in result.out
    data = report(cli("-o", "json"))
    assert data["target"] == {"kubeVersion": "1.35", "release": "1.0", "complete": True}
    assert data["coverage"]["objects"] == {"total": 1, "validated": 1, "skipped": 0}
    assert data["findings"][0]["source"] == {
        "file": "cluster:llm-d", "line": 0, "column": 0, "document": 0, "template": "",
    }  # fmt: skip


def test_only_get_and_never_secrets_simulated(cli: Cli, answers: Answers) -> None:
    answers.objects = [stored(GOOD)]
    assert cli("--as", "bob").code == 0
    assert answers.requests
    assert {method for method, _, _ in answers.requests} == {"GET"}
    assert not any("secrets" in path for _, path, _ in answers.requests)
    assert not any("widgets" in path for _, path, _ in answers.requests)
    assert all("Secret" not in kinds for kinds in kinds_read().values())
    headers = {key.lower(): value for key, value in answers.requests[-1][2].items()}
    assert headers["authorization"] == "Bearer not-a-secret"
    assert headers["impersonate-user"] == "bob"


def test_what_controllers_made_and_what_is_going_is_left_out_simulated(cli: Cli, answers: Answers) -> None:
    owner = [{"kind": "DisaggregatedSet", "name": "x", "controller": True}]
    answers.objects = [
        stored(GOOD),
        stored(BAD, "made", ownerReferences=owner),
        stored(BAD, "going", deletionTimestamp="2026-12-01T00:00:00Z"),
        stored({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"}}),
    ]
    assert report(cli("-o", "json"))["coverage"]["objects"]["total"] == 1


def test_what_pods_name_exists_whoever_made_it_simulated(cli: Cli, answers: Answers) -> None:
    owner = [{"kind": "Operator", "name": "x", "controller": True}]
    pods = copy.deepcopy(GOOD)
    pods["spec"]["template"]["spec"]["volumes"] = [{"name": "c", "configMap": {"name": "settings"}}]
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    answers.objects = [stored(pods), stored(settings, "settings", ownerReferences=owner)]
    assert "LBL011" not in cli().out
    answers.objects = [stored(pods)]
    assert "LBL011" in cli().out


def test_namespaces_are_chosen_as_with_kubectl_simulated(cli: Cli, answers: Answers) -> None:
    answers.objects = [stored(GOOD), stored(BAD, "elsewhere", "other")]
    assert cli("-n", "other").code == 1
    everywhere = cli("-A")
    assert everywhere.code == 1
    assert "  cluster:other  " in everywhere.out
    nowhere = cli("-n", "empty")
    assert (nowhere.code, "namespace empty holds no object that is checked" in nowhere.err) == (2, True)


@pytest.mark.parametrize("expire", [False, True])
def test_long_lists_are_read_page_by_page_simulated(cli: Cli, answers: Answers, expire: bool) -> None:
    answers.page, answers.expire = 2, expire
    answers.objects = [
        stored({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{number}"}}) for number in range(7)
    ]
    assert report(cli("-o", "json"))["coverage"]["objects"]["total"] == 7


def test_local_objects_win_and_the_rest_of_the_namespace_is_there_simulated(
    cli: Cli, answers: Answers, tmp_path: Path
) -> None:
    answers.objects = [stored(BAD)]
    mended = copy.deepcopy(GOOD)
    mended["metadata"].pop("namespace", None)
    (tmp_path / "mended.yaml").write_text(yaml.safe_dump(mended))
    result = cli("mended.yaml", "-o", "json")
    assert result.code == 0
    assert report(result)["coverage"]["objects"]["total"] == 1


def test_cluster_scoped_kinds_get_no_namespace_simulated(cli: Cli, answers: Answers, tmp_path: Path) -> None:
    answers.objects = [stored(GOOD)]
    (tmp_path / "class.yaml").write_text(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: x}\n"
        "spec: {controllerName: example.com/y}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: z}\n"
    )
    result = cli("class.yaml")
    assert (result.code, result.out.count("\n")) == (0, 1)


def test_only_what_concerns_a_local_object_counts_simulated(cli: Cli, answers: Answers, tmp_path: Path) -> None:
    old = json.loads(json.dumps(BAD).replace('"demo"', '"old"'))
    answers.objects = [stored(old, "old")]
    (tmp_path / "new.yaml").write_text(yaml.safe_dump(GOOD))
    before = cli("new.yaml", "-v")
    assert before.code == 0
    assert "suppressed PRT004 Deployment/old" in before.out
    assert "[cluster: concerns only objects that are in the cluster already]" in before.out
    assert cli("new.yaml", "--cluster-findings").code == 1
    (tmp_path / "new.yaml").write_text(yaml.safe_dump(BAD))
    after = report(cli("new.yaml", "-o", "json"))
    assert {item["object"]["name"] for item in after["findings"]} == {"decode"}
    assert after["findings"][0]["source"]["file"] == "new.yaml"
    assert after["findings"][0]["source"]["line"] > 1


def test_what_may_not_be_read_is_told_and_is_no_pass_simulated(cli: Cli, answers: Answers) -> None:
    answers.objects = [stored(GOOD)]
    answers.refuse = {"configmaps": 403}
    result = cli()
    assert result.code == 0
    assert "skipped cluster:llm-d/configmaps: not read: configmaps is forbidden" in result.out
    assert cli("--fail-on-skipped").code == 1
    assert report(cli("-o", "json"))["target"]["complete"] is False


@pytest.mark.parametrize(("status", "what"), [(403, "nothing can be read from namespace llm-d"), (401, "who asks")])
def test_a_cluster_that_refuses_is_exit_code_3_simulated(cli: Cli, answers: Answers, status: int, what: str) -> None:
    answers.refuse = {"*": status}
    result = cli()
    assert (result.code, result.out) == (3, "")
    assert what in result.err
    assert "forbidden" in result.err


@pytest.mark.parametrize("raw", [b"", b"<html>", b"[]", b'{"groups": 3, "items": 1}', b"null"])
def test_odd_answers_are_no_traceback_simulated(cli: Cli, answers: Answers, raw: bytes) -> None:
    answers.raw = raw
    assert cli().code in (2, 3)


def test_lists_of_odd_items_are_no_traceback_simulated(cli: Cli, answers: Answers) -> None:
    class Odd(Answers):
        def _list(self, _version: str, parts: list[str], _query: dict[str, list[str]]) -> tuple[int, Any]:
            bodies: dict[str, Any] = {
                "pods": [],
                "services": {"items": [1, None, {}, {"metadata": 3}, {"metadata": {"name": 5, "namespace": 6}}]},
                "configmaps": {"metadata": [], "items": {"a": 1}},
                "deployments": {"metadata": {"continue": 7}, "items": [{"metadata": {"ownerReferences": "x"}}]},
            }
            return 200, bodies.get(parts[-1], {"items": None})

    answers.__class__ = Odd
    assert cli().code == 0


def test_an_unreachable_cluster_is_exit_code_3_simulated(cli: Cli, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    write_kubeconfig(tmp_path / "kubeconfig", f"http://127.0.0.1:{port}", "llm-d")
    result = cli("--request-timeout", "2")
    assert result.code == 3
    assert f"the cluster at http://127.0.0.1:{port} can't be reached" in result.err


@pytest.mark.usefixtures("answers")
def test_an_unknown_context_is_a_mistake_with_a_suggestion_simulated(cli: Cli) -> None:
    result = cli("--context", "tset")
    assert (result.code, "did you mean test?" in result.err) == (2, True)


@pytest.mark.parametrize("text", [None, "", "{", "a: 1", "[]", "contexts: 3"])
def test_a_kubeconfig_that_is_none_is_a_mistake_simulated(cli: Cli, tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "kubeconfig").write_text(text)
    result = cli()
    assert result.code == 2
    assert "kubeconfig" in result.err


@pytest.mark.parametrize(("minor", "used"), [("34", "1.34"), ("99", "1.37"), ("20", "1.33"), ("x", "1.37")])
def test_the_minor_of_the_server_is_used_or_the_nearest_with_a_notice_simulated(
    cli: Cli, answers: Answers, minor: str, used: str
) -> None:
    answers.minor = minor
    answers.objects = [stored(GOOD)]
    result = cli("-o", "json")
    assert report(result)["target"]["kubeVersion"] == used
    assert ("notice" in result.err) is (minor != "34")
    assert report(cli("--kube-version", "1.36", "-o", "json"))["target"]["kubeVersion"] == "1.36"


def test_options_of_a_cluster_need_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run_cli(capsys, monkeypatch, "validate", "x.yaml", "--context", "y")
    assert (result.code, "add --from-cluster" in result.err) == (2, True)


def test_merging_is_by_group_kind_namespace_and_name() -> None:
    local = read_text(
        "{apiVersion: v1, kind: Service, metadata: {name: a}}\n---\n"
        "{apiVersion: v1, kind: Namespace, metadata: {name: llm-d}}\n---\n"
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: other}}\n",
        "f",
    ).documents
    cluster = read_text(
        "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: llm-d}}\n---\n"
        "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: other}}\n---\n"
        "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: a, namespace: other}}\n",
        "cluster:llm-d",
    ).documents
    merged = merge(local, cluster, "llm-d", lambda ref: ref.kind != "Namespace")
    assert [(item.ref.kind, item.ref.namespace, item.source.file) for item in merged] == [
        ("Service", "llm-d", "f"),
        ("Namespace", "", "f"),
        ("Deployment", "other", "f"),
        ("Service", "other", "cluster:llm-d"),
    ]
