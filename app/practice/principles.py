"""The principle behind a line of a backward pass: a small table, and the question that is made of it.

A principle is asked of a line that shows it, and only principles that the line does not show stand beside it.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from re import Pattern

from app.content.blocks import Forward
from app.content.program.dependence import is_sum, read_line, sources_of
from app.content.program.programs import is_python, tensor_of
from app.grading.operations.table import FAMILIES
from app.practice.taught import family_at, steps_of

OTHERS = 2
"""Principles that are offered beside the right one."""
MAX_LINE_CHARS = 200
SEVERAL = re.compile(r"(?:for|while|if|with|def|try)\b")
"""A statement that holds others: it is several lines, of which each may follow a principle of its own."""


@dataclass(frozen=True, slots=True)
class Principle:
    """A principle in a sentence, and the *families* of operations that it is behind.

    Args:
        shows: What a line of these families has that follows it.
        akin: What a line of any family has that it may be said of as well: beside such it is not offered as wrong.
    """

    key: str
    text: str
    families: frozenset[str]
    shows: Pattern[str]
    akin: Pattern[str]


def _principle(key: str, shows: str, text: str, akin: str = "", bar: str = "") -> Principle:
    """A row of the table; a line with *bar* does more than this principle says, and is not asked about."""
    plain = f"^(?!.*(?:{bar})).*(?:{shows})" if bar else shows
    families = frozenset(name for name, family in FAMILIES.items() if key in family.principles)
    return Principle(key, text, families, re.compile(plain, re.S), re.compile(akin or shows))


USES = _principle("uses", r"\+", "Add up over the uses: a tensor that is read twice gets two shares.")
PRINCIPLES: tuple[Principle, ...] = (
    USES,
    _principle(
        "copies", r"\.sum\(", "Sum over what was broadcast: the shares of all copies add up.",
        bar="@| - .*sum",
    ),
    _principle(
        "factor", "@|einsum", "Upstream times the other factor, turned the way the shapes ask.", akin=r"@|einsum|\*",
    ),
    _principle(
        "scatter", r"index_|scatter|one_hot|\[", "Scatter back: each place that was read gets its shares.",
        bar="@",
    ),
    _principle(
        "gate", r"where|[<>]|mask|one_hot|argm|scatter|clamp",
        "Pass on where the gate was open, and nothing where it was closed.",
        akin=r"where|[<>]|mask|one_hot|argm|scatter|clamp|[*\[]", bar=r"softmax|reshape|@",
    ),
    _principle(
        "moved", r"\.m?T\b|reshape|view|permute|transpose|flatten|movedim|swapaxes",
        "Move back: nothing is computed, each number goes where it came from.",
        akin=r"\.m?T\b|reshape|view|permute|transpose|flatten|fold|movedim|swapaxes|stack|cat|clone|\[",
        bar=r"@| \* |one_hot",
    ),
    _principle(
        "shared", r" - \(.*\.(?:sum|mean)\(",
        "Take a share away: what raises one entry of a row lowers the others.", akin="-",
    ),
    _principle(
        "addends", "expand|ones|full|None|/|broadcast_to|unsqueeze",
        "Pass on to every addend: each gets the upstream gradient of the sum, and of a mean its part.",
        akin=r"expand|ones|full|None|/|broadcast_to|unsqueeze|clone|\*",
        bar=r"@| - | \+ |\*\*",
    ),
    _principle(
        "local", r"[*/]", "Upstream times local: the upstream gradient, times the slope.",
        akin="[*/@-]|einsum", bar=r"@| \+ |\.sum\(|\.mean\(|norm_back",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PrincipleQuestion:
    """Which of *offered* is behind *line*, which undoes an operation of *family*? The right one is *principle*."""

    family: str
    line: str
    principle: Principle
    offered: tuple[Principle, ...]


def ask_principle(
    code: str, forward: Forward, require: Sequence[str], asked: frozenset[str], starter: str = ""
) -> PrincipleQuestion | None:
    """A question about the first line of *code* that undoes an operation of a family that was not *asked* about.

    Args:
        code: A backward pass that is right.
        require: The gradients in it, each of which may be asked about.
        starter: What the box began with: a line that was given is not asked about.
    """
    given = {line.strip() for line in starter.splitlines()}
    sources = sources_of(code) if is_python(code) else ()
    own = [line for line in sources if len(line) <= MAX_LINE_CHARS and line not in given and not SEVERAL.match(line)]
    lines = [(line, read_line(line).writes) for line in own]
    for name in require:
        tensor = tensor_of(name, forward)
        family = family_at(forward, tensor, "") if tensor else None
        if tensor is None or family is None or family in asked:
            continue
        twice = sum(tensor in names for _, names, *_ in steps_of(forward)) > 1
        for line, writes in lines:
            question = _question(family, line, twice=twice) if name in writes else None
            if question is not None:
                return question
    return None


def _question(family: str, line: str, *, twice: bool) -> PrincipleQuestion | None:
    shown = [principle for principle in PRINCIPLES if family in principle.families and principle.shows.search(line)]
    right = next((principle for principle in shown if principle is not USES or (twice and is_sum(line))), None)
    others = [
        principle for principle in PRINCIPLES if family not in principle.families and not principle.akin.search(line)
    ]
    if right is None or len(others) < OTHERS:
        return None
    chance = random.Random(line)
    offered = [right, *chance.sample(others, OTHERS)]
    return PrincipleQuestion(family, line, right, tuple(chance.sample(offered, len(offered))))


def principle_of(key: str) -> Principle | None:
    return next((principle for principle in PRINCIPLES if principle.key == key), None)
