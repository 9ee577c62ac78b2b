"""The formats of transactions, one per module."""
