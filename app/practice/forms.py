"""Other ways to ask for the same exercise, each as a fragment of a lesson that the usual widgets show.

At the first meeting with an operation a learner reads an example and says why; then one line is left open; then all.
"""

import random
import re

from app.check.mutants import Mutant
from app.content.program.dependence import needs_of, shuffled
from app.content.text.sizes import format_shape
from app.grading.operations.table import EXERCISES
from app.grading.reading.shape_inference import infer_shapes
from app.practice.derived_hints import BLANK_MARK, principle, solution_list
from app.practice.item import GeneratedItem, format_code_block, format_directive
from app.practice.operations import OPERATIONS

MOST_ROWS = 5
LEFT_OPEN = {1: "One line is left open. Write it.", 3: "Three lines are left open. Write them; the others are right."}
OPTIONS = 3
ELSEWHERE = "  > That is true of another operation, which this program does not use.\n"
HUNT = (
    "One line of this backward pass is wrong. Mark it, then write it as it should be. "
    "Any line with the right numbers will do; the other lines stay as they are.\n\n"
)
MISSING = "One line of this backward pass is missing."
WHICH = "Which of the two is it?\n\n"
WHERE_IT_BELONGS = "The {5} line is about `{0}` in `{1}`. There `{0}` is `{2}`, and `d{3}`, which arrives, is `{4}`."
AXES = "What comes back through `{1}` has its shape. Which axes are summed to give `{0}`?"
AXES_HINT = (
    "Compare `{1}` with `{0}`, from the right. Which axes does `{0}` not have, or have with size 1? Along these it was "
    "copied."
)
ORDER_HINT = (
    "A line can run once all that it reads is finished. `d{}` is given: begin with a line that reads no other "
    "gradient, and at each place below ask which line has all that it reads above it."
)
SHAPES = "Write the shape of each gradient, in letters or in numbers: `{0}` is `{1}`, or `{2}`."
SHAPE_HINT = "`{0}` is made in `{1}`, of {2}."
TICKED = "Where axes are asked for, tick those that are summed."


def worked_form(item: GeneratedItem) -> str:
    """The solution, a question which principle is behind one of its lines, and behind it a sentence for each."""
    line, by = item.lines[item.key], item.by[item.key]
    right = principle(line.replace("+=", "="), by)  # that a share is added would tell the option by its line
    met = {operation.principle for operation in EXERCISES if operation.level <= item.level}
    used = _claims(right).union(*(_claims(principle("", name)) for name in item.by))
    others = sorted(name for name in met if not _claims(name) & used)
    offered = sorted([right, *random.Random(item.name).sample(others, OPTIONS - 1)])
    options = "".join(
        f"- [{'x' if name == right else ' '}] {name}\n{'' if name == right else ELSEWHERE}" for name in offered
    )
    question = format_directive(f"choice {item.name}-why", {}, f"What is behind the line `{line}`?\n\n{options}", ":::")
    why = format_directive(
        f"reveal {item.name}-told", {"title": "Line by line"}, solution_list(item.lines, item.by), ":::"
    )
    example = f"{item.arrives} Read the backward pass of this program.\n\n```python\n{item.solution}```\n\n"
    return item.program_text + example + question + why


def _claims(principle: str) -> set[str]:
    """The sentences of *principle*, each as far as it holds for all operations of its kind: to its colon."""
    return {sentence.strip(" .").partition(":")[0] for sentence in principle.split(". ")}


def lines_around(item: GeneratedItem, line: int, most: int) -> range:
    """Lines of the solution with *line* among them: *most*, or all of fewer."""
    first = max(0, min(line, len(item.lines) - most))
    return range(first, min(first + most, len(item.lines)))


def completion_exercise(item: GeneratedItem, left_open: range, line: int) -> str:
    """All lines of the solution are given but those *left_open*.

    Args:
        line: Index of the one among them that hints are about.
    """
    given = [
        f"{' '.join(text.split()[:2])} {BLANK_MARK}" if at in left_open else text for at, text in enumerate(item.lines)
    ]
    starter = format_code_block("starter", "\n".join(given))
    return item.program_text + item.box_text(LEFT_OPEN[len(left_open)], line, starter)


def _changed_line(item: GeneratedItem, mutant: Mutant) -> int | None:
    """The index of the one line of the solution that *mutant* writes otherwise; None where it is not one line."""
    given = mutant.code.splitlines()
    changed = [at for at, (name, other) in enumerate(zip(given, item.lines, strict=False)) if name != other]
    return changed[0] if len(given) == len(item.lines) and len(changed) == 1 else None


def which_of_two(item: GeneratedItem, mutant: Mutant, reason: str) -> str | None:
    """The right line beside that of *mutant*, which is wrong for *reason*; None where more than one line is."""
    at = _changed_line(item, mutant)
    if at is None:
        return None
    right, wrong = item.lines[at], mutant.code.splitlines()[at]
    why = principle(right, item.by[at])
    options = {right: f"- [x] `{right}`\n", wrong: f"- [ ] `{wrong}`\n  > {reason}\n"}
    offered = random.Random(item.name).sample(sorted(options), 2)
    left_open = [BLANK_MARK if rank == at else line for rank, line in enumerate(item.lines)]
    given = "\n".join(left_open)
    hint = format_directive("hint", {}, _where_it_belongs(item, at, "missing"), ":::")
    question = format_directive(
        f"choice {item.name}-which", {}, WHICH + "".join(options[line] for line in offered) + hint
    )
    rule_box = format_directive(f"reveal {item.name}-rule", {"title": "The rule behind it"}, why, ":::")
    return f"{item.program_text}{item.arrives} {MISSING}\n\n```python\n{given}\n```\n\n{question}{rule_box}"


def _where_it_belongs(item: GeneratedItem, at: int, which: str) -> str:
    """Hint on the line with the index *at*, the *which* one: what it undoes, in which shapes."""
    to, step = item.lines[at].split()[0][1:], item.step_behind(at)
    if step is None:
        return f"The {which} line is about `{to}`, which is `{item.shapes[to]}`."
    return WHERE_IT_BELONGS.format(to, step.text, item.shapes[to], step.name, item.shapes[step.name], which)


def bug_hunt(item: GeneratedItem, mutant: Mutant) -> str | None:
    """The solution with one wrong line, to be found and mended; None where no single line mends it."""
    at_fault = _changed_line(item, mutant)
    if at_fault is None:
        return None
    principles = [principle(line, by) for line, by in zip(item.lines, item.by, strict=True)]
    innocent = "".join(
        format_code_block(f"mistake That line is right. {principles[at]}", line)
        for at, line in enumerate(item.lines)
        if at != at_fault and principles[at]
    )
    # The rule may be that of every line: the second hint says where.
    ladder = (principles[at_fault], _where_it_belongs(item, at_fault, "wrong"))
    hint = "".join(format_directive("hint", {}, text, ":::") for text in ladder)
    body = (
        f"{item.arrives} {HUNT}"
        + format_code_block("given", mutant.code)
        + hint
        + innocent
        + format_code_block("solution", item.lines[at_fault])
    )
    fragment = item.program_text + format_directive(f"bug {item.name}", item.asked, body)
    # Which line of several that write the same name is mended is not always plain; the parser decides.
    return fragment if item.parsed(fragment)[0] is not None else None


def shapes_and_axes(item: GeneratedItem) -> str:
    """Questions about the shapes of gradients, and about the axes that are summed."""
    sums = [
        (name, summed)
        for name, summed in map(_broadcast_gradients, [item] * len(item.lines), range(len(item.lines)))
        if summed
    ]
    rows = [
        format_directive(
            f"axes {item.name}-sum-{name}",
            {"of": name, "from": source},
            f"{AXES.format(name, source)}\n\n"
            + format_directive("hint", {}, AXES_HINT.format(name[1:], source[1:]), ":::"),
        )
        for name, source in sums[: MOST_ROWS - 2]
    ]
    rows += [
        format_directive(
            f"shape {item.name}-shape-d{name}",
            {"of": f"d{name}"},
            f"Its shape.\n\n{format_directive('hint', {}, _shape_hint(item, name), ':::')}",
        )
        for name in _tensors_made(item)[: MOST_ROWS - len(rows)]
    ]
    options = {"forward": f"{item.name}-program"}
    # What is asked is printed nowhere: inputs have their shapes beside the program, and one is the example.
    example = item.program.inputs[0].name
    sizes = format_shape(list(infer_shapes(item.program)[example]))
    asked = " ".join([SHAPES.format(example, item.shapes[example], sizes), *[TICKED] * bool(sums)])
    body = f"{asked}\n\n{''.join(rows)}"
    return item.program_text + format_directive(f"sheet {item.name}-shapes", options, body, ":::::")


def _tensors_made(item: GeneratedItem) -> list[str]:
    """Those that the program computes, one of each shape, from the output back; two where all have the same."""
    made = [name[1:] for name in (f"d{item.program.output}", *item.require) if name[1:] not in item.input_names]
    by_shape: dict[str, list[str]] = {}
    for name in made:
        by_shape.setdefault(item.shapes[name], []).append(name)
    return [names[0] for names in by_shape.values()] if len(by_shape) > 1 else made[:2]


def _shape_hint(item: GeneratedItem, name: str) -> str:
    line = next(line for line in item.program.source.splitlines() if line.startswith(f"{name} = "))
    read = dict.fromkeys(part for part in re.findall(r"\w+", line.partition("=")[2]) if part in item.shapes)
    return SHAPE_HINT.format(name, line, " and ".join(f"`{part}` `{item.shapes[part]}`" for part in read))


def _broadcast_gradients(item: GeneratedItem, at: int) -> tuple[str, str]:
    """The gradient of a line that undoes a broadcast, and the gradient that it sums; twice nothing for another line."""
    line, row = item.lines[at], OPERATIONS.get(item.by[at])
    # Of a tensor that is read twice one sum is a share, and no more.
    once = sum(each.split()[0] == line.split()[0] for each in item.lines) == 1
    if row is None or row.family not in {"broadcast", "fork"} or ".sum(" not in line or not once:
        return "", ""
    known = {*item.require, f"d{item.program.output}"}
    return line.split()[0], next(entry for entry in re.findall(r"\w+", line.partition("=")[2]) if entry in known)


def order_form(item: GeneratedItem) -> str | None:
    """Exercise to put the lines of the solution in order; None if every order is right, or a line occurs twice."""
    if shuffled(needs_of(item.lines), f"{item.name}-order") is None or len(set(item.lines)) < len(item.lines):
        return None
    options = {"forward": f"{item.name}-program"}
    body = (
        f"{item.arrives} Put the backward pass in order.\n\n"
        + format_directive("hint", {}, ORDER_HINT.format(item.program.output), ":::")
        + format_code_block("solution", item.solution)
    )
    return item.program_text + format_directive(f"order {item.name}-order", options, body)
