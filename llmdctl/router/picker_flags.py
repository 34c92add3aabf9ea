"""The endpoint picker's flags by version (llm-d-router pkg/epp/server/options.go) and the rights that it needs."""

from __future__ import annotations

from llmdctl.findings.versions import Version

_ALWAYS = frozenset(
    {
        "grpc-port", "grpc-health-port", "metrics-port", "pool-name", "pool-namespace", "pool-group",
        "endpoint-selector",
        "endpoint-target-ports", "config-file", "config-text", "ha-enable-leader-election", "drain-timeout",
        "grpc-max-recv-msg-size", "grpc-max-send-msg-size", "disable-endpoint-subset-filter", "emit-endpoint-scores",
        "refresh-metrics-interval", "refresh-prometheus-metrics-interval", "metrics-staleness-threshold", "tracing",
        "health-checking", "enable-pprof", "secure-serving", "cert-path", "enable-cert-reload", "tls-min-version",
        "tls-cipher-suites", "metrics-endpoint-auth", "metrics-cert-dir", "metrics-client-ca-file",
        "enable-grpc-stream-metrics", "v", "zap-devel", "zap-encoder", "zap-log-level", "zap-stacktrace-level",
        "zap-time-encoding", "kubeconfig", "model-server-metrics-port", "model-server-metrics-path",
        "model-server-metrics-scheme", "model-server-metrics-https-insecure-skip-verify", "help",
        "allow-experimental-plugins",
    }
)  # fmt: skip
_NEW = frozenset(
    {
        "ha-lease-name", "ha-lease-duration", "ha-renew-deadline", "ha-retry-period",
        "plugin-state-staleness-threshold",
        "fairness-id-metric-label-limit", "feature-gates",
    }
)  # fmt: skip
FATAL = frozenset(
    {
        "total-queued-requests-metric", "total-running-requests-metric", "kv-cache-usage-percentage-metric",
        "lora-info-metric", "cache-info-metric",
    }
)  # fmt: skip
"""Flags that are still parsed and then refused: core-metrics-extractor took their place."""
_NEW_SINCE = (0, 11)
_OLDEST_KNOWN = (0, 9)


def unknown_flag(name: str, version: Version) -> str:
    """Why a picker of this version does not take a flag, "" when it does, or when the version is older than we know."""
    if not version.at_least(*_OLDEST_KNOWN) or name in _ALWAYS:
        return ""
    if name in FATAL:
        return "is refused: metrics are configured in core-metrics-extractor"
    if name in _NEW:
        return "" if version.at_least(*_NEW_SINCE) else f"needs router {_NEW_SINCE[0]}.{_NEW_SINCE[1]} or newer"
    return "is not known"


def known_flags() -> frozenset[str]:
    """Every flag of any version."""
    return _ALWAYS | _NEW


RIGHTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("", "pods", ("get", "list", "watch")),
    ("inference.networking.k8s.io", "inferencepools", ("get", "list", "watch")),
)
"""API group, resource and verbs that a picker with a pool needs in the pool's namespace."""
LEASES = ("coordination.k8s.io", "leases", ("get", "create", "update"))
"""What leader election needs besides."""
