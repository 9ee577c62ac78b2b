"""Spark on this machine: a self-join of two columns for each further member, grouped, kept in its own cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from benchmarks.peers.protocol import Itemsets, Peer, Work
from benchmarks.peers.reading import separator_of


def _load(path: Path) -> DataFrame:
    builder = SparkSession.builder.master("local[2]").appName("benchmarks")
    settings = {
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.memory": "4g",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    lines = builder.getOrCreate().read.text(str(path)).withColumn("transaction", f.monotonically_increasing_id())
    baskets = lines.select("transaction", f.explode(f.split("value", separator_of(path))).alias("item_1")).cache()
    baskets.count()
    return baskets


def _count(baskets: DataFrame, size: int, floor: int) -> tuple[DataFrame, int]:
    kept = baskets
    if floor > 1:
        items = baskets.groupBy("item_1").count().filter(f.col("count") >= floor)
        kept = baskets.join(f.broadcast(items.select("item_1")), "item_1")
    joined = kept
    for member in range(2, size + 1):
        other = kept.withColumnRenamed("item_1", f"item_{member}")
        joined = joined.join(other, "transaction").filter(f.col(f"item_{member - 1}") < f.col(f"item_{member}"))
    counted = joined.groupBy(*(f"item_{member}" for member in range(1, size + 1))).count()
    found = counted.filter(f.col("count") >= floor).cache()
    number = found.count()
    found.unpersist()  # so that the next run does the work again
    return found, number


def _itemsets(_baskets: Any, result: Any) -> Itemsets:
    return {tuple(sorted(row[:-1])): row[-1] for row in result[0].collect()}


def _refuses(work: Work) -> str | None:
    if work.size > 2 or work.transactions > 20_000:
        return "a self-join in Spark is twenty times slower than the others: shown on small data"
    return None


JOIN = Peer(
    delivers="a frame of items and counts in Spark's cache",
    load=_load,
    count=_count,
    number=lambda result: int(result[1]),
    itemsets=_itemsets,
    refuses=_refuses,
    close=lambda baskets: baskets.sparkSession.stop(),
)
