"""Wrong lines that are planted: one to be found in a backward pass, one beside the right line to choose from.

The slip of a card comes first. Where a program cannot show it, any other slip of the family is planted, one kind as
often as another: a minus can be put before every line, and would be seen at a glance.
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from app.check.mutants import Mutant, mutants_of
from app.grading.judge.line_shapes import ground_of_program, infer_line_shapes
from app.grading.quiz.worked import evaluate_on_random_data, is_equal
from app.practice.forms import bug_hunt, which_of_two
from app.practice.item import GeneratedItem
from app.practice.operations import HEAP, OPERATIONS, can_show
from app.practice.practice_words import slip_words
from app.practice.proof import wrong_lines
from app.syntax import is_binary, parse_expression

MADE_FOR: Mapping[str, str] = {
    "mean": "took the mean for the sum",
    "mean-missing": "took the sum for the mean",
    "wrong-axis": "took the wrong axis",
    "summed-all": "forgot an axis",
    "transposed": "transposed a factor",
    "matmul-order": "swapped the factors",
    "overwritten": "overwrote a share",
    "scatter-overwrite": "overwrote repeated rows",
    "own-factor": "used the own factor",
    "power-raised": "changed an exponent",
    "gate-flipped": "turned a comparison round",
    "sign": "flipped the sign",
}
"""By slip, what a mutant did that shows it."""
OTHER_GRADIENT, AVERAGED = "took another gradient", "divided by a size"
TOLD: Mapping[str, str] = {
    "flipped the sign": "The sign is wrong here: every entry comes out with the opposite one.",
    "flipped a sign": "One sign is wrong here.",
    "flipped the sign of an update": "A share is subtracted here. Shares are added.",
    "dropped a minus": "A minus is missing here.",
    "dropped a factor": "A factor is missing here.",
    "dropped a divisor": "A division is missing here.",
    "dropped a term": "A term is missing here.",
    "dropped a power": "A power is missing here.",
    "dropped a transpose": "A transpose is missing here.",
    "multiplied instead of divided": "This line multiplies where the rule divides.",
    "swapped the factors": "The two factors are in the wrong order here.",
    "transposed a factor": "A transpose is in the wrong place here.",
    "changed an exponent": "The exponent is wrong here.",
    "took the mean for the sum": "This line averages where a sum belongs.",
    "took the sum for the mean": "This line sums where an average belongs.",
    "forgot an axis": "This sum leaves an axis out.",
    "took the wrong axis": "This line sums along the wrong axis.",
    "turned a comparison round": "The comparison is the wrong way round here.",
    "overwrote instead of added": "This line replaces the share that was there. It must be added.",
    "lost a kept dimension": "The axis of size 1 is lost here.",
    "kept a dimension": "An axis of size 1 is kept here, and the tensor has none.",
    OTHER_GRADIENT: "This line reads `{}`, the gradient of another tensor.",
    AVERAGED: "This line divides by a size, and nothing was averaged.",
}
"""By what a mutant did: the slip in a sentence, for those who chose its line."""
SIGNS = frozenset({"flipped the sign", "flipped a sign", "flipped the sign of an update", "dropped a minus"})


def slip_kind(edit: str) -> str:
    """Appearance of a wrong line, in the twelve letters that the form of an item has room for."""
    return "sign" if edit in SIGNS else edit.partition(":")[0].replace(" ", "-")[:14]


def hunted(item: GeneratedItem, family: str, slip: str, avoided: str = "") -> tuple[str, str] | None:
    """A bug hunt for *slip*, or for another slip in a line of *family*, with the kind of the slip.

    Args:
        avoided: A kind that comes last: it was there the last time.
    """
    return _first(item, _fitting(item, _planted_mutants(item, family, slip, avoided), slip), bug_hunt)


def chosen(item: GeneratedItem, family: str, slip: str, avoided: str = "") -> tuple[str, str] | None:
    """Two lines of which one is wrong, like `hunted`."""
    return _first(
        item, _planted_mutants(item, family, slip, avoided), lambda item, each: which_of_two(item, each, told(each))
    )


def told(mutant: Mutant) -> str:
    """A sentence on what is wrong with the line."""
    kind, _, read = mutant.edit.partition(": ")
    return TOLD[kind].format(read) if kind in TOLD else f"The slip in that line: {slip_words(kind.partition(':')[0])}."


def _first(
    item: GeneratedItem, mutants: Iterable[Mutant], asked: Callable[[GeneratedItem, Mutant], str | None]
) -> tuple[str, str] | None:
    for mutant in mutants:
        fragment = asked(item, replace(mutant, code=_as_taught(item, mutant.code)))
        if fragment:
            return slip_kind(mutant.edit), fragment
    return None


def _as_taught(item: GeneratedItem, code: str) -> str:
    """*code* with `.T` for the transpose of a matrix, where there are no heaps of them."""
    return code if HEAP in item.needs else code.replace(".mT", ".T")


def _shows(mutant: Mutant, slip: str) -> bool:
    return bool(slip) and (mutant.edit.partition(":")[0] == slip or mutant.edit == MADE_FOR.get(slip))


def is_planted(kind: str, slip: str) -> bool:
    """True if a wrong line of this *kind* shows *slip*."""
    return kind in {slip_kind(slip), slip_kind(MADE_FOR.get(slip, slip))}


def _fitting(item: GeneratedItem, mutants: Iterable[Mutant], slip: str) -> Iterator[Mutant]:
    """Those of *mutants* that show *slip* or whose shapes fit: another one is found without a thought, in red."""
    ground = ground_of_program(item.program, [f"d{item.program.output}"])
    for mutant in mutants:
        if _shows(mutant, slip) or all(
            line.fits is not False and not line.collides for line in infer_line_shapes(mutant.code, ground).lines
        ):
            yield mutant


def _planted_mutants(item: GeneratedItem, family: str, slip: str, avoided: str) -> Iterator[Mutant]:
    """Candidates, the best first: of each kind one, in an order that the program draws, then the second of each."""
    edits = [*wrong_lines(item), *mutants_of(item.solution, frozenset(item.require))]
    chance = random.Random(f"{item.name} {family}")
    showing = [
        mutant
        for mutant in edits
        if _shows(mutant, slip) and can_show(item.lines[mutant.line - 1], item.by[mutant.line - 1], family, slip)
    ]
    yield from chance.sample(showing, len(showing))
    by_kind = defaultdict[str, list[Mutant]](list)
    for mutant in [*edits, *_misread(item)]:
        if OPERATIONS[item.by[mutant.line - 1]].family == family:
            by_kind[slip_kind(mutant.edit)].append(mutant)
    kinds = chance.sample(sorted(by_kind), len(by_kind))
    for kind in sorted(kinds, key=lambda kind: kind == avoided):
        yield from chance.sample(by_kind[kind], len(by_kind[kind]))


def _misread(item: GeneratedItem) -> Iterator[Mutant]:
    """Slips that every line can have: it begins with another gradient of the same shape, or divides by a size."""
    numbers = evaluate_on_random_data(item.program) or {}
    targets = [line.split()[0] for line in item.lines]
    # What is added to later is not yet what its numbers say.
    whole = {name for name in numbers if targets.count(name) < 2}
    for at, line in enumerate(item.lines):
        to, sign, value = line.split(" ", 2)
        read = next((name for name in re.findall(r"\bd\w+", value) if name in numbers), "")
        for other in sorted({f"d{item.program.output}", *targets[:at]} & whole - {read, to}) if read else ():
            if numbers[read].shape == numbers[other].shape and not is_equal(numbers[read], numbers[other]):
                changed = re.sub(rf"\b{read}\b", other, value)
                yield _instead(item, at, f"{to} {sign} {changed}", f"{OTHER_GRADIENT}: {other}")
        sizes = re.findall(r"[A-Z]\w*", item.shapes.get(read[1:], ""))
        if sizes and "/" not in value and "mean" not in value:
            divided = f"{value} / {sizes[0]}" if _binds(value) else f"({value}) / {sizes[0]}"
            yield _instead(item, at, f"{to} {sign} {divided}", AVERAGED)


def _binds(value: str) -> bool:
    """True if a division behind *value* divides all of it."""
    node = parse_expression(value)
    return not is_binary(node) or is_binary(node, "* @")


def _instead(item: GeneratedItem, at: int, line: str, edit: str) -> Mutant:
    lines = [*item.lines[:at], line, *item.lines[at + 1 :]]
    return Mutant(code="\n".join(lines) + "\n", line=at + 1, edit=edit)
