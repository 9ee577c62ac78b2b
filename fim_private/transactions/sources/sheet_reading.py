"""Read one sheet of an Excel workbook as text, in a process of its own (see `limited_process`).

The argument is the wanted sheet as a JSON text, or "" for the only one. The workbook is standard input. Standard output
is the sheet as an Arrow file of strings, or the number of sheets if the wanted one is not clear.
"""

from __future__ import annotations

import io
import json
import sys

UNCLEAR = 70
"""The exit code if the wanted sheet does not exist, or none is named and there are several."""


def sheet_number(names: list[str], wanted: str) -> int | None:
    """The position of the wanted sheet, from 0; None if it is not clear. A name comes before a number from 1."""
    if not wanted:
        return 0 if len(names) == 1 else None
    if names.count(wanted) == 1:
        return names.index(wanted)
    if wanted.isascii() and wanted.isdecimal() and len(wanted) < 6 and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    return None


def main() -> int:
    """Do what the module says; the result is the exit code."""
    import fastexcel  # noqa: PLC0415 - an extra

    workbook = fastexcel.read_excel(sys.stdin.buffer.read())
    number = sheet_number(workbook.sheet_names, json.loads(sys.argv[1]))
    if number is None:
        sys.stdout.write(str(len(workbook.sheet_names)))
        return UNCLEAR
    # As text, value by value: for typed columns the library would look at all values of a column.
    sheet = workbook.load_sheet(number, header_row=None, dtypes="string").to_polars()
    buffer = io.BytesIO()
    sheet.write_ipc(buffer)
    sys.stdout.buffer.write(buffer.getbuffer())
    return 0


if __name__ == "__main__":
    sys.exit(main())
