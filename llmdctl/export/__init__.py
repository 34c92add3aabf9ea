"""Plan or objects -> Kustomize, Helm, Argo CD and Flux distributions."""
