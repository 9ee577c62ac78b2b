"""Private selection: one file a mechanism, one row each in `registry.py`. They see count profiles, never itemsets."""
