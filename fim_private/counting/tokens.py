"""Items without names: which item a token stands for is data until a certificate allows to name it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.database import TransactionDatabase
from fim_private.counting.hidden_counts import Hidden, HiddenCounts
from fim_private.counting.local.chosen_counts import ChosenCounts
from fim_private.profile import CountProfile
from fim_private.transactions.item_codes import PADDING, increasing, one_item_each


class _OfTokens(Hidden):
    """Itemsets of tokens, by rank, from those in item codes and the token of each item code, int32, shape (items,)."""

    __slots__ = ("_counts", "_tokens")

    def __init__(self, counts: HiddenCounts, tokens: NDArray[np.int32]) -> None:
        self._counts, self._tokens = counts, tokens

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def size(self) -> int:
        return self._counts.size

    @property
    def complete(self) -> bool:
        return self._counts.complete

    def profile(self, zeros: int | None = None) -> CountProfile:
        return self._counts.profile(zeros)

    def itemsets_at(self, ranks: Sequence[int]) -> NDArray[np.int32]:
        return increasing(self._tokens[self._counts.itemsets_at(ranks)])


class Tokens(Hidden):
    """Tokens that stand for items, or for nobody's. `repr` shows no data; `len` is the public number of tokens."""

    __slots__ = ("_codes", "_column", "_known", "_units")

    def __init__(self, database: TransactionDatabase, units: TransactionDatabase, codes: NDArray[np.int64]) -> None:
        """Keep only the items that have a token.

        Args:
            database: the transactions to count.
            units: the same transactions, one set of items per privacy unit.
            codes: shape (tokens,), the code of each token's item, or -1 for a token that nobody has.
        """
        held = np.sort(codes[codes >= 0]).astype(np.int32)
        self._known = database.keep_items(held)
        self._units = units
        self._codes = codes
        self._column = np.where(codes >= 0, np.searchsorted(held, codes), -1).astype(np.int32)

    def __len__(self) -> int:
        return len(self._codes)

    def count_chosen(self, itemsets: NDArray[np.int32], weights: NDArray[np.int64] | None = None) -> ChosenCounts:
        """See `counting.count_chosen`, for itemsets of tokens. One with a token that nobody has gets count 0."""
        columns = np.where(itemsets == PADDING, PADDING, self._column[itemsets])
        held = np.all((columns >= 0) | (itemsets == PADDING), axis=1)
        totals = np.zeros(len(itemsets), np.int64)
        known = self._known.count_chosen(increasing(columns[held]), weights)
        totals[held] = known.vector()
        return ChosenCounts(itemsets=itemsets, totals=totals, holders=known.holders())

    def count_units(self, tokens: int, weights: NDArray[np.int64]) -> ChosenCounts:
        """In how many units each of the first tokens is, weighed as in `counting.count_chosen`; 0 if nobody has it."""
        held = np.flatnonzero(self._codes[:tokens] >= 0)
        known = self._units.count_chosen(self._codes[held].astype(np.int32)[:, np.newaxis], weights)
        totals = np.zeros(min(tokens, len(self)), np.int64)
        totals[held] = known.vector()
        return ChosenCounts(itemsets=one_item_each(len(totals)), totals=totals, holders=known.holders())

    def count_lacking(self, weights: NDArray[np.int64]) -> ChosenCounts:
        """How many units lack each of the tokens, of the units that hold at least one of them.

        A unit that lacks q of them adds weights[min(q, len(weights) - 1)] to each of these.
        """
        by_held = weights[np.minimum(np.arange(len(self), -1, -1), len(weights) - 1)]
        holding = self.count_units(len(self), by_held)
        holders = holding.holders()[1:]
        every = int(holders @ by_held[1 : len(holders) + 1])
        return ChosenCounts(itemsets=one_item_each(len(self)), totals=every - holding.vector())

    def top_itemsets(self, tokens: int, size: int, m: int) -> HiddenCounts:
        """The first m itemsets of the first tokens, by rank in decreasing order of their counts; see `counting`.

        If there are m, those as frequent as the m-th are any: there may be billions, and no law depends on them.
        """
        columns = self._column[:tokens]
        held = np.flatnonzero(columns >= 0)
        held = held[np.argsort(columns[held])].astype(np.int32)
        return _OfTokens(self._known.keep_items(columns[held]).top_itemsets(size, m, ties=False), held)

    def ordered(self, order: NDArray[np.int64]) -> Tokens:
        """Some of the tokens, in a public order."""
        tokens = copy(self)
        tokens._codes, tokens._column = self._codes[order], self._column[order]
        return tokens

    def count_lengths(self, tokens: int, bins: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many units hold each number of the first tokens, by bins; for the door only."""
        first = self._codes[:tokens]
        return self._units.keep_items(np.sort(first[first >= 0]).astype(np.int32)).count_lengths(bins)

    def supports(self, itemsets: NDArray[np.int32]) -> list[int]:
        """For each itemset, in how many units its rarest item is; for the door only, which adds noise to the least."""
        tokens = np.unique(itemsets[itemsets != PADDING])
        held = tokens[self._codes[tokens] >= 0]
        counts = np.zeros(len(self), np.int64)
        codes = self._codes[held].astype(np.int32)
        counts[held] = self._units.count_chosen(codes[:, np.newaxis]).vector()
        # Rows begin with an item, so padding never decides.
        items = np.where(itemsets == PADDING, itemsets[:, :1], itemsets)
        smallest: list[int] = counts[items].min(axis=1).tolist()
        return smallest

    def codes(self, itemsets: NDArray[np.int32]) -> NDArray[np.int32]:
        """The codes of the items of these tokens, of the same shape, padded; for the door only.

        If one of the tokens is nobody's, there are no itemsets.
        """
        padded = itemsets == PADDING
        codes: NDArray[np.int32] = np.where(padded, PADDING, self._codes[itemsets]).astype(np.int32)
        return codes if np.all((codes >= 0) | padded) else codes[:0]
