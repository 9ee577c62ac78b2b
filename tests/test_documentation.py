"""What the documents say is what happens."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from operator import itemgetter
from pathlib import Path

import polars as pl
import pytest

from fim_private.release import Release
from fim_private.report.verification import delta_text
from tests import processes
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.findall(r"```console\n\$ (.*?)\n(.*?)```", README, flags=re.DOTALL)


def in_shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run a README line in a shell that finds `fim-private` as an installed copy would offer it."""
    program = f'fim-private() {{ "{sys.executable}" -m fim_private "$@"; }}\n{command}'
    return processes.run(["bash", "-c", program], text=True, env={**os.environ})


def test_readme_has_console_examples() -> None:
    assert len(CONSOLE) == 2


@pytest.mark.parametrize(("command", "shown"), CONSOLE, ids=lambda text: text.split("\n")[0][:40])
def test_readme_examples_show_what_happens(command: str, shown: str) -> None:
    done = in_shell(command)
    assert done.returncode == 0, done.stderr
    if " plan " in command:
        assert done.stdout == shown
        return
    # The itemsets are drawn anew; the frame and the promise are not.
    for line in (done.stdout + done.stderr).splitlines():
        if not re.match(r" *\d+  ", line) and set(line) - set("- "):
            assert line in shown.splitlines()
    assert len(re.findall(r"^ *\d+  ", shown, flags=re.MULTILINE)) == 5


def test_readme_python_example_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    (tmp_path / "baskets.csv").write_text("milk,bread\n" * 900)
    done = processes.run(
        [sys.executable, "-c", example + "\nprint(len(release.itemsets))"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "1"


@pytest.mark.slow
def test_readme_s_ledger_keeps_the_books(tmp_path: Path) -> None:
    (example,) = re.findall(r"## A budget for several releases.*?```sh\n(.*?)```", README, flags=re.DOTALL)
    file = ROOT / "datasets" / "online-retail-customers.csv.gz"
    done = in_shell(f"cd '{tmp_path}' && {example.replace('FILE', shlex.quote(str(file)))}")
    assert done.returncode == 0, done.stderr
    assert "spent        epsilon 1, delta 1e-6" in done.stdout
    assert done.stdout.splitlines()[-1].split()[1:5] == ["release", "1", "1e-6", "delivered"]


@pytest.mark.slow
def test_readme_s_way_from_invoices_to_a_page(tmp_path: Path) -> None:
    """On 3,000 customers of two invoices each; some rows name nobody, and one customer in three buys both goods."""
    (section,) = re.findall(r"## From invoices to a published page\n(.*?)\n## ", README, flags=re.DOTALL)
    (commands,) = re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)
    rows = ["InvoiceNo,Description,CustomerID"]
    for customer in range(3000):
        goods = ["TEA, GREEN", "CUP"] if customer % 3 == 0 else ["CUP"] if customer % 2 else ["POT"]
        rows += [f'{customer}{number},"{good}",{customer}' for number in range(2) for good in goods]
    rows.append("C1,BAG,")
    (tmp_path / "invoices.csv").write_text("\n".join(rows) + "\n")
    done = in_shell(f"cd '{tmp_path}' && set -e\n{commands}")
    assert done.returncode == 0, done.stderr
    assert "1 rows without a unit left out" in done.stderr
    release = Release.from_json((tmp_path / "release.json").read_text())
    true = {("CUP",): 2000, ("POT",): 1000, ("TEA, GREEN",): 1000, ("CUP", "TEA, GREEN"): 1000}
    found = {itemset.items: itemset.count or 0 for itemset in release.itemsets}
    assert found.keys() >= true.keys()  # the other pairs, which do not occur, may be named too, with a count near 0
    assert all(abs(count - true.get(items, 0)) < 150 for items, count in found.items())
    assert "CUP" in (tmp_path / "rules.csv").read_text()
    assert "TEA, GREEN" in (tmp_path / "page.html").read_text()
    assert "remaining    epsilon 1.0" in done.stdout


@pytest.mark.slow
def test_readme_s_commands_on_a_release_run(tmp_path: Path) -> None:
    from fim_private.release.files import SUFFIXES, write_release
    from tests.rules.releases import released

    (section,) = re.findall(r"## What becomes of a release\n(.*?)\n## ", README, flags=re.DOTALL)
    commands = re.findall(r"^    (fim-private .*)$", section, flags=re.MULTILINE)
    assert len(commands) == 3
    counts = {("milk",): 600, ("bread",): 400, ("bread", "milk"): 300}
    write_release(released(counts, total=1000, half=20), tmp_path / "release.json")
    done = in_shell(f"cd '{tmp_path}' && set -e\n" + "\n".join(commands))
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {
        *("release.json", "page.html", "rules.csv", "release.parquet")
    }
    assert set(re.findall(r"`(\.[a-z]+)`", section)) == set(SUFFIXES)


def test_readme_names_what_there_is() -> None:
    from fim_private.mechanisms.registry import AUTO, REGISTRY

    (section,) = re.findall(r"## Mechanisms\n(.*?)\n## ", README, flags=re.DOTALL)
    listed = [
        name
        for cell in re.findall(r"^\| (`[^|]*) \|", section, flags=re.MULTILINE)
        for name in re.findall(r"`([\w-]+)`", cell)
    ]
    assert sorted(listed) == sorted(["--mechanism", AUTO, *REGISTRY])
    for path in re.findall(r"`((?:tests|datasets|fim_private)/[\w./]*)`", README):
        assert (ROOT / path).exists(), path
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make (\w+)  ", README):
        assert f"\n{target}:" in targets


def test_readme_s_figure_is_the_report_s() -> None:
    table = pl.read_parquet(ROOT / "reports" / "retail" / "results.parquet").filter(
        (pl.col("mechanism") == "items-first") & (pl.col("size") == 2) & ~pl.col("padded")
    )
    cell = table.filter((pl.col("top") == 100) & (pl.col("epsilon") == "0.25"))
    assert f"it names {round(100 * cell['precision'].mean())} of the 100 most\nfrequent pairs at epsilon 0.25" in README


def audit_table() -> str:
    """What the README shows of the audit report: delta claimed and found, a line a mechanism."""
    records = json.loads((ROOT / "reports" / "audit" / "verdicts.json").read_text(encoding="utf-8"))
    lines = [
        "| mechanism | one pick: claimed | found | three picks: claimed | found | mistakes caught |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(record["mechanism"] for record in records):
        of_name = [record for record in records if record["mechanism"] == name]
        cells = []
        for top in (1, 3):
            profile = next(
                record["profile"][-1]
                for record in of_name
                if record["top"] == top and record["sensitivity"] == 1 and record["relation"] == "add-remove"
            )
            cells += [delta_text(profile["claimed"]), delta_text(profile["found"])]
        twins = [twin["caught"] for record in of_name for twin in record["twins"]]
        lines.append(f"| `{name}` | {' | '.join(cells)} | {sum(twins)} of {len(twins)} |")
    return "\n".join(lines)


def test_readme_s_audit_table_is_the_report_s() -> None:
    assert f"<!-- audit table -->\n{audit_table()}\n<!-- end of audit table -->" in README
    records = json.loads((ROOT / "reports" / "audit" / "verdicts.json").read_text(encoding="utf-8"))
    assert all(record["holds"] and all(twin["caught"] for twin in record["twins"]) for record in records)


def speed_figures() -> str:
    """What the README quotes of the speed report: seconds, warm, and how many times the quickest peer takes."""
    results = json.loads((ROOT / "reports" / "speed" / "results.json").read_text(encoding="utf-8"))
    lines = []
    for what, data, size, floor in (
        ("all 3,586,797 pairs of 88,162 supermarket baskets", "retail", 2, "1"),
        ("all 46,495,042 triples of the same", "retail", 3, "1"),
        ("the triples that are in one of a thousand of them", "retail", 3, "0.001"),
    ):
        (task,) = (task for task in results["tasks"] if task["key"] == f"{data} size {size} floor {floor}")
        warm = {row["peer"]: row["warm"] for row in task["peers"] if row["warm"] is not None}
        peer, least = min(
            ((name, seconds) for name, seconds in warm.items() if "fim_private" not in name and "spectrum" not in name),
            key=itemgetter(1),
        )
        ours = warm["fim_private"]
        lines.append(
            f"* {what}: {ours:.2f} s; the quickest of the others, {peer}, takes {least / ours:.1f} times as long"
        )
    return "\n".join(lines)


def test_readme_s_speed_is_the_report_s() -> None:
    assert f"<!-- speed -->\n{speed_figures()}\n<!-- end of speed -->" in README


MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in ("fim_private", "verification")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0 or name == "fim_private.__init__"
    assert failed == 0


def test_no_machine_and_no_registry_is_named() -> None:
    shown = processes.run(["git", "ls-files"], cwd=ROOT, text=True)
    for name in shown.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".yml", ""} and path.is_file():
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"/(home|root|Users)/", text), name
