"""Labels and annotations that parts of the plan share."""

VERSION_ANNOTATION = "llmdctl.io/component-version"
INSTANCE = "app.kubernetes.io/instance"
ROLE_LABEL = "llm-d.ai/role"
SERVING_LABEL = "llm-d.ai/inference-serving"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
