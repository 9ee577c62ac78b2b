"""Private selection: one file per mechanism, one row each in `registry.py`. They see count profiles, never itemsets."""
