"""The ledger's bytes: whatever happens to them, they are refused or say exactly what they said."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from fim_private import InputError, Ledger
from fim_private.ledger import chain
from fim_private.ledger.chain import DamagedError, Event
from fim_private.plan import Plan
from fim_private.release import Layout
from tests.ledger.charging import with_events
from tests.sampling import SEED

Spoiling = Callable[[random.Random, bytes], bytes]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory, tenth: Plan) -> Ledger:
    """A ledger in which everything has happened that can happen."""
    ledger = Ledger.create(tmp_path_factory.mktemp("book") / "shop.ledger", epsilon="1", delta="1e-6", dataset="shop")
    for place in range(5):
        name = ledger.charge(
            tenth, command="fim-private mine baskets.csv", layout=Layout(format="basket", separator=",")
        )
        if place != 2:
            ledger.deliver(name)
    ledger.set_total(epsilon="1.5")
    ledger.set_total(epsilon="0.9")
    return ledger


def flipped_bit(randomness: random.Random, data: bytes) -> bytes:
    spoilt = bytearray(data)
    spoilt[randomness.randrange(len(data))] ^= 1 << randomness.randrange(8)
    return bytes(spoilt)


def other_bytes(randomness: random.Random, data: bytes) -> bytes:
    spoilt = bytearray(data)
    for _ in range(randomness.choice((2, 8, 60))):
        spoilt[randomness.randrange(len(data))] = randomness.randrange(256)
    return bytes(spoilt)


def zeroed(size: int) -> Spoiling:
    def spoil(randomness: random.Random, data: bytes) -> bytes:
        at = size * randomness.randrange(-(-len(data) // size))
        return data[:at] + bytes(min(size, len(data) - at)) + data[at + size :]

    return spoil


def truncated(randomness: random.Random, data: bytes) -> bytes:
    return data[: randomness.randrange(len(data))]


def truncated_at_an_event(randomness: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(lines[: randomness.randrange(2, len(lines))])


def swapped(size: int) -> Spoiling:
    def spoil(randomness: random.Random, data: bytes) -> bytes:
        pages = [data[at : at + size] for at in range(0, len(data), size)]
        one, two = randomness.sample(range(len(pages)), 2)
        pages[one], pages[two] = pages[two], pages[one]
        return b"".join(pages)

    return spoil


def without_a_piece(randomness: random.Random, data: bytes) -> bytes:
    start, end = sorted(randomness.choices(range(len(data)), k=2))
    return data[:start] + data[end:]


def without_a_line(randomness: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    del lines[randomness.randrange(len(lines))]
    return b"".join(lines)


def lines_in_another_order(randomness: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    randomness.shuffle(lines)
    return b"".join(lines)


def figure_edited(randomness: random.Random, data: bytes) -> bytes:
    """Change one digit behind the marks, as somebody with an editor would."""
    spoilt = bytearray(data)
    digits = [at for at in range(2 * chain.MARK, len(data)) if data[at : at + 1].isdigit()]
    spoilt[randomness.choice(digits)] = randomness.choice(b"0123456789")
    return bytes(spoilt)


def more_at_the_end(randomness: random.Random, data: bytes) -> bytes:
    return data + randomness.choice((b"\n", bytes(512), b"{}\n", data[-700:], randomness.randbytes(600)))


SPOILINGS: dict[str, Spoiling] = {
    **{spoil.__name__: spoil for spoil in (flipped_bit, other_bytes, truncated, truncated_at_an_event)},
    **{spoil.__name__: spoil for spoil in (without_a_piece, without_a_line, lines_in_another_order)},
    **{spoil.__name__: spoil for spoil in (figure_edited, more_at_the_end)},
    "zeroed sector": zeroed(512),
    "zeroed page": zeroed(4096),
    "swapped sectors": swapped(512),
    "swapped pages": swapped(4096),
}


@pytest.mark.parametrize("spoiling", SPOILINGS)
@pytest.mark.parametrize("copies", [150, pytest.param(3000, marks=pytest.mark.long)])
def test_a_spoilt_copy_is_refused_or_says_exactly_what_the_original_says(
    book: Ledger, tmp_path: Path, spoiling: str, copies: int
) -> None:
    randomness, whole = random.Random(f"{SEED} {spoiling}"), book.path.read_bytes()
    said, path = (book.state(), book.history()), tmp_path / "copy.ledger"
    refused = 0
    for _ in range(copies):
        path.write_bytes(SPOILINGS[spoiling](randomness, whole))
        with suppress(InputError):
            copy = Ledger(path)
            assert (copy.state(), copy.history()) == said
            continue
        refused += 1
    assert refused == 0 if spoiling == "more_at_the_end" else refused > copies / 10


def test_every_truncation_is_refused(book: Ledger) -> None:
    whole = book.path.read_bytes()
    for length in range(0, len(whole), 7):
        with pytest.raises(DamagedError):
            chain.read(whole[:length])


def test_a_stale_file_of_another_program_beside_it_says_nothing(book: Ledger, tmp_path: Path) -> None:
    said, path = book.state(), tmp_path / "shop.ledger"
    path.write_bytes(book.path.read_bytes())
    for suffix in ("-wal", "-journal", "-shm"):
        Path(f"{path}{suffix}").write_bytes(book.path.read_bytes()[:9000])
    assert Ledger(path).state() == said


def event(number: int) -> Event:
    return {"event": "total", "number": number, "text": "é\n\ud800"}


def put(data: bytes, part: bytes, at: int) -> bytes:
    return data[:at] + part + data[at + len(part) :]


def all_ends(before: bytes, added: Event) -> list[bytes]:
    """What a writer leaves behind that ends at any byte of what it writes, in the order of writing."""
    log = chain.read(before)
    line, mark = chain.add(log, added)
    ends = [before + line[:length] for length in range(len(line) + 1)]
    at = log.next_mark
    return ends + [before[:at] + mark[:length] + before[at + length :] + line for length in range(1, chain.MARK, 13)]


def test_a_writer_may_end_at_any_byte_and_the_next_one_goes_on() -> None:
    """Whatever counted goes on counting; what was not written to its end never counts again."""
    whole = with_events([event(number) for number in range(3)])
    for left in all_ends(whole, event(3)):
        log = chain.read(left)
        assert log.events in ([event(number) for number in range(3)], [event(number) for number in range(4)])
        later = put(left, chain.mended(log), log.next_mark) if log.is_spoilt else left
        assert chain.read(later).events == log.events
        log = chain.read(later)
        assert not log.is_spoilt
        line, mark = chain.add(log, event(9))
        later = later[: log.end] + line
        assert chain.read(later).events == [*log.events, event(9)]
        later = put(later, mark, log.next_mark)
        assert chain.read(later).events == [*log.events, event(9)]
        assert b"\n" not in later[: chain.MARK - 1]


def test_a_part_of_an_event_and_a_spoilt_mark_are_damage() -> None:
    """The last event cannot be told from one that was cut short: the mark that knows of it may be the spoilt one."""
    whole = with_events([event(number) for number in range(3)])
    for at in (0, chain.MARK):
        spoilt = whole[:at] + b"x" + whole[at + 1 :]
        assert len(chain.read(spoilt).events) == 3
        with pytest.raises(DamagedError):
            chain.read(spoilt[:-1])
        with pytest.raises(DamagedError):
            chain.read(spoilt + b"x")


def test_the_format_of_a_file_is_known_by_its_beginning() -> None:
    assert chain.format_of(with_events([event(0)])) == 2
    assert chain.format_of(b"fim-private ledger 7: of the future") == 7
    assert chain.format_of(b"SQLite format 3\0".ljust(68) + b"FIML") == 1
    assert chain.format_of(b"SQLite format 3\0".ljust(100)) is None
    assert chain.format_of(b"") is None


@pytest.mark.parametrize("text", [b"[]", b"{", b"[" * 100_000, b"1" * 5000, b"\xff"])
def test_an_event_that_is_none_is_damage_whatever_its_hash_says(text: bytes) -> None:
    digest = chain._hash(text, chain._START)
    mark = chain._mark(1, digest)
    with pytest.raises(DamagedError):
        chain.read(mark * 2 + f"{digest} ".encode() + text + b"\n")


def test_ten_thousand_releases_are_read_in_well_under_a_second(book: Ledger, tmp_path: Path) -> None:
    events = chain.read(book.path.read_bytes()).events
    charged = next(event for event in events if event["event"] == "charged")
    lines, head = [], chain._START
    charged["charged"]["epsilon"] = "1/20000"
    for happened in [events[0], *({**charged, "id": str(number)} for number in range(10_000))]:
        line, head = chain._line(happened, head)
        lines.append(line)
    path = tmp_path / "long.ledger"
    path.write_bytes(chain._mark(10_001, head) * 2 + b"".join(lines))
    ledger = Ledger(path)
    began = time.process_time()
    state = ledger.state()
    assert time.process_time() - began < 3  # a quarter of a second on a machine that is not busy
    assert (state.releases, state.spent.epsilon) == (10_000, Fraction(1, 2))
