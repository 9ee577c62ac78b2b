"""Compare mechanisms on one data set: trials, exact hard instances, and the bounds of the theory.

Everything here looks at exact counts and draws seeded noise. It is for public data, or for the curator alone.
"""
