from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fim_private import compilation
from fim_private.compilation import cache
from fim_private.errors import UsageError
from tests import processes
from tests.cli.command import PROMISE, in_own_process, words
from tests.conftest import ROOT

LOOP = """
from fim_private.compilation import compiled


@compiled
def sum_of_squares(number):
    total = 0
    for each in range(number):
        total += each * each
    return total


print(sum_of_squares(1000), sum(sum_of_squares.dispatcher.stats.cache_hits.values()))
"""
NEW, KEPT = ["332833500 0"], ["332833500 1"]
"""What the program prints where the loop was compiled, and where it came from the cache."""


def run(tmp_path: Path, cache: Path | None = None) -> list[str]:
    program = tmp_path / "loop.py"
    if not program.exists():
        program.write_text(LOOP)
    named = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = processes.run([sys.executable, program], env={**os.environ, "PYTHONPATH": path, **named}, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_without_a_place_for_the_cache_functions_are_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_function: Callable[..., object]) -> Any:
        raise RuntimeError("cannot cache function 'f': no locator available")

    def double(number: int) -> int:
        return 2 * number

    monkeypatch.setattr(cache, "_Cache", nowhere)
    assert compilation.compiled(double)(21) == 42


@pytest.mark.slow
def test_damaged_files_of_the_cache_are_done_without_and_mended(tmp_path: Path) -> None:
    """Random bytes in them used to end the process with "Aborted!"."""
    cache = tmp_path / "cache"
    assert run(tmp_path, cache) == NEW
    assert run(tmp_path, cache) == KEPT
    files = sorted(cache.rglob("*.nb[ci]"))
    assert {path.suffix for path in files} == {".nbc", ".nbi"}
    noise = random.Random(7)
    for suffix, damage in (
        (".nbc", lambda content: content[:200] + noise.randbytes(len(content) - 200)),
        (".nbi", lambda content: noise.randbytes(len(content))),
    ):
        for path in files:
            if path.suffix == suffix:
                path.write_bytes(damage(path.read_bytes()))
        assert run(tmp_path, cache) == NEW
        assert run(tmp_path, cache) == KEPT


@pytest.mark.slow
def test_a_cache_that_cannot_be_used_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert run(tmp_path, tmp_path / "file" / "inside") == NEW
    (tmp_path / "closed").mkdir(mode=0o555)
    assert run(tmp_path, tmp_path / "closed")[0] in NEW


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a tiny file system")
def test_a_full_disk_is_done_without(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = processes.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(disk)])
    if mounted.returncode:
        pytest.skip("nothing may be mounted here")
    try:
        assert run(tmp_path, disk) == NEW
        assert run(tmp_path, disk) == NEW
    finally:
        processes.run(["umount", str(disk)], check=True)


def test_an_error_in_the_cache_is_nobody_s_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def triple(number: int) -> int:
        return 3 * number

    monkeypatch.setattr(cache._CheckedFiles, "save", full)
    monkeypatch.setattr(cache._CheckedFiles, "load", full)
    assert compilation.compiled(triple)(14) == 42


@pytest.mark.slow
def test_the_command_compiles_its_loops_where_that_is_disabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "0")
    (tmp_path / "baskets.csv").write_text("bread,milk,tea\n" * 900)
    done = in_own_process("mine", tmp_path / "baskets.csv", "--size", 2, "--top", 1, *PROMISE, "--release-counts")
    assert done.returncode == 0, words(done)


def test_loops_leave_scipy_alone_until_somebody_s_own_loop_needs_it(tmp_path: Path) -> None:
    """Numba loads it to see whether there is a `dot`, which takes a sixth of a second."""
    pytest.importorskip("scipy")
    loaded = "print('scipy.linalg' in sys.modules)"
    dot = "print(numba.njit(lambda one, two: numpy.dot(one, two))(numpy.ones(3), numpy.ones(3)))"
    (tmp_path / "dot.py").write_text(f"import sys, numba, numpy\n{LOOP}\n{loaded}\n{dot}\n{loaded}\n")
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = processes.run(
        [sys.executable, tmp_path / "dot.py"],
        env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path)},
        text=True,
    )
    assert done.stdout.splitlines()[1:] == ["False", "3.0", "True"], done.stderr


def test_a_library_that_may_not_compile_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache.numba.config, "DISABLE_JIT", 1)
    with pytest.raises(UsageError, match="NUMBA_DISABLE_JIT"):
        compilation.compiled(len)("loop")


@pytest.mark.slow
@pytest.mark.parametrize(("top", "loaded"), [(100, []), (5, ["numba"])])
def test_a_plan_loads_no_polars_and_the_compiler_for_a_few_picks_only(top: int, loaded: list[str]) -> None:
    """Optimal composition of a few picks has a loop. Without numba it takes five times as long."""
    program = (
        f"import sys; sys.argv[1:] = 'plan --size 2 --top {top} --epsilon 1 --delta 1e-6 --unit transaction'.split()\n"
        "from fim_private.cli.app import run\n"
        "try: run()\n"
        "except SystemExit: print(sorted({'numba', 'polars'} & set(sys.modules)))"
    )
    assert processes.run([sys.executable, "-c", program], text=True).stdout.endswith(f"{loaded}\n")
