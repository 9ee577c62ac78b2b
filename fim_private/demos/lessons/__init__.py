"""The lessons, one a file."""
