"""Public data sets: what there is, where it lies on this machine, and how it gets there."""
