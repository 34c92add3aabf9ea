"""Plan -> plain Kubernetes objects, by templates that only read the plan."""
