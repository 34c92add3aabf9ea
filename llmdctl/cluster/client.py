"""The narrow interface to an API server, and its implementation with the `kubernetes` package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode

from llmdctl.findings import ClusterError, UserError
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.typed import nearest

_IN_CLUSTER_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


@frozen
class Access:
    """Which cluster, as whom: kubectl's flags of the same names. Empty means what the kubeconfig says.

    `timeout` bounds one request, in seconds.
    """

    kubeconfig: str = ""
    context: str = ""
    as_user: str = ""
    timeout: float = 30.0


class Refused(Exception):
    """An API server's answer that is no success: its HTTP status and its own words."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Reader(Protocol):
    """Reads from an API server. `namespace` is the one that the context names, `host` its address."""

    namespace: str
    host: str

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """The JSON at a path. Raises Refused, and ClusterError when there is no answer."""
        ...


def connect(access: Access) -> Reader:
    """A reader for the cluster that the kubeconfig names, or for the one that this process runs in.

    Raises UserError for a kubeconfig or a context that can't be used. Nothing is sent yet.
    """
    import yaml
    from kubernetes import client, config

    configuration = client.Configuration()
    path = access.kubeconfig or None
    try:
        namespace = _load(config, configuration, path, access.context)
    except UserError:
        raise
    except (config.ConfigException, yaml.YAMLError, OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(
            "the kubeconfig can't be used",
            why=str(error).splitlines()[0] if str(error) else type(error).__name__,
            fix="name one with --kubeconfig, and try `kubectl config view`",
        ) from error
    return _KubernetesReader(configuration, namespace, access)


def _load(config: Any, configuration: Any, path: str | None, context: str) -> str:
    try:
        contexts, active = config.list_kube_config_contexts(path)
    except config.ConfigException:
        if path or context or not _IN_CLUSTER_NAMESPACE.is_file():
            raise
        config.load_incluster_config(client_configuration=configuration)
        return _IN_CLUSTER_NAMESPACE.read_text(encoding="utf-8").strip()
    names = [item["name"] for item in contexts]
    if context and context not in names:
        close = nearest(context, names)
        fix = f"did you mean {close}?" if close else f"known: {', '.join(names)}"
        raise UserError(f"the kubeconfig has no context {context!r}", fix=fix)
    chosen = next(item for item in contexts if item["name"] == context) if context else active
    config.load_kube_config(path, context=context or None, client_configuration=configuration)
    return str((chosen.get("context") or {}).get("namespace") or "default")


class _KubernetesReader:
    def __init__(self, configuration: Any, namespace: str, access: Access) -> None:
        from kubernetes.client import rest

        self.namespace = namespace
        self.host = str(configuration.host).rstrip("/")
        self._configuration = configuration
        self._access = access
        self._pool: Any = rest.RESTClientObject(configuration).pool_manager

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        import urllib3

        url = f"{self.host}{path}" + (f"?{urlencode(query)}" if query else "")
        timeout = urllib3.Timeout(total=self._access.timeout)
        try:
            answer = self._pool.request(
                "GET", url, headers=self._headers(), timeout=timeout, retries=False, redirect=False
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ClusterError(
                f"the cluster at {self.host} can't be reached",
                why=str(error),
                fix="check the context (`kubectl config current-context`), the network, and --request-timeout",
            ) from error
        return self._checked(answer.status, answer.data)

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": "llmdctl"}
        for setting in self._configuration.auth_settings().values():
            if setting["in"] == "header" and setting["value"]:
                headers[setting["key"]] = setting["value"]
        if self._access.as_user:
            headers["Impersonate-User"] = self._access.as_user
        return headers

    def _checked(self, status: int, data: bytes) -> Any:
        try:
            value = json.loads(data)
        except ValueError:
            value = None
        if status == 200 and value is not None:
            return value
        message = value.get("message") if isinstance(value, dict) else None
        message = str(message or f"HTTP {status} and nothing that is JSON")
        if status == 401:
            raise ClusterError(
                f"the cluster at {self.host} does not know who asks",
                why=message,
                fix="log in again; try `kubectl auth whoami`",
            )
        raise Refused(status, message)
