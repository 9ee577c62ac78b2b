"""What is measured: which data, size and floor, by whom."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.peers import OURS, SHARED

HISTOGRAM, TOP = "fim_private, histogram", "fim_private, top 1,000"
VARIANTS = (SHARED, "fim_private, in order", HISTOGRAM, TOP)
COUNTERS = ("scipy", "polars", "DuckDB")
MINERS = ("pyfim eclat", "pyfim fpgrowth", "rusket fpgrowth", "rusket eclat", "fastapriori", "fastapriori eclat")
SPARSE_MINERS = tuple(name for name in MINERS if name != "rusket eclat")
"""rusket's eclat takes minutes where there are tens of thousands of items: over 120 s for 10,000 generated baskets."""

FAST_MINERS = ("pyfim eclat", "rusket fpgrowth", "fastapriori")
DENSE_MINERS = ("pyfim eclat", "pyfim fpgrowth", "rusket eclat", "fastapriori eclat")
SPECTRUM = "pyfim eclat, spectrum"
MLXTEND = "mlxtend fpgrowth"
SPARSE = (OURS, *VARIANTS, *SPARSE_MINERS, SPECTRUM, MLXTEND, *COUNTERS)
ALL = (OURS, *VARIANTS, *MINERS, SPECTRUM, MLXTEND, *COUNTERS)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One table of the report.

    Args:
        data: name of the data set.
        size: items an itemset.
        floor: least count, or if below 1 the share of the transactions.
        peers: who is measured, this project first.
        whole: whether whole processes are timed too.
        quick: whether it is part of the short form.
        limit: seconds for one measurement, after which it is ended.
    """

    data: str
    size: int
    floor: float = 1
    peers: tuple[str, ...] = (OURS, *FAST_MINERS, *COUNTERS)
    whole: bool = False
    quick: bool = False
    limit: float = 120

    @property
    def key(self) -> str:
        """What the task is called in the results."""
        return f"{self.data} size {self.size} floor {self.floor:g}"

    def least(self, transactions: int) -> int:
        """The least count."""
        return int(self.floor) if self.floor >= 1 else max(1, round(self.floor * transactions))


SCALE = (OURS, "rusket fpgrowth", "fastapriori", *COUNTERS)
FLOORED = (OURS, *SPARSE_MINERS, MLXTEND, "polars", "DuckDB")

TASKS = (
    Task(data="groceries", size=2, peers=(*ALL, "Spark"), whole=True, quick=True),
    Task(data="groceries", size=3, peers=ALL),
    Task(data="retail", size=2, peers=SPARSE, whole=True),
    Task(data="retail", size=2, floor=0.001, peers=(OURS, *MINERS, *COUNTERS), quick=True),
    Task(data="retail", size=2, floor=0.0005, peers=(OURS, *SPARSE_MINERS)),
    Task(data="retail", size=2, floor=0.0001, peers=(OURS, *SPARSE_MINERS, *COUNTERS)),
    Task(data="retail", size=3, peers=(OURS, *VARIANTS, SPECTRUM, "polars", "DuckDB"), limit=180),
    Task(data="retail", size=3, floor=0.001, peers=FLOORED),
    Task(data="retail", size=3, floor=0.0005, peers=(OURS, *SPARSE_MINERS)),
    Task(data="retail", size=3, floor=0.0001, peers=(OURS, *SPARSE_MINERS)),
    Task(data="retail", size=4, floor=0.0005, peers=(OURS, *FAST_MINERS)),
    Task(data="retail", size=5, floor=0.0005, peers=(OURS, *FAST_MINERS)),
    Task(data="T10I4D100K", size=2),
    Task(data="T10I4D100K", size=3, floor=0.0005, peers=(OURS, *SPARSE_MINERS)),
    Task(data="bms-webview-2", size=2),
    Task(data="bms-webview-2", size=3, floor=0.0005, peers=(OURS, *SPARSE_MINERS)),
    Task(data="kosarak-head", size=2),
    Task(data="kosarak-head", size=3, floor=0.002, peers=(OURS, *SPARSE_MINERS)),
    Task(data="online-retail-sales-baskets", size=2),
    Task(data="online-retail-sales-baskets", size=3, floor=20, peers=(OURS, "pyfim eclat")),
    Task(data="mushroom", size=3, peers=(OURS, *VARIANTS, SPECTRUM, *MINERS, "polars", "DuckDB"), quick=True),
    Task(data="mushroom", size=4, peers=(OURS, SHARED, HISTOGRAM, SPECTRUM, *DENSE_MINERS)),
    Task(data="mushroom", size=5, peers=(OURS, SHARED, HISTOGRAM, SPECTRUM, *DENSE_MINERS)),
    Task(data="generated-10k", size=2, peers=SCALE, quick=True),
    Task(data="generated-100k", size=2, peers=SCALE),
    Task(data="generated-1M", size=2, peers=(*SCALE, SHARED, TOP)),
    Task(data="generated-10M", size=2, peers=(OURS, SHARED, TOP, *COUNTERS), limit=400),
)

MINE_PAIRS = ("--size", "2", "--top", "100", "--epsilon", "1", "--delta", "1e-6", "--unit", "transaction")
"""What the command line is asked for, whole process."""
