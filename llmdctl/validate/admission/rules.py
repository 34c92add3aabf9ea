"""The admission codes: what each kind of mistake means and how to mend it."""

from __future__ import annotations

from llmdctl.findings import Rule, Severity

_CORE = "k8s.io/kubernetes pkg/apis/core/validation/validation.go"
_APPS = "k8s.io/kubernetes pkg/apis/apps/validation/validation.go"
_META = "k8s.io/apimachinery pkg/api/validation/objectmeta.go"


def _rule(code: str, title: str, why: str, fix: str, *references: str) -> Rule:
    return Rule(code, Severity.ERROR, title, why, fix, references)


_REFUSED = "the API server refuses the object"
_NO_PODS = "the API server refuses the object; inside a LeaderWorkerSet or DisaggregatedSet its pods are refused later"

ADM_RULES: tuple[Rule, ...] = (
    _rule(
        "ADM002", "the object's name is missing or malformed", _REFUSED,
        "use lower-case letters, digits and dashes, as long as the kind allows", _META,
    ),
    _rule(
        "ADM003", "a label, annotation or selector is malformed", _REFUSED,
        "keys are [prefix/]name, values at most 63 letters, digits, dashes, dots and underscores", _META,
        "k8s.io/apimachinery pkg/apis/meta/v1/validation/validation.go",
    ),
    _rule(
        "ADM004", "a container's name, image or list of containers is not allowed", _NO_PODS,
        "give every container a unique DNS label as name, and an image", _CORE,
    ),
    _rule(
        "ADM005", "a container port is not allowed", _NO_PODS,
        "ports are 1 to 65535, their names at most 15 lower-case letters, digits and dashes, unique in the container",
        _CORE,
    ),
    _rule(
        "ADM006", "an environment variable is not allowed", _NO_PODS,
        "give a name, and either value or exactly one source in valueFrom", _CORE,
    ),
    _rule(
        "ADM007", "a volume is not allowed", _NO_PODS,
        "give every volume a unique name and exactly one source", _CORE,
    ),
    _rule(
        "ADM008", "a volume mount is not allowed", _NO_PODS,
        "mount only volumes of the pod, each at its own absolute path", _CORE,
    ),
    _rule(
        "ADM009", "a resource quantity or name is not allowed", _NO_PODS,
        "write quantities as 500m, 2, 16Gi; requests may not exceed limits, extended resources must be equal in both",
        _CORE,
    ),
    _rule(
        "ADM010", "a probe or lifecycle hook is not allowed", _NO_PODS,
        "give exactly one handler, a port of 1 to 65535 or a port name, and periods of at least one second", _CORE,
    ),
    _rule(
        "ADM011", "the restart policy is not allowed here", _NO_PODS,
        "use Always in Deployments and StatefulSets, OnFailure or Never in Jobs", _CORE,
    ),
    _rule(
        "ADM012", "a scheduling rule is not allowed", _NO_PODS,
        "check operators, effects, weights (1 to 100) and topology keys", _CORE,
    ),
    _rule(
        "ADM013", "a security setting is not allowed", _NO_PODS,
        "user and group ids are not negative; allowPrivilegeEscalation: false excludes privileged and CAP_SYS_ADMIN",
        _CORE,
    ),
    _rule(
        "ADM014", "the workload's selector, strategy or counts are not allowed", _REFUSED,
        "make the selector match the template's labels; no negative counts; maxSurge and maxUnavailable not both 0",
        _APPS,
    ),
    _rule(
        "ADM015", "the Service is not allowed", _REFUSED,
        "name ports when there are several, keep (port, protocol) unique, and use a known type", _CORE,
    ),
    _rule(
        "ADM016", "the data of a ConfigMap or Secret is not allowed", _REFUSED,
        "keys have letters, digits, dashes, dots and underscores; all data together at most 1 MiB", _CORE,
    ),
    _rule(
        "ADM017", "the role or binding is not allowed", _REFUSED,
        "rules need verbs, apiGroups and resources; in a ClusterRoleBinding a ServiceAccount needs a namespace",
        "k8s.io/kubernetes pkg/apis/rbac/validation/validation.go",
    ),
    _rule(
        "ADM018", "the HorizontalPodAutoscaler is not allowed", _REFUSED,
        "0 < minReplicas <= maxReplicas, and exactly one source a metric that matches its type",
        "k8s.io/kubernetes pkg/apis/autoscaling/validation/validation.go",
    ),
    _rule(
        "ADM020", "the LeaderWorkerSet webhook refuses this",
        "the webhook refuses the object; inside a DisaggregatedSet the child set is refused when it is made",
        "size is at least 1, subgroups divide the group, maxSurge and maxUnavailable are not both 0",
        "sigs.k8s.io/lws pkg/webhooks/leaderworkerset_webhook.go",
    ),
    _rule(
        "ADM021", "the DisaggregatedSet webhook refuses this", "the webhook refuses the object",
        "no partition, RollingUpdate only, External scaling with one slice, and short names",
        "sigs.k8s.io/lws pkg/webhooks/disaggregatedset_webhook.go",
    ),
    _rule(
        "ADM022", "the device claim is not allowed", _REFUSED,
        "name every request, give it one of `exactly` and `firstAvailable`, and qualify attributes as domain/name",
        "k8s.io/kubernetes pkg/apis/resource/validation/validation.go",
    ),
    _rule(
        "ADM023", "the PersistentVolumeClaim is not allowed", _REFUSED,
        "give an access mode and resources.requests.storage above zero", _CORE,
    ),
    _rule(
        "ADM024", "the PodDisruptionBudget is not allowed", _REFUSED,
        "give one of minAvailable and maxUnavailable, a count or a percentage",
        "k8s.io/kubernetes pkg/apis/policy/validation/validation.go",
    ),
    _rule(
        "ADM025", "the NetworkPolicy is not allowed", _REFUSED,
        "peers have selectors or an ipBlock; CIDRs are exact; endPort is not below port",
        "k8s.io/kubernetes pkg/apis/networking/validation/validation.go",
    ),
    _rule(
        "ADM026", "the Job or CronJob is not allowed", _REFUSED,
        "counts are not negative, Indexed jobs need completions, schedules have five fields",
        "k8s.io/kubernetes pkg/apis/batch/validation/validation.go",
    ),
    _rule("ADM027", "a namespace is set on a cluster-scoped kind", _REFUSED, "remove metadata.namespace", _META),
    _rule(
        "ADM028", "a pod setting is not allowed", _NO_PODS,
        "check policies, names and addresses against the message", _CORE,
    ),
    _rule(
        "ADM029", "the Ingress is not allowed", _REFUSED,
        "give rules or a default backend; each path has a pathType, starts with / and names one backend with its port",
        "k8s.io/kubernetes pkg/apis/networking/validation/validation.go",
    ),
    _rule(
        "ADM030", "the ResourceQuota or LimitRange is not allowed", _REFUSED,
        "use standard or qualified resource names and known scopes; min <= defaultRequest <= default <= max", _CORE,
    ),
    _rule(
        "ADM031", "the StorageClass, PriorityClass or Lease is not allowed", _REFUSED,
        "check the value against the message: policies are closed sets, priorities of users end at 1000000000",
        "k8s.io/kubernetes pkg/apis/storage/validation/validation.go",
        "k8s.io/kubernetes pkg/apis/scheduling/validation/validation.go",
        "k8s.io/kubernetes pkg/apis/coordination/validation/validation.go",
    ),
)  # fmt: skip

RULES_BY_CODE = {rule.code: rule for rule in ADM_RULES}
