"""What the YML codes mean. The reader reports them itself, so none has a check."""

from __future__ import annotations

from llmdctl.findings import Rule, Severity

REPEATED_KEY = Rule(
    code="YML001",
    severity=Severity.ERROR,
    title="a mapping names the same key twice",
    why=(
        "YAML readers keep the last value and drop the others silently; kubectl and server-side apply refuse the "
        "object under strict field validation, Helm applies it with a part missing"
    ),
    fix="keep one of them, or join their contents under one key",
    references=("sigs.k8s.io/yaml", "kubectl --validate=strict"),
)

REPEATED_OBJECT = Rule(
    code="YML002",
    severity=Severity.ERROR,
    title="the same object stands in the input twice",
    why=(
        "API group, kind, namespace and name identify an object: kubectl applies one after the other and the last "
        "wins, Helm and kustomize refuse the whole input"
    ),
    fix="remove one, or give it another name; pass alternatives, such as overlays, to `validate` as paths of their own",
    references=("kubectl apply", "kustomize build"),
)

NOT_AN_OBJECT = Rule(
    code="YML003",
    severity=Severity.ERROR,
    title="a document is not a Kubernetes object",
    why="an object is a mapping with apiVersion and kind; kubectl refuses a document that is a list or a bare value",
    fix="separate the objects with `---`, or put them into a `kind: List` under `items`",
    references=("kubectl apply",),
)

YML_RULES: list[Rule] = [REPEATED_KEY, REPEATED_OBJECT, NOT_AN_OBJECT]
