"""Broken versions of each mechanism: mistakes that somebody could make, and that the audit must catch."""
