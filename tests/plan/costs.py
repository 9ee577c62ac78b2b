"""What a plan costs, worked out once more from its losses; and random plans to check.

The sums are in fractions where that can be done. Otherwise the formulas are written down anew: nothing of the
accounting is called.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, erfinv
from scipy.stats import binom, norm

from fim_private.accounting.gaussian_composition import FACTORS
from fim_private.errors import BudgetError
from fim_private.mechanisms.registry import AUTO, REGISTRY
from fim_private.plan import Plan, Universe, make_plan
from fim_private.privacy import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Budget,
    Chosen,
    ChosenFailure,
    DiscreteGaussian,
    Gaussian,
    Loss,
    NeighbouringRelation,
    OneSidedFailure,
    PrivacyUnit,
    PureDP,
)

F = Fraction
Curve = NDArray[np.float64]
CLOSE = 1e-7
"""Relative: the formulas here are in floating point, and neither search over orders ends exactly at the best."""


def at_random(generator: random.Random) -> dict[str, Any]:
    """Arguments of one plan, drawn from all that can be asked for. They are valid, except a delta of 0 now and then."""
    name = generator.choice([*sorted(REGISTRY), AUTO, "items-first"])
    row = REGISTRY.get(name)
    size = generator.choice([1, 2, 2, 3, 5, 20])
    wanted = {"size": size, "mechanism": name}
    wanted["top"] = min(10_000, round(10 ** generator.uniform(0, 2.7 if generator.random() < 0.98 else 4)))
    epsilon = F(generator.randint(1, 999), 1000) * F(10) ** generator.randint(-4, 2)
    delta = F(generator.randint(1, 99), 100) * F(10) ** -generator.choice([0, 1, 3, 5, 6, 8, 12, 30, 95])
    wanted["budget"] = Budget(max(F(1, 10**6), min(F(100), epsilon)), F(0) if generator.random() < 0.03 else delta)
    if generator.random() < 0.5:
        kept = generator.choice([None, 1, 2, 7, 300, 10**6])
        wanted["unit"] = PrivacyUnit(column="customer", max_transactions=kept)
    else:
        wanted["unit"] = PrivacyUnit()
    wanted["relation"] = generator.choice(list(NeighbouringRelation))
    if (row is not None and row.needs_universe) or generator.random() < 0.5:
        # Of at least as many itemsets as may be asked for; no float holds more than 1e308 of them.
        wanted["universe"] = Universe(
            # Some serve at most ten million, and some no public list.
            items=generator.choice([10_020, 16_470, 10**6, 10**7 if row is None or row.most_names else 10**15]),
            listed=generator.random() < 0.5 and not (row is not None and not row.serves_list),
        )
    if (row is not None and row.needs_cap) or generator.random() < 0.5:
        wanted["max_items"] = size + generator.choice([0, 1, 8, 100])
    if name in {"items-first", AUTO} and generator.random() < 0.6:
        wanted["select"] = generator.choice(["peel", "counts"])
        if wanted["select"] == "counts" and generator.random() < 0.5:
            wanted["min_count"] = round(10 ** generator.uniform(0, 6))
            if generator.random() < 0.3:
                del wanted["top"]
    return wanted


def exp_above(exponent: Fraction) -> Fraction:
    """At least e^exponent, by thirty decimal digits rounded up."""
    up = Context(prec=30, rounding=ROUND_CEILING)
    power = up.divide(up.create_decimal(exponent.numerator), up.create_decimal(exponent.denominator))
    return F(up.next_plus(up.exp(power)))


def curve(loss: Loss, order: NDArray[np.float64]) -> NDArray[np.float64]:
    """Renyi divergence of this order, by the formulas of the papers, with zCDP's where they cancel."""
    match loss:
        case ZCDP(rho):
            return order * float(rho)
        case PureDP(exact):
            # Mironov (2017), Proposition 5; e^eps - 1 in its stead would be exact too but for rounding.
            epsilon = float(exact)
            first = np.logaddexp(order * epsilon, (1 - order) * epsilon) - np.logaddexp(0, epsilon)
            return np.minimum(first / (order - 1), order * epsilon**2 / 2)
        case BoundedRange(exact):
            # Cesar and Rogers (2021), Lemma 3.4, at the t that makes it largest.
            epsilon, a = float(exact), order - 1
            up, down = np.log(-np.expm1(-(a + 1) * epsilon)), np.log(-np.expm1(-a * epsilon))
            t = epsilon + up - down - np.log1p(1 / a)
            moment = a * t + epsilon + up - np.log1p(a) - math.log(math.expm1(epsilon))
            return np.minimum(moment / a, order * epsilon**2 / 8)
        case Chosen(ways):
            curves = [sum((curve(each, order) for each in way), np.zeros_like(order)) for way in ways]
            return np.asarray(np.maximum.reduce(curves))
        case _:
            raise AssertionError(loss)


def renyi(losses: Sequence[Loss], delta: Fraction) -> float:
    """The least epsilon of any order (Canonne, Kamath, Steinke 2020, Proposition 12)."""
    low, high = math.log(1e-2), math.log(1e9)
    best = math.inf
    log_delta = math.log(delta.numerator) - math.log(delta.denominator)
    times = Counter(losses)
    for _ in range(4):
        orders = 1 + np.exp(np.linspace(low, high, 200))
        total = sum(number * curve(loss, orders) for loss, number in times.items())
        bound = total + np.log1p(-1 / orders) - (log_delta + np.log(orders)) / (orders - 1)
        place = int(np.argmin(bound))
        best = min(best, float(bound[place]))
        step = (high - low) / 199
        middle = low + place * step
        low, high = middle - step, middle + step
    return max(0.0, best)


def gaussian(losses: Sequence[Loss], epsilon: float) -> float:
    """The delta of one number with as much Gaussian noise as all losses cost together, the last one first."""
    total = 0.0
    for loss, alike in groupby(losses[::-1]):
        times = len(list(alike))
        match loss:
            case Gaussian(rho):
                total += times * float(rho)
            case DiscreteGaussian(rho, variance) if variance > 3:
                total += times * float(rho) / (1 - 3 / variance)
            case PureDP(exact):
                total += times * 2 * odds_apart(float(exact)) ** 2
            case BoundedRange(exact):
                total += picked(float(exact), times, total)
            case _:
                return 1.0
    move = math.sqrt(2 * total)
    near, far = epsilon / move - move / 2, epsilon / move + move / 2
    if near >= 0:
        # P(N > x) is the density times Mills' ratio, and e^epsilon is that of the densities. So little cancels.
        mills = math.sqrt(math.pi / 2) * (erfcx(near / math.sqrt(2)) - erfcx(far / math.sqrt(2)))
        return float(norm.pdf(near) * mills)
    log_one, log_two = norm.logsf(near), norm.logsf(far)
    return float(math.exp(log_one) * -math.expm1(epsilon + log_two - log_one))


def noise_epsilon(loss: Loss, delta: Fraction) -> float:
    """The least epsilon of one loss, by Gaussian or Renyi composition."""
    low, high = 0.0, renyi([loss], delta)
    if gaussian([loss], high) > delta:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian([loss], middle) > delta else (low, middle)
    return high


def odds_apart(epsilon: float) -> float:
    """The x with P(N > x) = 1/(1 + e^epsilon). Near 1/2 the probability itself says too little of x."""
    if epsilon < 1:
        return math.sqrt(2) * float(erfinv(math.tanh(epsilon / 2)))
    return float(norm.isf(1 / (1 + math.exp(epsilon))))


def picked(epsilon: float, times: int, follows: float) -> float:
    """What picks cost: c(b)/4 more for each further one, where b also grows by a factor e^(step/4).

    It grows from what the steps that follow cost.
    """
    single = times * 2 * odds_apart(epsilon / 2) ** 2
    if epsilon > 1.9:
        return single
    start = after = 2 * follows / epsilon**2 * (1 - 1e-9)
    for _ in range(times):
        after += max(factor for least, factor in FACTORS if least <= after < _next(least)) / 4
    wider = 1.0
    for _ in range(200):
        wider = math.exp(wider * math.pi * epsilon**2 / 32)
    return min(single, wider * (after - start) * epsilon**2 / 2)


def _next(least: float) -> float:
    return min((other for other, _ in FACTORS if other > least), default=math.inf)


def optimal(epsilon: Fraction, loss: Loss, times: int) -> float:
    """The delta of so many randomised responses, as the binomial expectation that it is."""
    assert isinstance(loss, PureDP | ApproxDP)
    each = float(loss.delta) if isinstance(loss, ApproxDP) else 0.0
    flips = np.arange(times + 1)
    chances = binom.pmf(flips, times, 1 / (1 + math.exp(loss.epsilon)))
    told = np.array([max(0.0, -math.expm1(float(epsilon - (times - 2 * int(i)) * loss.epsilon))) for i in flips])
    return -math.expm1(times * math.log1p(-each) + math.log1p(-float(chances @ told)))


ROOM_OF_STEPS = 1.05
"""Curves between the points of a grid are off by so much."""


def spread(losses: Sequence[Loss]) -> float:
    """About the largest variance of the log ratio."""
    found = 0.0
    for loss in losses:
        match loss:
            case Gaussian(rho) | DiscreteGaussian(rho):
                found += 2 * float(rho)
            case PureDP(exact):
                found += float(exact) ** 2
            case BoundedRange(exact):
                found += float(exact) ** 2 / 4
            case Chosen(ways):
                found += max(map(spread, ways))
    return found


def stepwise_proves(losses: Sequence[Loss], epsilon: float, delta: float) -> bool:
    """Whether steps that are chosen after seeing the earlier answers cost no more than this."""
    # Chords lie above the curve, by a lot where delta is tiny. A finer grid takes four times as long.
    return any(stepwise(losses, epsilon, finer) <= delta * ROOM_OF_STEPS for finer in (1, 4))


def stepwise(losses: Sequence[Loss], epsilon: float, finer: int = 1) -> float:
    """The delta of an adversary who chooses each step after seeing the earlier answers: from the last step back.

    Each pick has one of twenty-four pairs of log ratios, and noise one of two hundred values or `finer` times as many.
    """
    deviation = math.sqrt(spread(losses))
    points = finer * (1000 + 20 * len(losses))
    grid = np.linspace(min(-4 * deviation, epsilon - 9 * deviation), epsilon + 4 * deviation, points)
    odds = np.exp(grid)

    def at(curve: Curve, losses: Curve, chances: Curve) -> Curve:
        moved = np.interp(np.exp(grid[:, None] - losses), odds, curve, left=1.0)
        return np.asarray(moved @ chances)

    def before(losses: Sequence[Loss], curve: Curve) -> Curve:
        for loss in reversed(losses):
            match loss:
                case Gaussian(rho) | DiscreteGaussian(rho):
                    variance = loss.variance if isinstance(loss, DiscreteGaussian) else 0
                    cost = float(rho) * (variance / (variance - 3) if variance else 1)
                    at_deviations = np.linspace(-7, 7, 200 * finer + 1)
                    weights = np.exp(-(at_deviations**2) / 2)
                    curve = at(curve, cost + math.sqrt(2 * cost) * at_deviations, weights / weights.sum())
                case PureDP(exact):
                    right = 1 / (1 + math.exp(-exact))
                    curve = at(curve, np.array([exact, -exact], float), np.array([right, 1 - right]))
                case BoundedRange(exact):
                    eta = float(exact)
                    tops = eta * np.sin(np.linspace(0, math.pi / 2, 26)[1:-1]) ** 2
                    first = np.expm1(tops - eta) / math.expm1(-eta)
                    pairs = zip(tops, first, strict=True)
                    each = [at(curve, np.array([top, top - eta]), np.array([p, 1 - p])) for top, p in pairs]
                    curve = np.maximum.reduce(each)
                case Chosen(ways):
                    curve = np.maximum.reduce([before(way, curve) for way in ways])
                case _:
                    raise AssertionError(loss)
        return curve

    return float(np.interp(math.exp(epsilon), odds, before(losses, np.maximum(0.0, 1 - odds))))


def in_two_steps(plan: Plan) -> bool:
    return plan.relation is NeighbouringRelation.REPLACE and not REGISTRY[plan.mechanism_name].both_relations


def of_a_step(plan: Plan) -> tuple[Fraction, Fraction]:
    """What is claimed of one removal or addition, where the proof is of these."""
    epsilon, delta = plan.guarantee.epsilon, plan.guarantee.delta
    if in_two_steps(plan):
        # P <= e^{eps'} (e^{eps'} P'' + delta') + delta'.
        epsilon /= 2
        delta /= 1 + exp_above(epsilon)
    return epsilon, delta


def check(plan: Plan, budget: Budget) -> None:
    claimed, losses, failure = plan.guarantee, plan.mechanism.losses, plan.failure
    assert 0 < claimed.epsilon <= budget.epsilon
    assert 0 <= claimed.delta <= budget.delta
    assert plan.mechanism.sensitivity == plan.unit.sensitivity
    assert plan.mechanism.top == plan.top

    epsilon, delta = of_a_step(plan)
    room = F(1 + CLOSE)
    match claimed.composition:
        case "basic":
            deltas = sum((loss.delta for loss in losses if isinstance(loss, ApproxDP)), F(0))
            assert sum((loss.epsilon for loss in losses), F(0)) <= epsilon
            # The planner's e^{eps'} and the one here are both rounded up, by different amounts.
            assert deltas + failure <= delta * (1 + F(1, 10**8))
        case "renyi":
            price = failures_cost(plan, epsilon)
            assert price < delta
            assert renyi(losses, delta - price) <= epsilon * room
        case "gaussian":
            price = failures_cost(plan, epsilon)
            assert price < delta
            assert gaussian(losses, float(epsilon)) <= (delta - price) * room
        case "optimal" if failure == 0 and len(set(losses)) == 1 and isinstance(losses[0], PureDP | ApproxDP):
            assert optimal(epsilon, losses[0], len(losses)) <= delta * room
        case "optimal":
            price = failures_cost(plan, epsilon)
            assert price < delta
            assert stepwise_proves(losses, float(epsilon), float(delta - price))
        case _:
            raise AssertionError(claimed.composition)


def selection_costs(plan: Plan, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether some theorem proves the selection alone to cost no more than this."""
    losses, failure = plan.mechanism.losses, plan.failure
    if all(isinstance(loss, PureDP | BoundedRange | ApproxDP) for loss in losses):
        deltas = sum((loss.delta for loss in losses if isinstance(loss, ApproxDP)), F(0))
        if sum((loss.epsilon for loss in losses), F(0)) <= epsilon and deltas + failure <= delta:
            return True
    if failure == 0 and delta and len(set(losses)) == 1 and isinstance(losses[0], PureDP | ApproxDP):
        return optimal(epsilon, losses[0], len(losses)) <= delta * F(1 + CLOSE)
    return composes(plan, losses, epsilon, delta)


def composes(plan: Plan, losses: Sequence[Loss], epsilon: Fraction, delta: Fraction) -> bool:
    """Whether Gaussian or Renyi composition proves losses and the mechanism's failure to cost no more than this."""
    if any(isinstance(loss, ApproxDP) for loss in losses):
        return False
    left = delta - failures_cost(plan, epsilon)
    if left <= 0:
        return False
    if gaussian(losses, float(epsilon)) <= left * F(1 + CLOSE) or renyi(losses, left) <= epsilon * F(1 + CLOSE):
        return True
    return stepwise_proves(losses, float(epsilon), float(left))


def failures_cost(plan: Plan, epsilon: Fraction) -> Fraction:
    """What the mechanism's failures add to delta."""
    odds = exp_above(epsilon)
    once = twice = F(0)
    for failure in plan.mechanism.failures:
        match failure:
            case OneSidedFailure(probability):
                once += probability
            case ChosenFailure(one_sided, other, looks):
                if len(plan.mechanism.failures) == 1:
                    # Pinsker: on either side the looks choose the second way with nearly the same probability.
                    apart = F(math.sqrt(looks / 2))
                    return max(one_sided, other * (1 + odds)) + odds * other * apart
                once, twice = once + one_sided, twice + other
            case _:
                twice += failure.probability
    return once + (1 + odds) * twice


def check_per_size(plan: Plan, budget: Budget) -> None:
    """A search for each size: all losses composed, or each search proved by itself for its equal share."""
    claimed, parts = plan.guarantee, plan.mechanism.parts
    assert 0 < claimed.epsilon <= budget.epsilon
    assert 0 <= claimed.delta <= budget.delta
    epsilon, delta = of_a_step(plan)
    if composes(plan, plan.losses, epsilon, delta):
        return
    number = len(parts)
    for part in parts:
        alone = replace(plan, mechanism=part)
        assert selection_costs(alone, epsilon / number * F(1 + CLOSE), delta / number * F(1 + CLOSE))


def check_with_counts(plan: Plan, budget: Budget) -> None:
    """Selection and counts together: all losses composed, or the two proved one by one and added up."""
    claimed, counts, share = plan.guarantee, plan.counts, plan.question.count_share
    assert 0 < claimed.epsilon <= budget.epsilon
    assert 0 <= claimed.delta <= budget.delta
    assert counts.top == plan.top * (2 ** max(plan.sizes) - 1 if plan.question.with_subsets else 1)
    assert counts.sensitivity == plan.unit.sensitivity
    epsilon, delta = of_a_step(plan)
    planned = budget.epsilon / 2 if in_two_steps(plan) else budget.epsilon
    if composes(plan, plan.losses, epsilon, delta):
        return
    # What the counts leave has to be enough for the selection.
    room = F(1 + CLOSE)
    if isinstance(counts.loss, PureDP):
        assert selection_costs(plan, epsilon - counts.loss.epsilon, delta * room)
        return
    selection = (1 - share) * planned
    dearer = 1 + exp_above(planned)
    # The second is nearly all of delta where epsilon is tiny: what its ninth digit is rounded by shows in what is left.
    second = delta * (1 + exp_above(selection)) / dearer * (1 - F(1, 10**8))
    for granted in (delta, second, delta / 2 / dearer, F(0)):
        left = epsilon * room - F(noise_epsilon(counts.loss, delta - granted)) if granted < delta else F(-1)
        if left > 0 and selection_costs(plan, left, granted * room):
            return
    raise AssertionError("no share of delta proves it")


def check_many(
    seed: int,
    number: int,
    check: Callable[[Plan, Budget], None] = check,
    ask: Callable[[dict[str, Any], random.Random], bool] = lambda _wanted, _generator: True,
) -> Counter[str]:
    """Check random plans. Return how many of each kind could be afforded.

    Args:
        seed: decides which plans.
        number: how many.
        check: what is checked.
        ask: changes what is asked for; False if it is not worth the time.
    """
    generator = random.Random(seed)
    made: Counter[str] = Counter()
    for attempt in range(number):
        wanted = at_random(generator)
        if not ask(wanted, generator):
            continue
        try:
            plan = make_plan(**wanted)
        except BudgetError:
            made["refused"] += 1
            made["refused with a delta"] += wanted["budget"].delta > 0
            continue
        try:
            check(plan, wanted["budget"])
        except AssertionError as failed:
            raise AssertionError(f"seed {seed}, plan {attempt}: {wanted}\n{plan}") from failed
        made.update([plan.mechanism_name, plan.guarantee.composition, str(plan.relation)])
        made.update([plan.counts.law] if plan.counts else ())
    return made


def ask_for_counts(wanted: dict[str, Any], generator: random.Random) -> bool:
    wanted["count_share"] = F(generator.randint(1, 99), 100)
    wanted.setdefault("top", 20)  # where there is a least count only
    wanted["with_subsets"] = wanted["size"] in {2, 3, 5} and generator.random() < 0.3
    return True


def ask_for_several_sizes(wanted: dict[str, Any], generator: random.Random) -> bool:
    wanted |= {"size": generator.choice([(1, 2), (2, 3), (1, 2, 3)]), "per_size": True}
    if wanted["mechanism"] == "items-first" or wanted.get("top", 999) > 200:
        return False  # slow to plan; tests/mechanisms/test_per_size.py
    if "max_items" in wanted:
        wanted["max_items"] = 3 + generator.choice([0, 8])
    return True
