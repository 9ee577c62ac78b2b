"""Counting in this process: inverted lists, walked by compiled loops in several threads."""
