"""A lesson as a row of cells, in the order of the page."""

from collections.abc import Iterator
from dataclasses import replace

from app.content.blocks import (
    Callout,
    CodeBox,
    Exercise,
    Forward,
    Lesson,
    Quiz,
    Reveal,
    Sheet,
    SourceFile,
    Train,
    Visual,
)
from app.content.directives.parse_context import CHILD_OPTIONS
from app.content.directives.vary import fill_numbers
from app.content.export.notebook import ATTACHED, NotebookCell, Work, resource_text
from app.content.export.python_code import program_cell
from app.content.export.questions import disclosure_markup, folded_hints, question_markdown
from app.content.export.source import LessonContext, split_body
from app.content.text.errors import ErrorCollector
from app.content.text.fences import Directive
from app.content.text.frontmatter import LESSON_KEYS, read_front_matter
from app.content.text.options import Options
from app.course.directives import OPTIONS
from app.course.parse import file_of
from app.kinds.registry import code_kind, quiz_kind

BELOW = (
    "The code below needs torch and nothing else. Run the first cell once; it draws the inputs, asks autograd for the "
    "gradients to compare with, and counts a blank (`____`) as *not yet*."
)
CALLOUTS = {"plan": "A plan", "note": "Note", "aside": "Aside", "card": "A card"}


Written = Exercise | Visual | Callout | Sheet | Reveal


def cells_of(lesson: Lesson, work: Work | None = None) -> tuple[NotebookCell, ...]:
    """The cells of *lesson*: its prose as it was written, its programs and boxes as code that runs."""
    work = work or Work()
    file = file_of(lesson.source, lesson.path)
    front = read_front_matter(file, LESSON_KEYS, ErrorCollector(lesson.path))
    goals = [value.text for value in front.lists.get("goals", ())]
    used = {exercise.forward for exercise in lesson.exercises}
    own = LessonContext(lesson)
    cells = [NotebookCell(text=own.written_out(_opening(lesson, goals)))]
    if any(isinstance(item, CodeBox | Forward) for item in lesson.blocks):
        cells += [
            NotebookCell(text=BELOW, aid=True),
            NotebookCell(text=resource_text("preamble.py"), code=True, name="preamble", aid=True),
        ]
    for part in split_body(front.body, file, OPTIONS):
        if isinstance(part, str):
            cells.append(NotebookCell(text=own.written_out(part)))
            continue
        block = _block(lesson, part)
        if isinstance(block, Forward):
            cells += [program_cell(block)] if block.show or block.name in used else []
        elif block is not None:
            cells += _cells(lesson, block, part, file, work)
    return tuple(_with_pictures(cell, work) for cell in cells if cell.text)


def _with_pictures(cell: NotebookCell, work: Work) -> NotebookCell:
    """*cell* with the image files that its text shows; of those that are not at hand, what they show."""
    text = (
        cell.text
        if cell.code
        else ATTACHED.sub(lambda match: match[0] if match[2] in work.pictures else match[1], cell.text)
    )
    shown = {match[2]: work.pictures[match[2]] for match in ATTACHED.finditer(text) if match[2] in work.pictures}
    return replace(cell, text=text, attached={} if cell.code else shown)


def _opening(lesson: Lesson, goals: list[str]) -> str:
    lines = [f"# {lesson.title}", f"About {lesson.estimate}."]
    if goals:
        lines += ["After this lesson you can", "\n".join(f"- {goal}" for goal in goals)]
    return "\n\n".join(lines)


def _block(lesson: Lesson, directive: Directive) -> Written | Forward | None:
    for block in lesson.every:
        if isinstance(block, Written | Forward) and block.place.line == directive.place.line:
            return block
    return None


def _cells(
    lesson: Lesson, block: Written, directive: Directive, file: SourceFile, work: Work
) -> Iterator[NotebookCell]:
    if isinstance(block, Exercise) and block.numbers:
        directive = fill_numbers(directive, block.numbers)
    parts = split_body(directive.body, file, {**OPTIONS, **CHILD_OPTIONS})
    own = LessonContext(lesson)
    text = own.written_out("\n\n".join(part for part in parts if isinstance(part, str)))
    inside = [part for part in parts if isinstance(part, Directive)]
    hints = [own.written_out(part.body.text.strip("\n")) for part in inside if part.name == "hint"]
    if isinstance(block, Callout):
        title = f"**{block.title or CALLOUTS[block.kind]}**"
        yield NotebookCell(text="\n".join(f"> {line}".rstrip() for line in (title, "", *text.split("\n"))))
        return
    if isinstance(block, Sheet | Reveal):
        shown = disclosure_markup("What comes of it", text) if isinstance(block, Reveal) and text else text
        yield NotebookCell(text=f'<a id="{block.name}"></a>\n\n{shown}', name=f"{block.name}-asked")
        for part in inside:
            held = _block(lesson, part)
            yield from _cells(lesson, held, part, file, work) if isinstance(held, Written) else ()
        return
    right = Options(directive.options, directive.name, directive.place, ErrorCollector(file.path)).text("right") or ""
    hints = hints if work.hints is None else hints[: work.hints.get(block.name, 0)]
    yield NotebookCell(
        text=f'<a id="{block.name}"></a>\n\n{_exercise_text(lesson, block, text, hints, work, right)}',
        name=f"{block.name}-asked",
        drawing=work.drawings.get(block.name),
    )
    if isinstance(block, CodeBox | Train):
        yield from code_kind(block).cells(lesson, block, work)


def _exercise_text(
    lesson: Lesson, block: Exercise | Visual, text: str, hints: list[str], work: Work, right: str
) -> str:
    if isinstance(block, Visual):
        return text if block.name in work.drawings else f"**Picture** (on the page of the lesson)\n\n{text}"
    if isinstance(block, CodeBox | Train):
        kind = code_kind(block)
        return "\n\n".join([kind.heading(block), text, *kind.below(block), *folded_hints(hints)])
    assert isinstance(block, Quiz), "every other exercise is a question"
    quiz, forward = quiz_kind(block), lesson.forward(block.forward)
    line = quiz.line(block, forward) if forward and block.name in lesson.sheets else ""
    parts = quiz.export(block, f"`{line}`\n\n{text}" if line else text, work)
    return f"**Question**\n\n{question_markdown(block, parts, hints, work, LessonContext(lesson).written_out(right))}"
