"""What can be concluded from numbers already released: post-processing, which costs no privacy.

Nothing here sees the data. Arrays in, arrays out; every input was released before, or is public.
"""
