"""The report of a comparison: what it is made of, and its sections."""
