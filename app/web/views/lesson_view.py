"""A lesson with what one learner has done in it, put together for the page."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from markupsafe import Markup

from app.content.blocks import (
    Block,
    CodeBox,
    Exercise,
    Forward,
    Grad,
    Lesson,
    Prose,
    Quiz,
    Reveal,
    Sheet,
    Train,
    Visual,
)
from app.content.text.mathml import words_of
from app.content.text.sizes import format_shape
from app.kinds.registry import block_kind
from app.store.progress import LessonState
from app.web.site import Site
from app.web.views.exercise_view import CodeView, QuizView, code_view, has_left_out, quiz_for_learner, quiz_view
from app.web.views.names_view import NamesView, names_view
from app.web.views.program_head import asked_shapes, program_of
from app.web.views.training_view import TrainView, train_view

Dims = tuple[tuple[str, int], ...]
View: TypeAlias = "QuizView | SheetView | RevealView | CodeView | TrainView | NamesView | Dims | Markup | None"


@dataclass(frozen=True, slots=True)
class PageBlock:
    """One block of the page, with the learner's side of an exercise or what a picture shows."""

    block: Block
    view: View

    @property
    def template(self) -> str:
        """The file is called as the block is, or as its kind."""
        kind = block_kind(self.block)
        return f"kinds/{kind.name}.html" if kind else f"_{type(self.block).__name__.lower()}.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetView:
    """Questions in one form."""

    sheet: Sheet
    url: str
    rows: tuple[PageBlock, ...]

    @property
    def name(self) -> str:
        return self.sheet.name

    @property
    def done(self) -> int:
        """Number of rows that are right as they are now."""
        return sum(isinstance(row.view, QuizView) and row.view.standing for row in self.rows)

    def answered(self, views: Iterable[QuizView]) -> "SheetView":
        """The sheet with *views* in the place of their rows."""
        fresh = {view.name: view for view in views}
        rows = (
            replace(row, view=fresh.get(row.view.name, row.view)) for row in self.rows if isinstance(row.view, QuizView)
        )
        return replace(self, rows=tuple(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealView:
    """Reveal, closed or open; *items* are empty while it is closed."""

    reveal: Reveal
    url: str
    open: bool
    items: tuple[PageBlock, ...]

    @property
    def name(self) -> str:
        return self.reveal.name


HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)\s*<a class="anchor"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """An exercise, or a sheet of them, in the contents; *names* are what has to be solved there."""

    anchor: str
    names: tuple[str, ...]
    called: str

    def done(self, solved: Collection[str]) -> bool:
        return all(name in solved for name in self.names)


@dataclass(frozen=True, slots=True)
class Section:
    """Section under one heading of the second level; the first has that of the lesson."""

    anchor: str
    title: str
    stops: tuple[ContentsEntry, ...]


@dataclass(frozen=True, slots=True)
class ProgramShapes:
    """Shapes of a forward program, shown in the margin while the text is about it."""

    name: str
    shown: bool
    shapes: tuple[tuple[str, str], ...]


def shortcut_in(lesson: Lesson, state: LessonState) -> Grad | None:
    """The box of *lesson* that stands for the most exercises above it; None once these or it are solved."""
    boxes = [box for box in lesson.exercises if isinstance(box, Grad) and box.past and box.name not in state.solved]
    box = max(boxes, key=lambda box: len(box.past), default=None)
    return box if box and has_left_out(box, state) else None


def sections_of(site: Site, lesson: Lesson) -> tuple[Section, ...]:
    """The contents of *lesson*, put together once."""
    return site.kept.of(lesson, {}, lambda: tuple(_sections(lesson)), "contents")


def _sections(lesson: Lesson) -> Iterator[Section]:
    anchor, title, stops = "lesson", lesson.title, list[ContentsEntry]()
    for block in lesson.blocks:
        for heading in HEADING.finditer(block.html) if isinstance(block, Prose) else ():
            yield Section(anchor, title, tuple(stops))
            anchor, title, stops = heading[1], words_of(Markup(heading[2])), []
        if isinstance(block, Exercise | Sheet):
            names = tuple(row.name for row in block.rows) if isinstance(block, Sheet) else (block.name,)
            kind = block_kind(block)
            stops.append(ContentsEntry(block.name, names, kind.called if kind else "a sheet"))
    yield Section(anchor, title, tuple(stops))


def programs_of(site: Site, lesson: Lesson, solved: Collection[str]) -> tuple[ProgramShapes, ...]:
    """The programs of *lesson* with the shapes of their tensors, but for those that are asked and not yet answered."""
    programs: tuple[ProgramShapes, ...] = site.kept.of(lesson, {}, lambda: tuple(_programs(site, lesson)), "programs")
    asked = {
        program_shapes.name: asked_shapes(site.kept, lesson, program_shapes.name, solved) for program_shapes in programs
    }
    return tuple(
        replace(
            program_shapes,
            shapes=tuple(each for each in program_shapes.shapes if each[0] not in asked[program_shapes.name]),
        )
        for program_shapes in programs
    )


def _programs(site: Site, lesson: Lesson) -> Iterator[ProgramShapes]:
    for program in lesson.forwards.values():
        shapes = tuple((name, format_shape(shape)) for name, shape in site.shapes.inferred(program).items())
        yield ProgramShapes(program.name, program.show, shapes)


async def items_of(site: Site, lesson: Lesson, state: LessonState, learner: int | None) -> list[PageBlock]:
    return [PageBlock(block, await _view(site, lesson, block, state, learner)) for block in lesson.blocks]


async def _view(site: Site, lesson: Lesson, block: Block, state: LessonState, learner: int | None) -> View:
    if isinstance(block, Forward):
        return site.kept.of(block, {}, lambda: block.sizes, "sizes")
    if isinstance(block, CodeBox):
        scope, shapes = site.scope(lesson, block), site.shapes.known(lesson, block)
        view = code_view(site.kept, lesson, block, state, scope, shapes)
        return replace(view, program=program_of(site.kept, lesson, block, state, shapes))
    if isinstance(block, Quiz):
        quiz = quiz_for_learner(site.kept, lesson, block, state, learner)
        return quiz_view(site.kept, lesson, quiz, state, await site.shapes.about(lesson, quiz))
    if isinstance(block, Sheet):
        return await sheet_view(site, lesson, block, state, learner)
    if isinstance(block, Reveal):
        return await reveal_view(site, lesson, block, state, learner)
    if isinstance(block, Train):
        return await train_view(site, lesson, block, state, learner)
    if isinstance(block, Visual) and block.kind == "names":
        return await names_view(site.runs.names)
    if isinstance(block, Visual):
        forward = lesson.forwards.get(block.forward) if block.forward else None
        return site.picture(block, await site.shapes.of(forward), forward)
    return None


async def sheet_view(site: Site, lesson: Lesson, sheet: Sheet, state: LessonState, learner: int | None) -> SheetView:
    rows = [PageBlock(row, await _view(site, lesson, row, state, learner)) for row in sheet.rows]
    url = f"{lesson.address}/sheet/{sheet.name}"
    return SheetView(sheet=sheet, url=url, rows=tuple(rows))


async def reveal_view(
    site: Site, lesson: Lesson, reveal: Reveal, state: LessonState, learner: int | None
) -> RevealView:
    """*reveal* is open once its exercises were answered, or it was asked for."""
    row = state.progress.get(reveal.name)
    shown = (row is not None and row.solution_at is not None) or all(map(state.answered, reveal.after))
    blocks = reveal.blocks if shown else ()
    items = tuple([PageBlock(block, await _view(site, lesson, block, state, learner)) for block in blocks])
    return RevealView(reveal=reveal, url=f"{lesson.address}/reveal/{reveal.name}", open=shown, items=items)
