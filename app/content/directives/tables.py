"""Data of a lesson's own: a table of numbers, or a text, in a file beside it."""

from app.content.blocks import Forward, Input, Table
from app.content.directives.input_values import shape_in
from app.content.directives.parse_context import ParseContext
from app.content.text.options import Options

FEWEST, MOST = 20, 20_000
"""Rows that a run needs, and numbers that it may have: they are sent along with it."""


def table_of(forward: Forward, reads: tuple[str, str], options: Options, reading: ParseContext) -> Table | None:
    """The examples in the file that `:data:` names; None after a fault was added."""
    name = options.needed_text("data", "points.csv")
    text = reading.beside(name) if name else None
    if not name:
        return None
    if text is None:
        fix = "Put it there, as UTF-8 text, called by letters, digits and hyphens, with '.csv' or '.txt'."
        options.wrong("data", "no-data", f"There is no data file {name!r} beside this lesson.", fix)
        return None
    inputs = {tensor_input.name: tensor_input for tensor_input in forward.inputs}
    examples, target = (inputs[item] for item in reads)
    width = shape_in(forward, examples)[1]
    rows = _windows(text, width) if name.endswith(".txt") else _rows(text)
    fault = rows if isinstance(rows, str) else _unfit(rows, width)
    if not fault and not isinstance(rows, str):
        fault = _outside(examples, forward, [number for row in rows for number in row[:width]])
        fault = fault or _outside(target, forward, [row[width] for row in rows])
    if fault or isinstance(rows, str):
        options.wrong("data", "wrong-data", f"{name}: {fault}")
        return None
    return Table(
        source=name,
        contexts=tuple(tuple(row[:width]) for row in rows),
        targets=tuple(row[width] for row in rows),
        whole=not examples.real,
        classes=not target.real,
    )


def _rows(text: str) -> list[list[float]] | str:
    """The numbers of a table, below its head if it has one; or the line that holds something else."""
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            rows += [[float(cell) for cell in line.split(",")]] if line.strip() else []
        except ValueError:
            if number > 1:
                fix = " Its numbers are divided by commas, and written with a point." if ";" in line else ""
                return f"line {number} holds something that is no number: {line[:40]!r}.{fix}"
    return rows


def _windows(text: str, width: int) -> list[list[float]]:
    """For each character of *text* the *width* before it, and itself; numbered in the order of their codes."""
    symbols = {symbol: float(index) for index, symbol in enumerate(sorted(set(text)))}
    numbers = [symbols[symbol] for symbol in text]
    return [numbers[end - width : end + 1] for end in range(width, len(numbers))]


def _unfit(rows: list[list[float]], width: int) -> str:
    """Say why *rows* are no examples of *width* numbers with one target each; empty if they are."""
    wrong = next((number for number, row in enumerate(rows, start=1) if len(row) != width + 1), None)
    if wrong:
        return f"row {wrong} has {len(rows[wrong - 1])} numbers; it needs {width} and, last, its target."
    if len(rows) < FEWEST or len(rows) * (width + 1) > MOST:
        return f"it has {len(rows)} rows; a run needs {FEWEST} at least, and {MOST:,} numbers at most."
    return "" if all(abs(number) < 1e30 for row in rows for number in row) else "it holds a number that is not finite."


def _outside(input_: Input, forward: Forward, numbers: list[float]) -> str:
    """Say why *numbers* cannot be entries of *input_*; empty if they can."""
    if input_.real or input_.bound is None:
        return ""
    bound = shape_in(forward, Input(name="", sizes=(input_.bound,)))[0]
    wrong = next((number for number in numbers if number != int(number) or not 0 <= number < bound), None)
    return "" if wrong is None else f"{wrong:g} is no whole number below {bound}, as {input_.name!r} has them."
