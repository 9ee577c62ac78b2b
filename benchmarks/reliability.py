"""The ledger under stress: many `mine` at once, and sudden ends at random moments.

    python -m benchmarks.reliability [--mines 50] [--kills 500] [--light-kills 500] [--seed N] [--output FILE]
    python -m benchmarks.reliability --aimed-kills 40

Every run is a real process that ends, is refused, or is killed (SIGKILL), at a uniformly random moment or, the second
form, as soon as the ledger has its charge. After each, what was handed over is compared with what the ledger says.
Either form writes its part of a report; exit code 1 if a promise was broken.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from benchmarks.parts import put_part
from fim_private import Ledger
from fim_private.ledger import Entry
from fim_private.randomness import SeededRandomness

LIGHT = """
import sys
from fim_private import Budget, Ledger, PrivacyUnit, Universe, make_plan
plan = make_plan(size=2, top=1, budget=Budget("1/1000", "0"), unit=PrivacyUnit(),
                 universe=Universe(items=99, listed=True), mechanism="exponential")
ledger = Ledger(sys.argv[1])
print("ready", flush=True)
while True:
    name = ledger.charge(plan)
    print(name, flush=True)
    ledger.deliver(name)
"""
"""What `mine` does around the draw and nothing else, so that nearly every moment is one inside the ledger."""


ENDS = (
    "Not charged: killed before. Charged, not printed: the budget is spent, and nobody saw the answer. Charged, "
    "printed: killed after the hand-over and before the ledger noted it. Delivered, printed: all was done. From the "
    "charge to that note it takes milliseconds, so few random moments fall there; aimed kills do."
)


@dataclass
class Findings:
    """What a series of runs came to: figures in the order they are told, and broken promises."""

    title: str
    note: str = ""
    figures: dict[str, object] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def expect(self, promise: str, *, holds: bool) -> None:
        if not holds:
            self.broken.append(promise)


class Folder:
    """A folder with a basket file and ledgers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.baskets = path / "baskets.csv"
        self.baskets.write_text("bread,milk\n" * 3000 + "tea,jam,bread\n" * 900)

    def ledger(self, name: str, epsilon: str, delta: str) -> Ledger:
        return Ledger.create(self.path / f"{name}.ledger", epsilon=epsilon, delta=delta, composition="basic")

    def mine(self, ledger: Ledger, *more: str) -> subprocess.Popen[bytes]:
        asked = ["--size", "2", "--top", "1", "--epsilon", "1/10", "--delta", "1e-7", "--unit", "transaction"]
        command = [sys.executable, "-m", "fim_private", "mine", str(self.baskets), *asked, "--json", "--quiet", *more]
        # To files: nobody has to read along, and what a killed process wrote is there.
        return subprocess.Popen(
            [*command, "--mechanism", "limited-domain", "--ledger", str(ledger.path)],
            stdout=(self.path / "out").open("wb") if not more else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def releases(ledger: Ledger) -> list[Entry]:
    return [entry for entry in ledger.history() if entry.what == "release"]


def race(folder: Folder, mines: int) -> Findings:
    """This many `mine` at once, where half of them fit."""
    fit = mines // 2
    ledger = folder.ledger("race", f"{fit}/10", "1/10")
    outputs = [folder.path / f"race-{place}.json" for place in range(mines)]
    began = time.perf_counter()
    running = [folder.mine(ledger, "-o", str(output)) for output in outputs]
    codes = Counter(process.wait() for process in running)
    found = Findings(f"{mines} `mine` at once, of which {fit} fit")
    released = [json.loads(output.read_text())["id"] for output in outputs if output.exists()]
    entries = releases(ledger)
    found.figures = {
        "released": codes[0],
        "refused for the budget (exit code 4)": codes[4],
        "ended otherwise": mines - codes[0] - codes[4],
        "epsilon spent, of the total": f"{ledger.state().spent.epsilon} of {ledger.state().budget.epsilon}",
        "seconds, all together": round(time.perf_counter() - began, 1),
    }
    found.expect("never overspent", holds=ledger.state().spent.epsilon <= ledger.state().budget.epsilon)
    found.expect("all that fits is released", holds=codes[0] == fit and codes[4] == mines - fit)
    found.expect("each release is charged once", holds=sorted(released) == sorted(str(entry.id) for entry in entries))
    found.expect("each release is noted as delivered", holds=all(entry.state == "delivered" for entry in entries))
    return found


def usual_seconds(folder: Folder) -> float:
    """How long an undisturbed `mine` takes."""
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        folder.mine(folder.ledger(f"once-{len(seconds)}", "1", "1e-5")).wait()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def wait_for_charge(running: subprocess.Popen[bytes], ledger: Ledger, charges: int) -> None:
    """Return as soon as the ledger has one charge more, or the process has ended."""
    while running.poll() is None and len(releases(ledger)) == charges:
        time.sleep(0.0005)


def kill_mines(folder: Folder, kills: int, moments: Iterator[float] | None) -> Findings:
    """`mine` killed at uniformly random moments of its run; without moments, right after its charge."""
    ledger = folder.ledger("kills" if moments else "aimed", "100", "1/10")
    usual = usual_seconds(folder)
    how, note = ("at random moments", ENDS) if moments else ("right after its charge", "The words are explained above.")
    found = Findings(f"`mine` killed {kills} times {how}", note)
    ends: Counter[str] = Counter()
    before: list[Entry] = []
    for _ in range(kills):
        running = folder.mine(ledger)
        if moments is None:
            wait_for_charge(running, ledger, len(before))
        else:
            with suppress(subprocess.TimeoutExpired):
                running.wait(timeout=next(moments) * usual * 1.1)
        running.kill()
        running.wait()
        out = (folder.path / "out").read_text()
        now = releases(ledger)
        new = now[len(before) :]
        found.expect("earlier charges stay as they were", holds=now[: len(before)] == before)
        found.expect("one run, one charge at most", holds=len(new) <= 1)
        found.expect("nothing is released without a charge", holds=not out or len(new) == 1)
        if out:
            found.expect("what is released is what was charged", holds=json.loads(out)["id"] == new[0].id)
        if new and new[0].state == "delivered":
            found.expect("what is noted as delivered was", holds=bool(out))
        ends[(new[0].state or "") + (", printed" if out else ", not printed") if new else "not charged"] += 1
        before = now
    spent = ledger.state().spent.epsilon
    found.expect(
        "what was spent is the sum of the charges", holds=spent == sum((e.epsilon for e in before), Fraction(0))
    )
    found.figures = {"seconds of an undisturbed run": round(usual, 2), **dict(sorted(ends.items()))}
    return found


def kill_light(folder: Folder, kills: int, moments: Iterator[float]) -> Findings:
    """A process that charges and notes and does nothing else, killed within a few charges."""
    ledger = folder.ledger("light", "100", "0")
    found = Findings(
        f"a process that only charges, killed {kills} times within a twentieth of a second",
        "A process charges over and over until it is killed, so there are not as many charges as kills.",
    )
    printed, undelivered, before = 0, 0, 0
    for _ in range(kills):
        with subprocess.Popen([sys.executable, "-c", LIGHT, str(ledger.path)], stdout=subprocess.PIPE) as running:
            if running.stdout is None:
                raise AssertionError("it was asked for")
            running.stdout.readline()
            time.sleep(next(moments) / 20)
            running.kill()
            names = running.stdout.read().decode().split()
        now = releases(ledger)[before:]
        before += len(now)
        charged = [entry.id for entry in now]
        open_ = [entry for entry in now if entry.state == "charged"]
        found.expect("each release is charged, once and in order", holds=charged[: len(names)] == names)
        found.expect("at most one charge is lost", holds=len(charged) - len(names) <= 1 and len(open_) <= 1)
        printed, undelivered = printed + len(names), undelivered + len(open_)
    spent = ledger.state().spent.epsilon
    found.expect("what was spent is the sum of the charges", holds=spent == Fraction(before, 1000))
    found.figures = light_figures(charged=before, printed=printed, undelivered=undelivered)
    return found


def light_figures(*, charged: int, printed: int, undelivered: int) -> dict[str, object]:
    """How the charges add up. What is noted as delivered was handed over before."""
    return {
        "charged": charged,
        "- handed over, and noted as delivered": charged - undelivered,
        "- handed over, killed before that was noted": printed - (charged - undelivered),
        "- killed before the hand-over": charged - printed,
    }


def report(series: list[Findings], title: str, command: str) -> str:
    lines = [title, "", f"Made by `{command}`.", ""]
    for found in series:
        lines += [f"### {found.title}", "", *([found.note, ""] if found.note else []), "| | |", "|---|--:|"]
        lines += [f"| {name} | {value} |" for name, value in found.figures.items()]
        promises = "; ".join(f"{what}: {times} times" for what, times in Counter(found.broken).items())
        lines += ["", f"Broken promises: {promises or 'none'}.", ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("mines", 50), ("kills", 500), ("light-kills", 500), ("aimed-kills", 0), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--output", type=Path, default=Path("reports/reliability.md"))
    asked = parser.parse_args()
    randomness = SeededRandomness(asked.seed)
    moments = (randomness.bits(53) / 2**53 for _ in iter(int, 1))
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(Path(path))
        if asked.aimed_kills:
            part, title, options = "aimed", "## Killed right after the charge", f"--aimed-kills {asked.aimed_kills}"
            series = [kill_mines(folder, asked.aimed_kills, None)]
        else:
            part, title = "ledger", "## The ledger under stress"
            options = (
                f"--mines {asked.mines} --kills {asked.kills} --light-kills {asked.light_kills} --seed {asked.seed}"
            )
            series = [
                race(folder, asked.mines),
                kill_mines(folder, asked.kills, moments),
                kill_light(folder, asked.light_kills, moments),
            ]
    text = report(series, title, f"python -m benchmarks.reliability {options}")
    put_part(asked.output, part, text)
    print(text)
    sys.exit(any(found.broken for found in series))


if __name__ == "__main__":
    main()
