"""Reproductions of Liu and Talwar (2019) that no command uses, one algorithm a file, and the audit of all.

    Algorithm 3, Theorem 4.1            above_threshold        eps_3, however many queries
    Algorithm 4, Theorem 4.4            above_threshold        (eps_3, delta), from samples
    Algorithm 5, Theorem 4.6            percentile_threshold   (eps_3, delta)
    Theorem 4.7                         unknown_threshold      (2 eps_1 + kappa + eps_3, delta)
    Theorem 5.2                         noisy_scores           candidates for Algorithm 2
    Theorem C.1                         amplification          eps_1 + max(eps_1, ln(m/(m - 1)))

Where what the paper says is not what is done here, the file says why: C.1's delta is smaller; 4.1 (d), 4.4 (b) and (d),
4.6 (c), the eps_3 of 4.7, and in 5.2 the truncation and the shift for smooth sensitivity had a slip. Algorithm 6 and
other relatives are not private, and stand in `relatives` to be caught.

`tune` does not use Theorem 4.7: it asks for candidates without a delta, which an open universe does not allow, for
scores between 0 and 1, which needs a public bound on the number of units, and for more runs than anybody can wait for.
"""
