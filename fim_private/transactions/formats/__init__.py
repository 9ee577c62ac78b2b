"""The formats of transactions: which one a file has, what looks odd about it, and a reader for each."""
