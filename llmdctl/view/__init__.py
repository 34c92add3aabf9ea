"""Objects -> workloads, roles, engine commands, pools, router configs. Lazy; each part knows its pointer."""
