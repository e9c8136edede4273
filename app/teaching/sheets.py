"""Tables as text: what is pasted or uploaded, and what is given out to be opened by a program for tables."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

FORMULA = re.compile(r"""(?:^|(?<=[;\t\r\n]))(?=[\t\r]|[ "]*[=+\-@＝＋－＠])""")
"""Before what a program would run; where a list is separated by semicolons, a cell may begin within a cell of ours, and
quotation marks before it are taken for its own.
"""
MOST_ROWS = 5000
SEPARATORS = "\t;,|"
SEPARATOR = re.compile(r'"?sep=([\t;|,])"?,*', re.IGNORECASE)
"""The line by which Excel says what separates the columns of a file."""


class SheetError(ValueError):
    """The text cannot be read as a table from *line* on; the message says why."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def text_of(data: bytes) -> str:
    """The text of a file, as programs for tables write it: in UTF-8, in UTF-16, or else in Windows' own letters."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def rows_of(text: str) -> list[tuple[int, list[str]]]:
    """The rows that are not empty, each with the number of its line.

    A first line such as `sep=;` says what separates columns; without one it is the first of tab, semicolon, comma and
    bar that the first row holds.

    Raises:
        SheetError: A quote is not closed, or there are too many rows.
    """
    text = text.removeprefix("\ufeff")
    first = next((line for line in text.splitlines() if line.strip()), "")
    says = SEPARATOR.fullmatch(first.strip(" "))
    separator = says[1] if says else next((name for name in SEPARATORS if name in first), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[tuple[int, list[str]]] = []
    line = 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells) and not (says and not rows and _says_separator(cells)):
                rows.append((line + 1, cells))
            line = reader.line_num
            if len(rows) > MOST_ROWS + 1:
                raise SheetError(line, f"More than {MOST_ROWS:,} rows. Send them in parts.")
    except csv.Error:
        raise SheetError(line + 1, 'A quotation mark is not closed. Write " around a whole cell.') from None
    return rows


def _says_separator(cells: Sequence[str]) -> bool:
    return cells[0].strip().casefold().startswith("sep=")


def as_sheet(rows: Iterable[Sequence[object]]) -> str:
    """*rows* as CSV that no program takes for formulas, with the mark by which Excel knows UTF-8."""
    out = io.StringIO()
    out.write("\ufeff")
    csv.writer(out).writerows([guard_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def guard_cell(cell: object) -> str:
    """*cell* as a program for tables shows it, and never runs it.

    Source: https://owasp.org/www-community/attacks/CSV_Injection
    """
    if isinstance(cell, int | float):
        return str(cell)
    text = "" if cell is None else str(cell)
    return FORMULA.sub("'", text)
