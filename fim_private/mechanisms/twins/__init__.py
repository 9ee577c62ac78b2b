"""Broken versions of each mechanism, with mistakes that somebody could make. The audit must catch them."""
