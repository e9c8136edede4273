"""A bug hunt judged: was the planted line named, and is it the only one that was changed?

The line that a learner names travels at the end of the text, as a comment: what is stored, restored, sent from a
terminal and graded is one text.
"""

import re
from dataclasses import dataclass, replace

from app.content.blocks import Bug
from app.grading.judge.verdict import INNOCENT, NameVerdict
from app.syntax import Statement, every_name_in, names_stored, parse_code, syntax_key

LINE = "line"
MEND = "mending"
OTHERS = "other lines"
WRONG_LINE, PREDICTED = "wrong line", "predicted"
_MARK = re.compile(rf"# ?({WRONG_LINE}|{PREDICTED}): ?(\d{{1,6}})")


@dataclass(frozen=True, slots=True)
class CodeChanges:
    """Changes of the given code.

    Args:
        mended: The planted statement is no longer there, in its place.
        others: Lines of the given code, from 1, of other statements that are gone.
        added: Statements stand outside of the planted one's place that were not given.
        instead: The lines of the one statement that was exchanged, where it is another one and nothing else changed.
        alone: A single statement is left, and it reads what others made.
    """

    mended: bool
    others: tuple[int, ...]
    added: bool
    instead: range | None = None
    alone: bool = False

    @property
    def in_place(self) -> bool:
        """The planted statement was changed or moved, and nothing else."""
        return self.mended and not self.others and not self.added

    @property
    def none(self) -> bool:
        return not (self.mended or self.others or self.added)


def with_line(code: str, line: int, word: str = WRONG_LINE) -> str:
    """*code* with the number of the wrong line, or of what was predicted; `split_line` takes it apart again."""
    return f"{split_line(code, word)[0]}\n# {word}: {line}"


def split_line(text: str, word: str = WRONG_LINE) -> tuple[str, int | None]:
    """The code, and the number that is named after it."""
    # The last line alone is looked at, from its last `#` on: whatever stands before costs nothing.
    code, _, last = text.rstrip().rpartition("\n")
    before, _, comment = last.rpartition("#")
    match = _MARK.fullmatch(f"#{comment}")
    if match is None or match[1] != word or "#" not in last:
        return text, None
    before = before.rstrip(" \t")
    return f"{code}\n{before}" if code and before else code or before, int(match[2])


def line_verdict(bug: Bug, named: int | None) -> NameVerdict:
    """The verdict on the line that was named."""
    if named is None:
        message = "Mark the line that you suspect. The rest is looked at when it is the right one."
        return NameVerdict(name=LINE, verdict="not-yet", word="not marked yet", message=message)
    writes = _written_at(bug.starter.source, named)
    if bug.line <= named <= bug.end:
        return NameVerdict(name=LINE, verdict="right", word=f"line {named}, found", step=writes)
    said = next((correct_line.message for correct_line in bug.innocent if correct_line.line == named), "")
    if not 0 < named <= bug.starter.source.count("\n"):
        said = f"There is no line {named}."
    message = said or f"Line {named} is right as it stands. Look at the others."
    code = f"{LINE}:{INNOCENT}"
    key = "" if said else f"{code}:{named}"
    word = f"not line {named}"
    return NameVerdict(name=LINE, verdict="wrong", code=code, key=key, word=word, message=message, step=writes)


def cured_verdict(bug: Bug, changes: CodeChanges, named: int | None) -> NameVerdict | None:
    """The verdict on a line whose change makes everything right although it is not the planted one; None elsewhere."""
    at = changes.instead
    if at is None or named is None or not (named in at or bug.line <= named <= bug.end):
        return None
    message = f"The change in line {at.start} cures it too. The line at which it went wrong is line {bug.line}."
    return NameVerdict(name=LINE, verdict="right-other-road", word=f"line {at.start} cures it too", message=message)


def unmarked_verdicts(bug: Bug, line: NameVerdict, named: int | None) -> tuple[NameVerdict, ...]:
    """Verdicts if the right line was mended and not marked; *line* is the verdict on the marked one."""
    message = f"What you changed cures it: line {bug.line} was the wrong one. Mark that line, and it is solved."
    if named is None:
        return (replace(line, message=message),)
    return line, NameVerdict(name=MEND, verdict="not-yet", word="another line", message=message)


def alone_verdict(bug: Bug) -> NameVerdict:
    """Verdict if the one line replaced the whole program."""
    lines = len(_statements(bug.starter.source) or ())
    message = (
        f"The box holds a single line now, and the program had {lines}. Put the others back, with Reset, and fix the "
        "line in its place."
    )
    return NameVerdict(name=MEND, verdict="not-yet", word="one line alone", message=message)


def unchanged_verdict(bug: Bug) -> NameVerdict:
    """Verdict while the given code is unchanged."""
    message = "Nothing is changed yet. Fix the line in the box."
    writes = _written_at(bug.starter.source, bug.line)
    return NameVerdict(name=MEND, verdict="not-yet", word="not begun", message=message, step=writes)


def others_verdict(bug: Bug, changes: CodeChanges) -> NameVerdict:
    """The verdict on the rest of a text whose gradients are all right."""
    if changes.in_place:
        return NameVerdict(name=OTHERS, verdict="right", word="as they were")
    if not changes.mended:
        code = f"{OTHERS}:made-up"
        message = (
            f"Your result is right, but line {bug.line} still stands as it was and something else makes up for it. "
            "Fix the line itself."
        )
    elif changes.others:
        code, which = f"{OTHERS}:changed", _lines_text(changes.others)
        message = (
            f"Your result is right. {which} changed as well and did not need it. Put that back; one line is enough."
        )
    else:
        code = f"{OTHERS}:added"
        message = (
            "Your result is right. Something was added or moved elsewhere, though: the change belongs into "
            f"line {bug.line}."
        )
    return NameVerdict(name=OTHERS, verdict="wrong", code=code, word="changed too", message=message)


def changes_of(bug: Bug, code: str) -> CodeChanges | None:
    """Compare *code* with the given one, statement by statement: spaces and comments are no change.

    None where *code* is not Python.
    """
    given, now = _statements(bug.starter.source), _statements(code)
    if given is None or now is None:
        return None
    lines = [statement.lineno for statement in given]
    planted = lines.index(bug.line)
    before, after = [syntax_key(statement) for statement in given], [syntax_key(statement) for statement in now]
    apart = [at for at, (name, other) in enumerate(zip(before, after, strict=False)) if name != other]
    alone = given[apart[0]] if len(before) == len(after) and len(apart) == 1 and apart != [planted] else None
    head = _common(before[:planted], after)
    tail = _common(before[:planted:-1], after[head:][::-1])
    place = after[head : len(after) - tail]
    others = [*before[:planted], *before[planted + 1 :]]
    places = (at for at in range(len(after)) if at != planted and [*after[:at], *after[at + 1 :]] == others)
    # A line that came too early, or too late, is mended by moving it, too.
    moved = (
        len(after) == len(before)
        and after != before
        and any(names_stored(now[at]) == names_stored(given[planted]) for at in places)
    )
    return CodeChanges(
        mended=moved or before[planted] not in place,
        others=tuple(line for line, name in zip(lines, before, strict=True) if line != bug.line and name not in after),
        added=not moved
        and ((head, tail) != (planted, len(before) - planted - 1) or (before[planted] in place and len(place) > 1)),
        alone=len(now) == 1 and _needs(now[0], [statement for statement in given if statement.lineno != bug.line]),
        instead=range(alone.lineno, (alone.end_lineno or alone.lineno) + 1) if alone else None,
    )


def suspects_of(bug: Bug) -> frozenset[int]:
    """The lines of the given code on which a statement begins."""
    return frozenset(statement.lineno for statement in _statements(bug.starter.source) or ())


def _statements(code: str) -> list[Statement] | None:
    try:
        return parse_code(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _written_at(code: str, line: int) -> str:
    """The name that the statement on that *line* writes, such as `da`; empty where it writes none, or several."""
    on_it = (each for each in _statements(code) or () if each.lineno <= line <= (each.end_lineno or each.lineno))
    names = names_stored(statement) if (statement := next(on_it, None)) else set()
    return next(iter(names)) if len(names) == 1 else ""


def _needs(statement: Statement, others: list[Statement]) -> bool:
    """True if *statement* reads a name that one of *others* writes, and that it does not write itself."""
    made = frozenset().union(*map(names_stored, others))
    return bool(every_name_in(statement) & (made - names_stored(statement)))


def _common(first: list[str], other: list[str]) -> int:
    """Number of statements that two lists share from their beginning."""
    pairs = zip(first, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(first), len(other)))


def _lines_text(lines: tuple[int, ...]) -> str:
    if len(lines) == 1:
        return f"Line {lines[0]}"
    return f"Lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
