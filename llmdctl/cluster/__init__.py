"""The client seam: apply, membership, wait, revisions. Knows no guide."""
