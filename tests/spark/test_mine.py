"""The whole way with Spark: the same release, and the same words, as in one process."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests import processes

pytest.importorskip("pyspark")

from fim_private import Constraints, PrivacyUnit, Universe
from fim_private.counting import LocalDatabase, largest_counts
from fim_private.counting.spark.reading import read_with_spark
from fim_private.mechanisms.lifted_exponential import LiftedExponential
from fim_private.randomness import SeededRandomness
from fim_private.release.door import pick_listed
from fim_private.transactions.reading import read_transactions
from tests.asking import mined
from tests.cli.command import PROMISE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def baskets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten thousand baskets with clear leads among the first pairs, and customers of whom each has one basket."""
    generator = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("spark") / "baskets.csv"
    chances = np.array([0.9, 0.8, 0.6, 0.45, 0.3, *[0.02] * 60])
    rows = ["customer;basket;item"]
    for number in range(10_000):
        bought = np.flatnonzero(generator.random(len(chances)) < chances).tolist()
        rows += [f"c{number // 2};b{number};item{item}" for item in bought]
    path.write_text("\n".join(rows) + "\n")
    return path


CUSTOMER = PrivacyUnit(column="customer")
LISTED = {"size": (1, 2), "universe": Universe(names=(*(f"item{number}" for number in range(9)), "nobody's"))}
CHOICES: dict[str, dict[str, Any]] = {
    "lmm": {"mechanism": "lmm", "top": 3},
    "limited-domain": {"mechanism": "limited-domain", "top": 3},
    "items-first, peel": {"mechanism": "items-first", "top": 5, "select": "peel"},
    "items-first, counts": {"mechanism": "items-first", "top": 40, "select": "counts"},
    "items-first, merged": {"mechanism": "items-first", "top": 10, "unit": CUSTOMER, "together": "unit"},
    "items-first, together": {"mechanism": "items-first", "top": 10, "unit": CUSTOMER},
    "triples of tokens": {"mechanism": "items-first", "size": 3, "top": 4, "select": "peel"},
    "items-first, dense": {"mechanism": "items-first", "top": 6, "size": (1, 2), "epsilon": "0.04", "unit": CUSTOMER},
    "look-first, items": {"mechanism": "look-first", "top": 100},
    "look-first, picks": {"mechanism": "look-first", "top": 3, "unit": CUSTOMER},
    "look-first, listed, items": {"mechanism": "look-first", "top": 30, "epsilon": "0.1", **LISTED},
    "look-first, listed, picks": {"mechanism": "look-first", "top": 3, "unit": CUSTOMER, **LISTED},
    "several sizes, listed": {"mechanism": "items-first", "top": 30, "select": "counts", **LISTED},
    "several sizes, counts": {"mechanism": "limited-domain", "top": 6, "size": (1, 2), "count_share": "0.5"},
    "merged": {"mechanism": "limited-domain", "top": 3, "unit": CUSTOMER, "together": "unit"},
    "together": {"mechanism": "limited-domain", "top": 3, "unit": CUSTOMER, "count_share": "0.3"},
    "constrained": {
        "mechanism": "limited-domain",
        "top": 3,
        "unit": CUSTOMER,
        "constraints": Constraints(must_contain=["item1"], exclude=["item0", "absent"]),
    },
}


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
def test_seeded_releases_are_equal(spark: SparkSession, baskets: Path, choice: dict[str, Any]) -> None:
    column = choice["unit"].column if "unit" in choice else None
    here = mined(read_transactions(baskets, unit_column=column), seed=11, **choice)
    there = mined(read_with_spark(spark, str(baskets), unit_column=column), seed=11, **choice)
    assert there.to_json() == here.to_json()
    assert here.itemsets


@pytest.mark.parametrize("sizes", [(2,), (1, 2, 3)])
def test_itemsets_of_a_list_are_counted_alike_when_they_are_drawn(
    spark: SparkSession, baskets: Path, sizes: tuple[int, ...]
) -> None:
    here, there = LocalDatabase(read_transactions(baskets)), read_with_spark(spark, str(baskets))
    universe = sum(math.comb(len(here.vocabulary), size) for size in sizes)
    mechanism = LiftedExponential(top=4, pick_epsilon=Fraction(1, 1000), universe_size=universe, candidates=9)
    picked, again = (
        pick_listed(
            database, largest_counts(database, sizes, mechanism.depth), sizes, mechanism, SeededRandomness(4)
        ).tolist()
        for database in (here, there)
    )
    assert picked == again
    assert any(min(items) > 4 for items in picked)  # these are rare


def test_a_declared_universe_and_bounds_are_kept(spark: SparkSession, baskets: Path) -> None:
    names = [f"item{number}" for number in range(5)]
    database = read_with_spark(spark, str(baskets), unit_column="customer")
    for unit in (PrivacyUnit(column="customer", max_transactions=1), CUSTOMER):
        release = mined(
            database, top=2, unit=unit, mechanism="exponential", universe=Universe(names=tuple(names)), max_items=4
        )
        assert {itemset.items for itemset in release.itemsets} == {("item0", "item1"), ("item0", "item2")}


def command(*arguments: object, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return processes.run(
        [sys.executable, "-P", "-m", "fim_private", *map(str, arguments)],
        text=True,
        seconds=540,
        cwd=folder,
        env={**os.environ, **environment},
    )


@pytest.mark.usefixtures("spark")
def test_the_command_says_the_same(baskets: Path, tmp_path: Path) -> None:
    asked = ("mine", baskets, "--size", 2, "--top", 3, *PROMISE, "--mechanism", "lmm", "--seed", 2)
    here = command(*asked)
    folder, library = tmp_path / "spark", tmp_path / "polars.py"
    folder.mkdir()
    library.write_text("raise SystemExit('this is not the library')\n")  # in the current folder of the command
    there = command(
        *asked, "--engine", "spark", "--master", "local[2]", "-o", tmp_path / "release.json",
        folder=tmp_path, SPARK_LOCAL_DIRS=str(folder),
    )  # fmt: skip
    assert list(folder.iterdir()) == []
    assert there.returncode == here.returncode == 0, there.stderr
    assert there.stdout == here.stdout
    assert there.stderr.replace(f"\nWritten to {tmp_path / 'release.json'}.\n", "") == here.stderr
    assert json.loads((tmp_path / "release.json").read_text())["seeded"] is True


@pytest.mark.usefixtures("spark")
def test_a_run_that_is_ended_while_spark_starts_leaves_nothing(baskets: Path, tmp_path: Path) -> None:
    (tmp_path / "spark").mkdir()
    asked = ("mine", baskets, "--size", 2, "--top", 3, *PROMISE, "--engine", "spark", "--master", "local[1]")
    run = [sys.executable, "-m", "fim_private", *map(str, asked)]
    environment = {**os.environ, "SPARK_LOCAL_DIRS": str(tmp_path / "spark")}
    with processes.started(run, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while not any((tmp_path / "spark").iterdir()) and running.poll() is None:
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate()
    assert running.returncode == 128 + signal.SIGTERM
    assert b"Interrupted." in said
    assert not any((tmp_path / "spark").iterdir())


def test_nobody_else_can_read_what_spark_puts_on_disk(spark: SparkSession) -> None:
    folder = Path(spark.sparkContext.getConf().get("spark.local.dir", ""))
    assert spark.range(100).repartition(3).count() == 100
    assert any(folder.iterdir())
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("spark")
def test_the_command_refuses_as_here(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("a,SECRET\n" * 3000 + '"SECRET,b\n')
    asked = ("mine", path, "--size", 2, "--top", 1, *PROMISE, "--engine", "spark", "--master", "local[2]")
    done = command(*asked)
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith(f"Error: A line of {path} has unbalanced quotes.\n")
    assert len(done.stderr.splitlines()) == 2


def refused(tmp_path: Path, *options: object, **environment: str) -> str:
    path = tmp_path / "baskets.csv"
    path.write_text("a,b\n")
    done = command("mine", path, "--size", 2, "--top", 1, *PROMISE, *options, **environment)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 2
    return done.stderr


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    assert "no engine" in refused(tmp_path, "--engine", "hadoop")
    assert "--master is only for Spark" in refused(tmp_path, "--master", "local[2]")
    spark = ("--engine", "spark")
    assert "Java was not found" in refused(tmp_path, *spark, JAVA_HOME="", PATH=str(tmp_path))
    assert "openjdk-17" in refused(tmp_path, *spark, JAVA_HOME=str(tmp_path))
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    for says, expected in (('openjdk version "1.8.0_292"', "this is 8"), ('java version "11.0.2"', "this is 11")):
        java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
        java.chmod(0o755)
        assert expected in refused(tmp_path, *spark, JAVA_HOME=str(tmp_path))
    java.write_text("#!/bin/sh\nexit 1\n")
    assert "which version" in refused(tmp_path, *spark, JAVA_HOME=str(tmp_path))
    (tmp_path / "pyspark.py").write_text("raise ImportError")
    home = str(Path(__file__).resolve().parents[2])
    said = refused(tmp_path, *spark, PYTHONPATH=f"{tmp_path}{os.pathsep}{home}")
    assert "pip install 'fim_private[spark]'" in said


@pytest.mark.usefixtures("spark")
def test_a_master_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "could not be started" in refused(tmp_path, "--engine", "spark", "--master", "nonsense://nowhere")
