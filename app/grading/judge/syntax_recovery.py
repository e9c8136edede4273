"""Syntax recovery: unparsable lines are blanked, so that the others can be judged: a bracket costs only its line.

Such a line becomes a blank, `dW = ____`, in its own place: line numbers stay, and the name that it would have written
is known to be missing.
"""

import re
from dataclasses import dataclass, replace
from keyword import kwlist

from app.notations import SIGN_NOTATIONS
from app.syntax import parse_code

MOST_FAULTS = 8
MOST_LINES = 400
_NAME = rf"(?!(?:{'|'.join(kwlist)}|print)\b|[eE][-+\d]|_\d)[A-Za-z_]\w*"  # and no exponent
_WORDS = r"(?<!\S)[A-Za-z][a-z]*(?:'[a-z]+)?,?(?: [a-z]+(?:'[a-z]+)?\b){2}"
_PROSE = rf"^(?!(?:{'|'.join(kwlist)}|print)\b)[^=\[\]#\"]{{0,80}}?{_WORDS}[^=]*$"
_FOREIGN = (
    (r"^(?:>>>|\.\.\.)", "`{}` is what Python shows before a line; delete it"),
    (r"^(?:```|~~~)", "three such signs begin and end code in a text; delete this line"),
    (r"^[%!]", "a line with `{}` in front is for a notebook; delete it"),
    *SIGN_NOTATIONS,
    (r"[\u00b9\u00b2\u00b3\u2070-\u207e]", "`{}` is no power in Python; a power is written `**`, such as `y ** 2`"),
    (r"\u221a", "`{}` is no sign of Python; a root is written `** 0.5`, or `torch.sqrt(x)`"),
    (r"(?<![=!<>*/])(?:\*\*|//|[-+*/@=])$", "nothing follows the `{}`; write `____` to leave it blank for now"),
    (
        r"^d\w*\s*/\s*d(\w+)\s*=",
        "a gradient is written without a fraction; that of `{1}` is called `d{1}`",
    ),
    (
        r"^(?:let|var|const|val|auto|float|double|Tensor)\s+[A-Za-z_]",
        "a name is given its value without a word in front",
    ),
    (r"(?<=[\w)\]])\.?'(?=\s*(?:[-+*/@;.)]|$))", "a transpose is no dash but `.T`, and a matrix product is `@`"),
    (_PROSE, "it is a sentence; delete it, or put a `#` in front"),
    (r"(?<=[A-Za-z_)\]])\.(?=$|[-+*/@)\s])", "behind the `.` a name is missing, such as `.T`"),
    (
        r"(?<![\w.])([A-Za-z_]\w{0,40})\((?:\s*|[^()\[\]{}:]{0,60},\s*):",
        "a part of a tensor stands in square brackets, such as `{1}[:, 0]`",
    ),
    (r"\u2190|:=|^[^()]*->|=>", "a name gets its value by a single `=`"),
    (r"&&|\|\|", "Python writes `and` and `or`; between tensors `&` and `|`"),
    (r"[^\x00-\x7f\w]", "`{}` is no sign that Python reads"),
    (
        rf"^{_NAME} (?:{_NAME}|\d+\b)(?![^\"']{{0,200}}[\"'])",
        "in `{}` a sign is missing; an `=` gives a name its value, and a `*` or an `@` makes a product",
    ),
    (
        rf"(?:(?<![\w.])(?:\d++(?:\.\d*+)? ?|{_NAME} )|[)\]] ?)(?:{_NAME}|\d+\b)(?![^\"']{{0,200}}[\"'])",
        "in `{}` a sign is missing; a product is written with a `*`, one of matrices with an `@`",
    ),
)
"""What comes along with a text that was pasted, or is written on paper and not in Python; the most telling first."""
_PYTHONS = (
    (r"^unmatched '(.)'", "the `{1}` closes nothing"),
    (r"^'(.)' was never closed", "the `{1}` is never closed"),
    (
        r"^closing parenthesis '(.)' does not match opening parenthesis '(.)'",
        "a `{1}` stands where a `{2}` is to be closed",
    ),
    (r"^expected ':'", "its end lacks a colon, `:`"),
    (r"^unexpected indent", "it begins further right than the line above; let both begin at the same place"),
    (r"^expected an indented block after '(\w+)'", "what belongs to the `{1}` above begins four spaces further right"),
    (r"^unindent does not match", "it begins at another place than the lines around it"),
    (r"^'return' outside function", "nothing is returned here; give the value to a name, such as `dx = …`"),
    (r"^unterminated string literal", "a `'` or `\"` begins a text that does not end; a transpose is `.T`"),
    (r"^inconsistent use of tabs", "tabs and spaces stand in front of it; use spaces alone"),
    (r"^Missing parentheses in call to '(\w+)'", "`{1}` is called with parentheses, `{1}(…)`"),
    (r"Maybe you meant '==' or ':='", "inside of an expression a single `=` gives nothing a value; `==` compares"),
    (r"^cannot assign to", "in front of the `=` stands the name that gets the value, and nothing else"),
)
"""What Python says of a line, in words that need no grammar."""
_WRITES = re.compile(r"([A-Za-z]\w*) ?([-+*/@]?=(?!=)|[.\[])")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnparsableLine:
    """Unparsable line, from *line* on; *extent* lines after it belong to it."""

    message: str
    line: int
    column: int | None = None
    extent: int = 0

    @property
    def end(self) -> int:
        return self.line + self.extent


def fault_in(error: SyntaxError, code: str) -> UnparsableLine:
    """Describe a syntax *error* of *code*, with its line."""
    lines = code.splitlines()
    line = lines[error.lineno - 1].strip() if error.lineno and error.lineno <= len(lines) else ""
    matches = ((re.search(pattern, line.partition("#")[0].rstrip()), reason) for pattern, reason in _FOREIGN)
    told = next((reason.format(match[0], *match.groups()) for match, reason in matches if match), "")
    reason = told or in_words(error.msg or "invalid syntax")
    message = f"This line is not Python yet: {reason}." + (f" It reads `{line[:80]}`." if line else "")
    return UnparsableLine(message=message, line=error.lineno or 1, column=error.offset)


def in_words(message: str) -> str:
    """Message of Python, without its grammar."""
    matches = ((re.search(pattern, message), words) for pattern, words in _PYTHONS)
    return next((words.format(match[0], *match.groups()) for match, words in matches if match), message.rstrip(".?"))


def blank_unparsable_lines(code: str) -> tuple[str, tuple[UnparsableLine, ...]]:
    """*code* with a blank for each line that is no Python, and what is wrong with those lines.

    *code* itself and no fault where it is Python, and where too little of it is.
    """
    lines = code.split("\n")
    error = _error(lines)
    if error is None or len(lines) > MOST_LINES:
        return code, ()
    faults: list[UnparsableLine] = []
    while error is not None and len(faults) <= MOST_FAULTS:
        at = _culprit(lines, error)
        if at is None:
            return code, ()
        before = faults[-1] if faults else None
        if before is not None and at == before.end and isinstance(error, IndentationError):
            faults[-1] = replace(before, extent=before.extent + 1)
        else:
            faults.append(replace(fault_in(error, code), line=at + 1))
        lines[at] = _blank(lines, at, error)
        error = _error(lines)
    gone = {at for unparsable_line in faults for at in range(unparsable_line.line - 1, unparsable_line.end)}
    kept = any(line.strip() and not line.lstrip().startswith("#") for at, line in enumerate(lines) if at not in gone)
    if error is not None or not kept:
        return code, ()
    return "\n".join(lines), tuple(sorted(faults, key=lambda unparsable_line: unparsable_line.line))


def _error(lines: list[str]) -> SyntaxError | None:
    try:
        parse_code("\n".join(lines))
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _culprit(lines: list[str], error: SyntaxError) -> int | None:
    """The index of the line without which the text is Python, or wrong in another place."""
    message = (error.lineno or 1) - 1
    for at in (message, message - 1, message + 1):
        if not 0 <= at < len(lines) or not lines[at].strip():
            continue
        without = [*lines[:at], _blank(lines, at, error), *lines[at + 1 :]]
        after = _error(without)
        if after is None or (after.lineno, after.msg) != (error.lineno, error.msg):
            return at
    return None


def _blank(lines: list[str], at: int, error: SyntaxError) -> str:
    """A blank for the name that the line would have written; a change of the name keeps what was there before."""
    line = lines[at].lstrip()
    level = lines[at]
    if isinstance(error, IndentationError):
        level = next((name for name in reversed(lines[:at]) if name.strip()), "")
    indent = level[: len(level) - len(level.lstrip())]
    match = _WRITES.match(line)
    if match is None:
        return f"{indent}pass"
    return f"{indent}{match[1]} {'=' if match[2] == '=' else '+='} ____"
