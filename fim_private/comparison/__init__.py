"""Mechanisms compared on one data set: trials, exact hard instances, and what the theory says beside them.

Everything here looks at exact counts and draws seeded noise. It is for public data, or for the curator's eyes.
"""
