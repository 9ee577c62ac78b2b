"""How much a Parquet file claims to hold, read without unpacking any of it.

A file of 672 bytes can hold a list of 200 million items. The footer says how many values each column has. As it may
lie, the headers of the pages, which Polars follows, are read too. Both use Thrift's compact protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fim_private.transactions.files.source import PARQUET

LONGEST = 1 << 26
"""Most bytes of a footer: a million columns take as much."""

DEEPEST = 16
"""Most levels of nested Thrift structures; Parquet needs seven."""

Struct = dict[int, Any]


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much a file holds.

    Args:
        rows: the number of rows.
        values: the number of values of the column with the most; items inside lists count one by one.
        cells: the number of values of all columns.
        unpacked: the bytes of all pages when unpacked.
        depth: how deep lists and structures are nested.
        digits: the most digits of a decimal column.
    """

    rows: int
    values: int
    cells: int
    unpacked: int
    depth: int
    digits: int


def extent(data: bytes) -> Extent:
    """How much a Parquet file claims to hold.

    Errors:
        ValueError: the footer cannot be read.
    """
    end = len(data) - 8
    length = int.from_bytes(data[end : end + 4], "little")
    if end < len(PARQUET) or not data.endswith(PARQUET) or not 0 < length <= min(end, LONGEST):
        raise ValueError("there is no footer")
    try:
        said = _Thrift(data, end - length).struct()
        groups = said.get(4, [])
        values: dict[int, int] = {}
        unpacked = 0
        for group in groups:
            for column, chunk in enumerate(group[1]):
                held, bytes_of_it = _chunk(data, chunk[3])
                values[column] = values.get(column, 0) + held
                unpacked += bytes_of_it
        return Extent(
            rows=max(said[3], sum(group[3] for group in groups)),
            values=max(values.values(), default=0),
            cells=sum(values.values()),
            unpacked=unpacked,
            depth=_depth(said[2]),
            digits=max(element.get(8, 0) for element in said[2]),
        )
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("the footer is damaged") from error


def _chunk(data: bytes, said: Struct) -> tuple[int, int]:
    """Values and unpacked bytes of one column of one row group: by the footer or by the pages, whichever is more."""
    at = said.get(11) or said[9]
    end = min(at + said[7], len(data))
    values, unpacked = 0, 0
    while 0 <= at < end:
        page = _Thrift(data, at)
        try:
            head = page.struct()
            at = page.at + max(head[3], 0)
            values += max(0, *(head.get(kind, {}).get(1, 0) for kind in (5, 7, 8)))
            unpacked += max(head[2], 0)
        except (ValueError, LookupError):
            break  # some writers leave room after the last page
    return max(values, said[5]), max(unpacked, said[6])


def _depth(schema: list[Struct]) -> int:
    """The depth of a schema, which is a list of elements with each parent before its children."""
    left: list[int] = []
    deepest = 0
    for element in schema:
        left.append(element.get(5, 0))
        deepest = max(deepest, len(left))
        while left and left[-1] <= 0:
            left.pop()
            if left:
                left[-1] -= 1
    return deepest


class _Thrift:
    """Reads values of the compact protocol. All methods raise a ValueError or an IndexError for anything else."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self.at = at

    def struct(self, depth: int = 0) -> Struct:
        """The fields of a structure by number."""
        fields: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            # The kind of the field holds the value of a boolean.
            fields[number] = head & 15 == 1 if head & 15 in (1, 2) else self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError("this is too deep")
        match kind:
            case 1 | 2 | 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._whole()
            case 7:
                return self._bytes(8)
            case 8:
                return self._bytes(self._varint())
            case 9 | 10:
                head = self._byte()
                size = head >> 4 if head >> 4 < 15 else self._varint()
                # Each element takes at least a byte, so this ends where the data ends.
                return [self._element(head & 15, depth) for _ in range(size)]
            case 12:
                return self.struct(depth + 1)
        raise ValueError("this kind of value is not in Parquet's footers")

    def _element(self, kind: int, depth: int) -> Any:
        return self.struct(depth + 1) if kind == 12 else self._value(kind, depth + 1)

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _bytes(self, size: int) -> bytes:
        start, self.at = self.at, self.at + size
        if self.at > len(self._data):
            raise ValueError("the data ends too early")
        return self._data[start : self.at]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._data[self.at]
            self.at += 1
            if byte < 128:
                return value | byte << shift
            value |= (byte & 127) << shift
        raise ValueError("this is not a number")

    def _whole(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
