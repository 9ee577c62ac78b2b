"""Conclusions from released numbers: post-processing, which costs no privacy.

Nothing here sees the data. Functions take and return arrays; every input is released already, or is public.
"""
