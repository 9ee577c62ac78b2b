"""Small Excel workbooks, written by hand."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime
from xml.sax.saxutils import escape

Cell = str | float | bool | date | datetime | None

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
FORMATS = (0, 14, 22)
"""Excel's numbers for the formats General, a date, and a date with the time of day."""


def workbook(sheets: dict[str, list[list[Cell]]], **more: bytes) -> bytes:
    """A workbook with these sheets of rows, and perhaps more parts under xl/."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        listed = "".join(
            f'<sheet name="{escape(name)}" sheetId="{place}" r:id="rId{place}"/>'
            for place, name in enumerate(sheets, start=1)
        )
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>'
        )
        parts = [("worksheet", f"worksheets/sheet{place}.xml") for place in range(1, len(sheets) + 1)]
        archive.writestr("xl/_rels/workbook.xml.rels", _relations([*parts, ("styles", "styles.xml")]))
        formats = "".join(f'<xf numFmtId="{number}"/>' for number in FORMATS)
        archive.writestr("xl/styles.xml", f'<styleSheet xmlns="{MAIN}"><cellXfs>{formats}</cellXfs></styleSheet>')
        for place, rows in enumerate(sheets.values(), start=1):
            archive.writestr(f"xl/worksheets/sheet{place}.xml", sheet(rows))
        for name, data in more.items():
            archive.writestr(f"xl/{name}", data)
    return buffer.getvalue()


def sheet(rows: list[list[Cell]], more: str = "") -> str:
    """A sheet as XML, with more rows as XML."""
    lines = [
        f'<row r="{number}">{"".join(_cell(f"{chr(65 + at)}{number}", cell) for at, cell in enumerate(row))}</row>'
        for number, row in enumerate(rows, start=1)
    ]
    return f'<worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}{more}</sheetData></worksheet>'


def _cell(place: str, cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        text = f'<is><t xml:space="preserve">{escape(cell)}</t></is>'
        return f'<c r="{place}" t="inlineStr">{text}</c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, datetime):
        days = (cell - datetime(1899, 12, 30)).total_seconds() / 86400
        return f'<c r="{place}" s="2"><v>{days!r}</v></c>'
    if isinstance(cell, date):
        return f'<c r="{place}" s="1"><v>{(cell - date(1899, 12, 30)).days}</v></c>'
    return f'<c r="{place}"><v>{cell!r}</v></c>'


def _relations(parts: list[tuple[str, str]]) -> str:
    lines = "".join(
        f'<Relationship Id="rId{place}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for place, (kind, target) in enumerate(parts, start=1)
    )
    return f'<Relationships xmlns="{PACKAGE}">{lines}</Relationships>'
