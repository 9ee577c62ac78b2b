"""The layouts that transactions are read from, one a file."""
