"""Warnings about lessons: sizes that are equal, names that nothing reads, wrong answers without an explanation."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from types import EllipsisType, NoneType

from app.check.findings import Finding
from app.content.blocks import Forward, Grad, Lesson, Prose, SourceLocation
from app.content.program.programs import sound_tree
from app.content.text.mathml import words_of
from app.kinds.readers import BY_BLOCK
from app.syntax import (
    defined_name,
    every_name_in,
    is_assignment,
    is_constant,
    name_of,
    names_loaded,
    right_side,
    source_text,
)

NOTE = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
MASK = re.compile(r"(?:^|_)(?:mask|keep|kept|drop|dropped|dropout|valid)(?:_|\d*$)", re.IGNORECASE)
HEADING = re.compile(r"<h([2-6])[ >].*?</h\1>", re.DOTALL)


def prove_care(lesson: Lesson) -> list[Finding]:
    """A warning for each slip of care in *lesson*."""
    read = [(reader, exercise) for exercise in lesson.exercises if (reader := BY_BLOCK.get(type(exercise)))]
    findings = [_warning(*slip) for reader, exercise in read for slip in reader.care(exercise)]
    findings += [*_boxes(lesson), *_sections(lesson), *_notes(lesson)]
    used = {exercise.forward for reader, exercise in read if reader.sized}
    for forward in lesson.all_of(Forward):
        remarks = [*_unread(forward), *_masks(forward), *(_sizes(forward) if forward.name in used else ())]
        findings += [_warning(forward.place, *item) for item in remarks]
    return findings


def _sizes(forward: Forward) -> Iterator[tuple[str, str]]:
    counted = Counter(size for size in forward.dims.values() if size > 1)
    for size, count in counted.items():
        if count > 1:
            names = " and ".join(name for name, dim in forward.dims.items() if dim == size)
            yield "equal-dims", f"{names} are both {size}: a mistake that exchanges them would not show on the page."


def _unread(forward: Forward) -> Iterator[tuple[str, str]]:
    tree = sound_tree(forward.source)
    read = names_loaded(tree)
    sizes = set(
        re.findall(
            r"\w+",
            " ".join(
                part for tensor_input in forward.inputs for part in (*tensor_input.sizes, tensor_input.bound or "")
            ),
        )
    )
    sizes |= set(re.findall(r"\w+", " ".join(forward.related.values())))
    idle = [name for name in forward.dims if name not in read | sizes]
    if idle:
        some = ", ".join(map(repr, idle[:5])) + (", …" if len(idle) > 5 else "")
        what = f"The dim {some} is" if len(idle) == 1 else f"The dims {some} are"
        yield "unused", f"{what} used nowhere in {forward.name!r}."
    if deaf := [tensor_input.name for tensor_input in forward.inputs if tensor_input.name not in read]:
        some = ", ".join(map(repr, deaf))
        yield "unused", f"No line of {forward.name!r} reads its {'input' if len(deaf) == 1 else 'inputs'} {some}."
    free = [name for name in forward.dims if name not in forward.related]
    if free and all(forward.hidden.get(name) == (forward.dims[name],) * 2 for name in free):
        yield "pinned", f"The hidden runs of {forward.name!r} have the sizes of the lesson, and find nothing more."
    if not any(map(defined_name, tree.body)):
        outputs = set(forward.outputs)
        for statement in tree.body:
            written = every_name_in(statement) - read
            if is_assignment(statement) and written and not written & outputs and written.isdisjoint(sizes):
                yield "unused", f"Nothing reads {', '.join(map(repr, sorted(written)))} of {forward.name!r}."


def _masks(forward: Forward) -> Iterator[tuple[str, str]]:
    """Inputs that are called a mask and hold normal numbers, none of which is zero."""
    for name in forward.inputs:
        if MASK.search(name.name) and name.distribution == "randn":
            sizes = ", ".join(name.sizes)
            message = f"The input {name.name!r} is a mask by its name, and drawn as normal numbers, without a zero."
            yield "no-mask", f'{message} Write `"[{sizes}] mask"`, and scale it in the program.'


def _sections(lesson: Lesson) -> Iterator[Finding]:
    """Find headings that only another heading or the end of the lesson follows."""
    for index, block in enumerate(lesson.blocks):
        if isinstance(block, Prose):
            headings = [(int(match[1]), match.start(), match.end()) for match in HEADING.finditer(block.html)]
            followers = [*headings[1:], (0, len(block.html), 0)] if index == len(lesson.blocks) - 1 else headings[1:]
            for (level, _, end), (other, start, _) in zip(headings, followers, strict=False):
                if other <= level and not block.html[end:start].strip():
                    yield _warning(block.place, "empty-section", "A section here has a heading and nothing else.")


def _notes(lesson: Lesson) -> Iterator[Finding]:
    """Find notes of authors to themselves, which learners would read."""
    for number, text in enumerate(lesson.source.split("\n"), start=1):
        if note := NOTE.search(text):
            message = f"{note[0]!r} is a note to yourself, and shown to learners."
            yield _warning(replace(lesson.place, line=number, column=note.start() + 1), "note-to-self", message)


def _boxes(lesson: Lesson) -> Iterator[Finding]:
    for box in lesson.all_of(Grad):
        missing = [name for name in box.require if not re.search(rf"\b{name}\b", box.starter.source)]
        if 0 < len(missing) < len(box.require):
            message = f"The starter has no line for {', '.join(map(repr, missing))}, which the box asks for."
            yield _warning(box.starter.place, "starter-lacks", message)
        yield from _hints(box)
        yield from _blanks(box)


def _hints(box: Grad) -> Iterator[Finding]:
    lines = [_without_spaces(line) for line in box.solution.source.splitlines() if line.strip()]
    for number, hint in enumerate(box.hints):
        hint_words = _without_spaces(words_of(hint.html))
        revealed = [line for line in lines if line in hint_words]
        if revealed and (number == 0 or len(revealed) == len(lines)):
            what = "the solution" if len(revealed) == len(lines) else "a line of the solution"
            message = f"Hint {number + 1} of {box.name!r} gives {what} away. Leave a blank, `____`, in it."
            yield _warning(hint.place, "given-away", message)


def _blanks(box: Grad) -> Iterator[Finding]:
    """Find what looks like a blank and is none: `...`, `None`, `TODO`."""
    for statement in sound_tree(box.starter.source).body:
        value = right_side(statement) if is_assignment(statement) else None
        if is_constant(value, NoneType, str, EllipsisType) or name_of(value) == "TODO":
            message = f"`{source_text(statement)}` is no blank: it would be judged as it stands. Write `____`."
            yield _warning(box.starter.place, "no-blank", message)


def _without_spaces(text: str) -> str:
    return re.sub(r"\s", "", text)


def _warning(place: SourceLocation, code: str, message: str) -> Finding:
    return Finding(place, "warning", code, message)
