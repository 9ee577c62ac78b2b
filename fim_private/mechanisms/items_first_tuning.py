"""How items-first shares out its budget: the best settings found on public data.

`benchmarks/items_first_defaults.py` and `benchmarks/leverage.py` measure them, and `benchmarks/field.py` on data that
`benchmarks/dense.py` makes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The settings of items-first. They depend on public values only.

    Args:
        look_share: the share of rho for each of two looks at how many items units hold.
        items_share: the share of rho for the items at epsilon 1/2. It is larger if epsilon is smaller, because an item
            that does not go on is lost.
        clear_items: if the support of the k-th itemset was released before, the items get less: so much that this
            support, less one deviation of its noise, is this many deviations of the noise in their counts. The numbers
            are for itemsets from one, two, and three items on: the larger an itemset, the rarer it is beside its items.
        least_share: but the items get at least this share of rho. So does the test of the smallest support.
        if_listed: with a public list the share of the items is smaller by this factor, and so is the reach of pairs and
            single items.
        tokens: a good answer is expected to need the first `tokens` times sqrt(2 k) tokens.
        sure: the test is made for this times the support of the rarest item in the k itemsets that are likeliest if
            items are independent.
        again_share: the share of rho for counting the likeliest items once more.
        again_below: they are counted again only if the last of them is at most this many deviations above 0.
        most_test: the test of the smallest support gets at most this share of what is left after the items.
        cut_share: the choice of how many itemsets to test gets this times as much as the test.
        pairs_share: the pairs' share of what is left, if itemsets are counted. The itemsets get the rest.
        clear_pairs_share, clear_itemsets_share: the same shares where some itemsets are clear before the last count.
            The itemsets in doubt get the rest.
        clear: some will be clear if the noise of the pairs is at most this times the support of the rarest item that a
            good answer needs.
        doubt: an itemset is in doubt if it is at most this many deviations from the k-th.
        picks_pairs_share: the pairs' share if itemsets of several sizes are picked.
        full_items: a unit with at most this many items counts in full.
        full_found: the same where the first counts name single items. It is larger by the factor (2 epsilon)^1.5 if
            that is above 1.
        stands_out: if the support of the k-th item was released before, the number with the least error is taken
            instead. With it, that support is at least this many deviations of the noise.
        lost: the average loss by units that do not count in full is known. The loss of one item differs from it by
            about this share.
        leverage_full_items: the same if pairs are ranked by leverage, where it matters what long transactions lose.
        recounted: for leverage, this many of the most frequent items are counted once more.
        recount_share: the share of rho for that.
        full_pairs: a transaction with at most this many of the pairs counts in full. Where no picks follow, this and
            the next two are larger by the factor 2 epsilon if that is above 1.
        full_itemsets: a transaction with at most this many of the itemsets counts in full.
        full_in_doubt: the same for itemsets in doubt, if these are all. Transactions hold less of fewer.
        joined: larger itemsets are built from this times k pairs, the likeliest.
        counted: this times k itemsets are counted.
        prior: the chance of a pick of items or pairs is proportional to the product of its items' counts to this power.
        leverage_prior: the same power for leverage.
        dependent: the count of a pair is off what its items let expect by about this share of that.
        dependent_known: if the support of the k-th pair was released before, by about this times that support instead.
        least_dependent: but by at least this share, and at most by all.
        dense: items alone tell of their pairs if the k-th is in at least this share of all transactions, as if items
            were independent.
        dense_items: if it is known before that they do, the first counts of the items get at most this share of rho.
        spare_items: this many times as many items are picked then as have somewhat more itemsets than are asked for.
        items_picked_share: the share of these picks in what is left. The rest is for counts of who lacks these items.
        full_lacking: a unit that lacks this times as many of them as is usual counts in full.
        rise: how much more of epsilon later picks get.
        several_reach: tokens go on to picks down to the support that a pick can tell from nothing, and further down
            where these have hardly more itemsets than are asked for. For picks of single items, or from several sizes,
            they go on down to this times that support.
        larger_reach: the same for picks of one size of three items or more, from all itemsets of these tokens.
        few: how many tokens go on to noisy counts, or 3 sqrt(2 k) if that is more.
        few_per_pick: this many times k tokens go on instead if that is more. It is less if epsilon is below 1/2.
        pairs_stand_out: more go on while the support of the last itemset asked for is at least this many deviations of
            the noise in counts of pairs.
        rarest: these have at least this times its support.
        below_last: where single items are asked for, all tokens go on down to this many deviations below the k-th, or
            below the least count that is asked for, but at most 2 k.
        peels: picks select if k is at most this times the number of picks that are as exact as noisy counts, and times
            the root of 2 epsilon.
        always_peels: picks also select if k is at most this times the larger of 1 and epsilon. Itemsets from four items
            on are then picked as if the support of the k-th were not known.
        always_peels_triples: the same for triples alone.
        peels_kth: if single items and others are asked for, picks select if what a pick can tell from nothing is at
            most this many times the support of the k-th, as if items were independent. If the support of the k-th pair
            was released before, pairs are picked if it is at most this times that support, and less the more k exceeds
            the picks that are as exact as noisy counts. It is also at most the support of the rarest item that a good
            answer needs.
        peels_larger: if all itemsets have three items or more, picks select if what a pick can tell from nothing is at
            most so many times the support of the rarest item that a good answer needs. It is the square of this for
            four items, and so on.
        peels_larger_known: if the support of the k-th larger itemset was released before, this takes the place of
            `peels_larger`.
        peels_larger_support: what tells an itemset from all that are as likely is then also at most so many times that
            support. Without a public list it is up to twice as much if more picks are as exact as noisy counts.
        peels_larger_exact: it is twice as much if this many picks are.
        short: items are named by their first counts if units count with at least this weight on average.
        picks_of_found: the share of rho for picks from them, for short lists.
        few_of_found: beyond this many items it falls as 1/sqrt(k).
        named_share: counts that name the items get this times the share of the items, if no single items are picked.
            The numbers are for itemsets from one, two, and three items on.
        named_noise: if the support of the k-th itemset was released before, the factor is this times the root of
            the noise that they would have for the whole budget, in such supports. The numbers are for itemsets from one
            and two items on; larger ones do not depend on it.
        least_named, most_named: but they get at least and at most these shares of what the looks leave.
        most_named_counted: they get at most this share if the answer is read from later counts.
        long_list: the fewest items of a long list.
        reads_most: long lists of single items are read from first counts if the support of the k-th was released
            before, and is at most this many times what an item needs to go on to picks.
        read_lost: the same as `lost`, for how items are then counted.
        read_clear: the items that are read are expected to stand out by at least this many deviations.
        read_sure: the same as `sure`, of the larger of that and the support.
        read_noise: at most about this share of what is read is there by noise alone.
        read_spare: this times k more are read than are named, and as many left out; of fewer, the same part.
        read_out: the share of rho for leaving them out.
        uneven: beside noise, the counts of items and pairs are off by about this share of them: what long transactions
            lose differs from one to the other.
    """

    look_share: float = 0.01
    items_share: float = 0.3
    clear_items: tuple[float, ...] = (5.0, 4.0, 3.2)
    least_share: float = 0.05
    if_listed: float = 0.67
    tokens: float = 5.0
    sure: float = 0.6
    again_share: float = 0.15
    again_below: float = 4.5
    most_test: float = 0.45
    cut_share: float = 0.25
    pairs_share: float = 0.55
    clear_pairs_share: float = 0.35
    clear_itemsets_share: float = 0.3
    clear: float = 1.0
    doubt: float = 1.5
    picks_pairs_share: float = 0.2
    full_items: int = 4
    full_found: int = 2
    stands_out: float = 7.5
    lost: float = 0.3
    leverage_full_items: int = 16
    recounted: int = 10
    recount_share: float = 0.05
    full_pairs: int = 10
    full_itemsets: int = 12
    full_in_doubt: int = 8
    joined: int = 30
    counted: int = 6
    prior: float = 0.75
    leverage_prior: float = 1.2
    dependent: float = 0.5
    dependent_known: float = 0.35
    least_dependent: float = 0.25
    dense: float = 0.35
    dense_items: float = 0.3
    spare_items: float = 1.3
    items_picked_share: Fraction = Fraction(3, 10)
    full_lacking: float = 0.7
    rise: Fraction = Fraction(1, 2)
    several_reach: float = 0.3
    larger_reach: float = 2.0
    few: int = 90
    few_per_pick: float = 0.45
    pairs_stand_out: float = 4.0
    rarest: float = 0.8
    below_last: float = 2.0
    peels: float = 0.75
    always_peels: int = 25
    always_peels_triples: int = 10
    peels_kth: float = 1.3
    peels_larger: float = 0.35
    peels_larger_known: float = 0.8
    peels_larger_support: float = 0.85
    peels_larger_exact: float = 400.0
    long_list: int = 100
    reads_most: float = 0.85
    read_lost: float = 0.15
    read_clear: float = 3.5
    read_sure: float = 0.5
    read_noise: float = 0.06
    read_spare: float = 0.2
    read_out: float = 0.15
    uneven: float = 0.15
    short: float = 0.5
    picks_of_found: float = 0.3
    few_of_found: int = 10
    named_share: tuple[float, ...] = (3.0, 1.5, 1.0)
    named_noise: tuple[float, ...] = (5.3, 2.8)
    least_named: float = 0.15
    most_named: float = 0.75
    most_named_counted: float = 0.5

    def share_of_items(self, epsilon: float, *, listed: bool) -> float:
        """The share of rho for the items. With a public list, few strangers have to be told from items."""
        share = min(0.45, max(0.2, self.items_share * math.pow(0.5 / epsilon, 0.3)))
        return share * self.if_listed if listed else share


FOUND = Tuning()
"""The settings as found."""
FOUND_WITHOUT_DELTA = replace(
    FOUND,
    look_share=0.03,
    counted=3,
    if_listed=0.8,
    always_peels=15,
    always_peels_triples=15,
    dense_items=0.15,
    items_picked_share=Fraction(1, 2),
)
"""The settings for Laplace noise, which grows with how many itemsets a transaction holds, not with the root of that.

How many pairs and itemsets may count in full then follows from the looks alone.
"""
