"""The ledger's file as bytes: two marks, and a log of events. Each event's hash includes the one before.

    fim-private ledger 2: 3 events, head 5f0c..., check 91ab...     (4096 bytes, filled up with blanks)
    fim-private ledger 2: 2 events, head 7d11..., check c203...     (the same)
    09aa... {"event": "created", "epsilon": "3", ...}
    7d11... {"event": "charged", "id": ..., "epsilon": "1", ...}
    5f0c... {"event": "delivered", "id": ...}

The hashes show if an event was changed, dropped or moved. They cannot show that the last events are missing. So a mark
holds the number of events and the hash of the last one. A writer first puts the event on the disk, then replaces the
older of the two marks. So one mark is whole whenever the writer ends. After the events that the marks know of, the file
may hold:
    whole events: the writer ended before it wrote its mark. The events count, although no caller was told. This loses
    budget, not privacy;
    a part of an event: the writer ended while it wrote the event. No caller was told, and the next writer cuts it off.
A writer that finds a spoilt mark repairs it first. So no writer leaves both a part of an event and a spoilt mark: a
file with both is damaged.

One pair of damages is not found: the newer mark is spoilt, and the file is cut exactly where the last event began. This
looks like a spoilt older mark, with which no event is lost.

The hashes find accidents and clumsy edits. Someone who wants to deceive can compute new hashes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

Event = dict[str, Any]

FORMAT = 2
MARK = 4096
"""The bytes of a mark: as many as a disk writes at once."""
_START = "0" * 64
_KIND = re.compile(rb"fim-private ledger ([0-9]{1,9}):")
_TEXT = re.compile(rb"fim-private ledger [0-9]+: ([0-9]{1,15}) events, head ([0-9a-f]{64}), check [0-9a-f]{64} *\n")


class DamagedError(Exception):
    """The bytes are not what a ledger's writer leaves behind."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """What a ledger's bytes say.

    Args:
        events: oldest first.
        head: the hash of the last event.
        end: where the next event goes.
        next_mark: the place of the mark that the next writer replaces.
        is_spoilt: whether that mark is unreadable and has to be repaired first.
    """

    events: list[Event]
    head: str
    end: int
    next_mark: int
    is_spoilt: bool


def format_of(data: bytes) -> int | None:
    """The format of a ledger's bytes; None if they are not a ledger. Format 1 was an SQLite database."""
    if data.startswith(b"SQLite format 3\0") and data[68:72] == b"FIML":
        return 1
    found = [int(kind[1]) for kind in (_KIND.match(data), _KIND.match(data, MARK)) if kind]
    return FORMAT if FORMAT in found else max(found, default=None)


def begin(event: Event) -> bytes:
    """The whole file of a new ledger whose first event this is."""
    line, head = _line(event, _START)
    return _mark(1, head) * 2 + line


def add(log: Log, event: Event) -> tuple[bytes, bytes]:
    """The bytes to write at `log.end`, and, once these are on the disk, the bytes for `log.next_mark`."""
    line, head = _line(event, log.head)
    return line, _mark(len(log.events) + 1, head)


def mended(log: Log) -> bytes:
    """The bytes that replace the spoilt mark."""
    return _mark(len(log.events), log.head)


def read(data: bytes) -> Log:
    """Read a ledger's bytes and check every hash.

    Raises:
        DamagedError: the bytes contradict themselves, or something is missing.
    """
    heads, texts, end = [_START], [], 2 * MARK
    for line in data[end:].split(b"\n")[:-1]:
        text = line[65:]
        head = _hash(text, heads[-1])
        if line[:65] != f"{head} ".encode():
            break
        heads.append(head)
        texts.append(text)
        end += len(line) + 1
    marks = [_known(data[at : at + MARK]) for at in (0, MARK)]
    known = [mark for mark in marks if mark is not None]
    if not known or any(number >= len(heads) or heads[number] != head for number, head in known):
        raise DamagedError
    if len(known) < len(marks) and end < len(data):
        raise DamagedError
    numbers = [-1 if mark is None else mark[0] for mark in marks]
    try:
        events = [json.loads(text) for text in texts]
    except (ValueError, RecursionError):
        raise DamagedError from None
    if not all(isinstance(event, dict) for event in events):
        raise DamagedError
    oldest = min(numbers)
    return Log(events=events, head=heads[-1], end=end, next_mark=MARK * numbers.index(oldest), is_spoilt=oldest == -1)


def _line(event: Event, before: str) -> tuple[bytes, str]:
    text = json.dumps(event).encode()  # ASCII alone: no line ends inside, and text of any kind can be written
    head = _hash(text, before)
    return f"{head} ".encode() + text + b"\n", head


def _mark(number: int, head: str) -> bytes:
    text = f"fim-private ledger {FORMAT}: {number} events, head {head}"
    return f"{text}, check {_hash(text.encode())}".ljust(MARK - 1).encode() + b"\n"


def _known(mark: bytes) -> tuple[int, str] | None:
    """The number of events that a mark states, and the hash of the last; None if the mark is spoilt."""
    found = _TEXT.fullmatch(mark)
    if found is None:
        return None
    number, head = int(found[1]), found[2].decode()
    return (number, head) if mark == _mark(number, head) else None


def _hash(text: bytes, before: str = "") -> str:
    return sha256(before.encode() + text).hexdigest()
