"""T, the largest number of calls, as the paper chooses it for Algorithms 1 and 2. The program itself sets none."""

from __future__ import annotations

import math
from fractions import Fraction

from fim_private.errors import UsageError
from fim_private.private_candidates.stopping import check_stopping


def steps_for(stop: Fraction, epsilon_0: Fraction) -> int:
    """T = max(ln(2/eps_0)/gamma, 1 + 1/(e gamma)), rounded up. Then kappa <= eps_0 (Theorem 3.1).

    Args:
        stop: gamma.
        epsilon_0: in (0, 1].
    """
    if not 0 < epsilon_0 <= 1:
        raise UsageError("eps_0 is out of range.", "Choose it above 0 and at most 1, or set no last step.")
    check_stopping(stop, None)
    gamma = float(stop)
    return math.ceil(max(math.log(2 / epsilon_0) / gamma, 1 + 1 / (math.e * gamma)))


def steps_for_delta(stop: Fraction, delta_2: Fraction) -> int:
    """T = ln(1/delta_2)/gamma, rounded up: T coins all fail to stop with probability at most delta_2 (Theorem 3.4)."""
    if not 0 < delta_2 < 1:
        raise UsageError("delta_2 is out of range.", "Choose it between 0 and 1.")
    check_stopping(stop, None)
    return math.ceil(-math.log(delta_2) / stop)


def steps_for_epsilon(stop: Fraction, epsilon_0: Fraction) -> int:
    """T = (ln y + ln ln y)/gamma rounded up, y = 2(1 + gamma)^2/(eps_0 gamma^2) (Theorem 3.5).

    Args:
        stop: gamma.
        epsilon_0: in (0, 1/2); the theorem claims 3 eps_1 + 3 eps_0.
    """
    if not 0 < epsilon_0 < Fraction(1, 2):
        raise UsageError("eps_0 is out of range.", "Choose it above 0 and below a half.")
    check_stopping(stop, None)
    waiting = math.log(2 * (1 + stop) ** 2 / (epsilon_0 * stop**2))
    return math.ceil((waiting + math.log(waiting)) / stop)
