"""Private learning over finite classes by the mechanisms that mine itemsets (Chaudhuri, Hsu, Song 2014, section 4.2).

A hypothesis is a candidate, and its count the number of training examples it classifies correctly. One example more or
less changes each count by at most 1, and all in one direction, so every mechanism works unchanged.
"""
