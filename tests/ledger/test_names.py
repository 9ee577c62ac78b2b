"""One ledger by several names: whatever it is called, it grants no more than its total."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fim_private import BudgetError, Ledger
from tests import processes
from tests.ledger.charging import PROCESSES, plan_for, race
from tests.processes import side_by_side

TOTAL = 7


def hard_link(path: Path, other: Path) -> None:
    other.hardlink_to(path)


def symbolic_link(path: Path, other: Path) -> None:
    other.symlink_to(path)


def link_in_a_read_only_folder(path: Path, other: Path) -> None:
    other.symlink_to(path)
    other.parent.chmod(0o555)


@contextmanager
def mounted(path: Path, other: Path) -> Iterator[bool]:
    """The file itself under another name, as `docker run -v FILE:FILE` has it; False where mounting is not allowed."""
    other.touch()
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    command = [mount or "", "--bind", str(path), str(other)]
    if mount is None or unmount is None or processes.run(command).returncode:
        yield False
        return
    try:
        yield True
    finally:
        processes.run([unmount, "--lazy", str(other)], check=True)


@contextmanager
def linked(link: Callable[[Path, Path], None], path: Path, other: Path) -> Iterator[bool]:
    link(path, other)
    try:
        yield True
    finally:
        other.parent.chmod(0o755)


WAYS = {
    "hard link": lambda path, other: linked(hard_link, path, other),
    "symbolic link": lambda path, other: linked(symbolic_link, path, other),
    "symbolic link in a read-only folder": lambda path, other: linked(link_in_a_read_only_folder, path, other),
    "bind mount of the file": mounted,
}


def rounds(way: str, folder: Path, number: int) -> None:
    for place in range(number):
        (folder / f"{place}" / "other").mkdir(parents=True)
        path, other = folder / f"{place}" / "shop.ledger", folder / f"{place}" / "other" / "books"
        ledger = Ledger.create(path, epsilon=TOTAL, delta=0)
        with WAYS[way](path, other) as named:
            if not named:
                pytest.skip("files cannot be mounted here")
            granted = sum(race((path, other)))
            assert granted == TOTAL
            for name in (path, other):
                assert Ledger(name).state().spent.epsilon == TOTAL
                with pytest.raises(BudgetError):
                    Ledger(name).charge(plan_for("1"))
        assert len({entry.id for entry in ledger.history() if entry.what == "release"}) == TOTAL


@pytest.mark.parametrize("way", WAYS)
def test_two_names_share_one_total(tmp_path: Path, way: str) -> None:
    rounds(way, tmp_path, 2)


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_two_names_share_one_total_in_fifty_rounds(tmp_path: Path, way: str) -> None:
    rounds(way, tmp_path, 50)


def charge_and_die(path: Path) -> None:
    """Charge, and be gone without tidying up."""
    Ledger(path).charge(plan_for("1"))
    os._exit(9)


@pytest.mark.parametrize("way", ["hard link", "bind mount of the file"])
def test_what_a_dead_process_charged_by_one_name_is_seen_by_the_other(tmp_path: Path, way: str) -> None:
    (tmp_path / "other").mkdir()
    path, other = tmp_path / "shop.ledger", tmp_path / "other" / "books"
    Ledger.create(path, epsilon=2, delta=0)
    with WAYS[way](path, other) as named:
        if not named:
            pytest.skip("files cannot be mounted here")
        for name, spent in ((path, 1), (other, 2)):
            with side_by_side(PROCESSES.Process(target=charge_and_die, args=(name,))):
                pass
            assert {Ledger(path).state().spent.epsilon, Ledger(other).state().spent.epsilon} == {spent}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["other", "shop.ledger"]
    assert [file.name for file in (tmp_path / "other").iterdir()] == ["books"]
