"""What a task of the Spark engine costs, step by step, and what the whole job costs on this machine.

    python benchmarks/spark.py FILE.dat [MASTER]

FILE is lines of whole numbers. The steps of a task are run in this process over the whole file as one partition, in
processor seconds, which others on the machine do not change much. With a MASTER, such as local[2], the job is run by
Spark as well, in seconds by the clock and in processor seconds of Java and of Python.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from fim_private.counting.spark import bounding, parsing, top
from fim_private.counting.spark.blocks import whole
from fim_private.counting.spark.reading import read_with_spark
from fim_private.counting.spark.rows import from_rows
from fim_private.counting.spark.session import ROWS_AT_ONCE, open_session, stop
from fim_private.transactions.item_codes import in_name_order
from fim_private.transactions.layout import Layout

PLACES = 10_241
CAP = 10


def processor_seconds() -> Counter[str]:
    """Of this process and all that came of it, by the name of the program (Linux)."""
    seen: dict[int, tuple[int, str, float]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, rest = (folder / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        fields = rest.split()
        ticks = sum(map(int, fields[11:15]))
        seen[int(folder.name)] = (int(fields[1]), name, ticks / os.sysconf("SC_CLK_TCK"))
    mine: Counter[str] = Counter()
    waiting = [os.getpid()]
    while waiting:
        process = waiting.pop()
        mine[seen[process][1]] += seen[process][2]
        waiting += [child for child, (parent, _, _) in seen.items() if parent == process]
    return mine


def task(path: Path) -> None:
    lines = path.read_bytes().split(b"\n")[:-1]
    batches = [
        pa.RecordBatch.from_arrays([pa.array(lines[start : start + ROWS_AT_ONCE], pa.binary())], names=["value"])
        for start in range(0, len(lines), ROWS_AT_ONCE)
    ]
    source = parsing.Source(name=path.name, layout=Layout(format="fimi"))

    def step(name: str, work: Callable[[], Any]) -> Any:
        begin = time.process_time()
        result = work()
        seconds = time.process_time() - begin
        print(f"{name:44} {seconds:7.2f} s {len(lines) / seconds / 1e6:8.2f} M baskets/s", flush=True)
        return result

    list(parsing.parse_lines(iter(batches[:1]), source))  # what is compiled is compiled now
    raw = step("parse", lambda: list(parsing.parse_lines(iter(batches), source)))
    names = {name for batch in raw for name in batch.column("names")[0].as_py()}
    vocabulary = in_name_order(pl.Series(list(names), dtype=pl.String))
    width = len(vocabulary)
    blocks = step("encode", lambda: list(parsing.encode(iter(raw), vocabulary)))
    block = whole(iter(blocks))
    print(f"{len(lines):,} baskets, {len(block.items):,} occurrences, {width:,} items")
    list(top._own_top(iter(blocks[:1]), width=width, size=2, m=10))
    listed = step(
        f"round 1: first {PLACES:,} pairs", lambda: list(top._own_top(iter(blocks), width=width, size=2, m=PLACES))
    )
    itemsets, counts = from_rows(pa.Table.from_batches(listed), 2)
    tau = int(counts.min())
    item_counts = np.bincount(block.items, minlength=width)
    frequent = SimpleNamespace(value=np.flatnonzero(item_counts >= tau).astype(np.int32))
    for part in (1, 10, 100, 1000):
        floor = max(1, tau // part)

        def above(floor: int = floor) -> Any:
            shares = top._above_share(
                iter(blocks), frequent=frequent, width=width, size=2, tau=floor, n=len(block.lengths)
            )
            return list(shares)

        rows = sum(batch.num_rows for batch in step(f"round 2: pairs in {floor} baskets or more", above))
        print(f"    lists {rows:,}")
    sent = SimpleNamespace(value=(itemsets, None))
    step(f"round 3: counts of {len(itemsets):,} given pairs", lambda: top._chosen(block, sent=sent, width=width))
    step(f"keep {CAP} items of a basket", lambda: list(bounding._capped(iter(blocks), most=CAP, key=bytes(32))))


def job(path: Path, master: str) -> None:
    before = processor_seconds()

    def step(name: str, work: Callable[[], Any]) -> Any:
        nonlocal before
        begin = time.perf_counter()
        result = work()
        seconds, after = time.perf_counter() - begin, processor_seconds()
        spent = ", ".join(f"{program} {after[program] - before[program]:.1f}" for program in sorted(after))
        print(f"{name:44} {seconds:7.1f} s by the clock; processor seconds: {spent}", flush=True)
        before = after
        return result

    session = step(f"start Spark, {master}", lambda: open_session(master))
    database = step("read", lambda: read_with_spark(session, str(path)))
    step(f"first {PLACES:,} pairs", lambda: database.top_itemsets(2, PLACES))
    step(f"first {PLACES:,} pairs, once more", lambda: database.top_itemsets(2, PLACES))
    step("first 1,000 triples", lambda: database.top_itemsets(3, 1000))
    stop(session)


if __name__ == "__main__":
    task(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        job(Path(sys.argv[1]), sys.argv[2])
