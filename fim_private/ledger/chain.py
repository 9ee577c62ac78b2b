"""The ledger's file as bytes: two marks, and a log of events in which each is hashed together with the one before.

    fim-private ledger 2: 3 events, head 5f0c..., check 91ab...     (4096 bytes, filled up with blanks)
    fim-private ledger 2: 2 events, head 7d11..., check c203...     (the same)
    09aa... {"event": "created", "epsilon": "3", ...}
    7d11... {"event": "charged", "id": ..., "epsilon": "1", ...}
    5f0c... {"event": "delivered", "id": ...}

The hashes show that an event was changed, dropped or moved. They cannot show that the last events are missing, so a
mark says how many there are, and the hash of the last. A writer puts the event on the disk first and then replaces the
older of the two marks, so that one mark is whole whenever the writer ends. What follows the events that the marks know
of can be:
    whole events: the writer ended before its mark. They count, though nobody was told: this loses budget, not privacy;
    a part of an event: the writer ended in the middle of it. Nobody was told, and the next writer cuts it off.
A writer that finds a spoilt mark mends it before it does anything else. So none leaves a part of an event and a spoilt
mark at once: where both are found, the file is damaged.

This finds accidents and clumsy edits. Whoever means to deceive can compute the hashes anew.
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
"""Bytes of a mark: what a disk writes at once."""
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
        head: hash of the last.
        end: where the next one goes.
        next_mark: where the mark is that the next writer replaces.
        is_spoilt: whether that mark says nothing and has to be mended first.
    """

    events: list[Event]
    head: str
    end: int
    next_mark: int
    is_spoilt: bool


def format_of(data: bytes) -> int | None:
    """The format of a ledger's bytes; None of what is no ledger. Format 1 was an SQLite database."""
    if data.startswith(b"SQLite format 3\0") and data[68:72] == b"FIML":
        return 1
    found = [int(kind[1]) for kind in (_KIND.match(data), _KIND.match(data, MARK)) if kind]
    return FORMAT if FORMAT in found else max(found, default=None)


def begin(event: Event) -> bytes:
    """The whole file of a ledger in which this has happened."""
    line, head = _line(event, _START)
    return _mark(1, head) * 2 + line


def add(log: Log, event: Event) -> tuple[bytes, bytes]:
    """What is to be written at `log.end`, and then, once that is on the disk, at `log.next_mark`."""
    line, head = _line(event, log.head)
    return line, _mark(len(log.events) + 1, head)


def mended(log: Log) -> bytes:
    """What is to be written in place of the spoilt mark."""
    return _mark(len(log.events), log.head)


def read(data: bytes) -> Log:
    """What the bytes say, every hash compared.

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
    """How many events a mark knows of, and the hash of the last; None if the mark is spoilt."""
    found = _TEXT.fullmatch(mark)
    if found is None:
        return None
    number, head = int(found[1]), found[2].decode()
    return (number, head) if mark == _mark(number, head) else None


def _hash(text: bytes, before: str = "") -> str:
    return sha256(before.encode() + text).hexdigest()
