"""For each rule, how to break a stack of ours so that it fires: one module a family, each with `MUTATIONS`."""
