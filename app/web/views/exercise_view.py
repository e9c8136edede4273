"""View of one exercise: the block with what this learner has done, as plain values."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from zlib import crc32

from markupsafe import Markup

from app.content.blocks import Bug, CodeBox, Exercise, FunctionBox, Grad, Hint, Lesson, NamedStep, Quiz, Unit
from app.content.blocks.code_exercises import join_sources
from app.content.text.mathml import words_of
from app.content.text.sentences import render_sentence
from app.course.editions import edition_of
from app.engine.json_columns import decoded_answer, decoded_draw, decoded_run, decoded_verdict
from app.engine.task import GradTask, HuntTask, task_of
from app.grading.forward.facts import Shape
from app.grading.judge.hunt_verdict import PREDICTED, WRONG_LINE, split_line, suspects_of
from app.grading.judge.verdict import NameVerdict, Verdict
from app.grading.quiz.feedback import Feedback
from app.kinds.registry import answer_key, is_named_answer, mark_quiz, quiz_kind, select_draw
from app.sandbox.gate import MAX_GATED_CHARS
from app.store.moments import hint_moment
from app.store.progress import LessonState
from app.store.tables import Draft
from app.store.written_sentences import Spoken
from app.web.pictures.difference_map import DifferencesMap, differences_map
from app.web.pictures.flow import PASSING, Flow, gradient_flow
from app.web.site import RenderCache
from app.web.verdict_words import HintPointer, VerdictRow, VerdictView
from app.web.views.prediction import Prediction, prediction_of
from app.web.views.program_head import ProgramLine
from app.web.views.run_result_view import RunResultView

ENTRY_CHARACTERS = 200
EXAM_NAMES = 10
UNTIL_RIGHT = (
    "# Your code of the box above comes here once it is right.\n# If you have written here by then, Reset brings it."
)
PRACTISE_AFTER = 3  # checks of an exam that failed
FEWEST_ROWS, MOST_ROWS = 3, 39  # those of the editor
ANSWER = "answer"
"""In place of a gradient, what a sentence for an answer is about."""
STATES = {True: "right", False: "wrong", None: "open"}
WORDS = {True: "Right", False: "Not right", None: "Not marked"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HintsView:
    """The ladder of an exercise: the open ones stay, one more can be had at a time.

    Args:
        free: Nothing is counted or rated by it, as an exercise of practice is.
    """

    open: tuple[Hint, ...]
    total: int
    url: str
    free: bool = True

    @property
    def label(self) -> str:
        if len(self.open) == self.total:
            return "Hint open" if self.total == 1 else "All hints open"
        return "Hint" if self.total == 1 else f"Hint {len(self.open) + 1} of {self.total}"

    @property
    def offer(self) -> str:
        """Sentence on the next hint or solution that can be opened."""
        available = f"{'A hint' if self.total == 1 else self.label} is available."
        return f"{available} Hints are free." if self.free else available


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizView:
    """A quiz. *given* is the last answer, value by value; *state* is `open`, `right` or `wrong`.

    Args:
        offered: What its kind offers to choose from.
        sheet: The name of the sheet that it is a row of; empty for a quiz of its own.
        line: The line of the program that a row asks about.
        changed: It was solved in another edition than the present one.
        again: Where it stands with other numbers, once it was answered; empty where nothing varies.
        written: Sentence of an instructor for all who give this answer, "" for nothing yet; None where none can be.
    """

    quiz: Quiz
    url: str
    given: tuple[str, ...]
    feedback: Feedback | None
    state: str
    solved: bool
    hints: HintsView
    offered: object
    sheet: str = ""
    line: str = ""
    edition: str = ""
    changed: bool = False
    again: str = ""
    written: str | None = None

    @property
    def name(self) -> str:
        return self.quiz.name

    @property
    def key(self) -> str:
        """Key of its answer, by which all are known who give the same."""
        return answer_key(self.quiz, self.quiz.draw if self.quiz.numbers else 0, self.given)

    @property
    def sentences(self) -> str:
        """The stream of what is written for answers."""
        return sentences_in(self.url)

    @property
    def form(self) -> str:
        """The id of the form that it is answered in."""
        return f"{self.sheet or self.name}-form"

    @property
    def field(self) -> str:
        """The name of its fields: a sheet has rows to tell apart."""
        return self.name if self.sheet else "answer"

    @property
    def word(self) -> str:
        """Verdict on the answer, in a word; empty where there is none."""
        return WORDS[self.feedback.correct] if self.feedback else ""

    @property
    def standing(self) -> bool:
        """True if it was solved and nothing else was answered since."""
        return self.solved and (self.feedback is None or self.feedback.correct is True)

    @property
    def announcement(self) -> str:
        """The one sentence for `role=status`."""
        if self.feedback is None:
            return ""
        return f"{self.word}. {words_of(self.feedback.message)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NudgeField:
    """Field to pick an entry of *tensor*; *entry* is its initial value: the one that differs most."""

    tensor: str
    shape: str
    field: str
    entry: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SolutionView:
    """The author's code. *closed* says when it opens, empty if it can be opened now; *own* is shown beside it."""

    exercise: CodeBox
    url: str
    closed: str
    shown: bool
    own: str | None

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(code.source for code in (self.exercise.solution, *self.exercise.alternatives))


@dataclass(frozen=True, slots=True, kw_only=True)
class LineView:
    """One line of the given code of a bug hunt. Statements begin on a *suspect* line, and it can be *named*."""

    number: int
    source: str
    suspect: bool
    named: bool


@dataclass(frozen=True, slots=True)
class LaneCell:
    """One lane of a step: a gradient with its *row* (a given one has none), one that only *passes*, or nothing.

    Args:
        flows: Another one is computed from it.
    """

    name: str
    row: VerdictRow | None
    passes: bool
    flows: bool
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BackwardColumn:
    """Gradients that can be computed beside each other; *joint* leads to them."""

    joint: Markup
    cells: tuple[LaneCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeView:
    """Code box with its text.

    Args:
        scope: What the text may use, for completion: `X|(32, 100); N|32; torch|module`.
        stale: The verdict is about an earlier text, so its line numbers say nothing about this one.
        lines: The given code of a bug hunt, line by line; empty for other boxes.
        nudges: By name of a gradient, the field that an entry of it is picked with.
        strip: The gradients as a graph, column by column; empty for a single one.
        changed: It was solved in another edition than the present one.
        program: The forward program in its head: of whole pages alone.
        past: Address of what follows it, once it is solved and exercises above it may be left out.
        written: By gradient whose mistake is not named, an instructor's sentence for it; "" for nothing yet.
    """

    exercise: CodeBox
    url: str
    code: str
    revision: int
    saved_at: datetime | None
    scope: str
    stale: bool
    checked: VerdictView | None
    run: RunResultView | None
    solved: bool
    hints: HintsView
    solution: SolutionView
    lines: tuple[LineView, ...] = ()
    nudges: Mapping[str, NudgeField] = field(default_factory=dict)
    strip: tuple[BackwardColumn, ...] = ()
    prediction: Prediction | None = None
    failed: int = 0
    changed: bool = False
    program: tuple[ProgramLine, ...] = ()
    past: str = ""
    written: Mapping[str, str] = field(default_factory=dict)

    @property
    def sentences(self) -> str:
        """The stream of what is written for mistakes."""
        return sentences_in(self.url)

    @property
    def asks_principle(self) -> bool:
        """True if a right text may be asked about: which principle is behind one of its lines.

        An open hint or solution may say it already.
        """
        return isinstance(self.exercise, Grad) and not self.hints.open and not self.solution.shown

    @property
    def stretches(self) -> tuple[NamedStep, ...]:
        """The steps with names that its gradients are parted into."""
        return self.exercise.stretches if isinstance(self.exercise, Grad) else ()

    def stretch_of(self, name: str) -> str:
        """The step that writes the gradient *name*; empty where steps have no names."""
        return next((step.title for step in self.stretches if name in step.names), "")

    @property
    def tallies(self) -> tuple[tuple[str, int, int], ...]:
        """By step, how many of its gradients are right in the verdict, and of how many."""
        right = {row.verdict.name for row in self.checked.rows if row.right} if self.checked else set()
        return tuple((step.title, len(right & {*step.names}), len(step.names)) for step in self.stretches)

    @property
    def practise(self) -> bool:
        """True if the page shows where the lines of an exam are practised."""
        return self.exam and not self.solved and self.failed >= PRACTISE_AFTER

    @property
    def map(self) -> DifferencesMap | None:
        """Map of differences of the gradient that is explained."""
        rows = self.checked.rows if self.checked else ()
        differences = next((row.verdict.differences for row in rows if row.explained), None)
        return differences_map(differences) if differences else None

    @property
    def name(self) -> str:
        return self.exercise.name

    @property
    def fitting(self) -> HintPointer | None:
        box = self.exercise
        return self.checked.fitting(box.hints, len(self.hints.open), box.require) if self.checked else None

    @property
    def exam(self) -> bool:
        return is_exam(self.exercise)

    @property
    def state(self) -> str:
        if self.checked is None or self.checked.ours:
            return "open"
        return "right" if self.checked.verdict.passed else "wrong"

    @property
    def longest(self) -> int:
        """Largest number of characters of a check."""
        return MAX_GATED_CHARS

    @property
    def rows(self) -> int:
        return min(MOST_ROWS, max(FEWEST_ROWS, self.code.count("\n") + 1))

    @property
    def rooms(self) -> Markup:
        """A break for each line in sight that may have a shape below it."""
        return Markup("<br>") * sum(map(bool, self.code.split("\n", MOST_ROWS)[:MOST_ROWS]))


def quiz_view(
    cache: RenderCache,
    lesson: Lesson,
    quiz: Quiz,
    state: LessonState,
    shapes: Mapping[str, Shape],
    fresh: tuple[str, ...] | None = None,
) -> QuizView:
    """View of *quiz* in *state*; *fresh* is an answer that was given just now.

    A stored answer is marked again and not read back: feedback follows the lesson as it is today.
    """
    tries = state.tries.get(quiz.name) if quiz.name not in state.again else None
    kind, forward = quiz_kind(quiz), lesson.forwards.get(quiz.forward or "")
    given = fresh if fresh is not None else decoded_answer(tries.newest.text if tries else None)

    def marked() -> Feedback:
        return mark_quiz(quiz, kind.values(given or ()), shapes, forward)

    feedback = None if given is None else cache.of(quiz, shapes, marked, given) if fresh is None else marked()
    url = f"{lesson.address}/quiz/{quiz.name}"
    sheet = lesson.sheets.get(quiz.name)
    view = QuizView(
        quiz=quiz,
        url=url,
        given=given or (),
        feedback=feedback,
        state=STATES[feedback.correct if feedback else None],
        solved=quiz.name in state.solved,
        hints=hints_view(quiz, state, url),
        offered=cache.of(quiz, shapes, lambda: kind.offer(quiz, shapes, forward)),
        sheet=sheet.name if sheet else "",
        line=cache.of(quiz, {}, lambda: kind.line(quiz, forward), "line") if sheet and forward else "",
        edition=(edition := edition_in(cache, lesson, lesson.named[quiz.name])),
        changed=state.changed(quiz.name, edition),
        again=_again(lesson, quiz) if quiz.numbers else "",
    )
    if lesson.drawn or feedback is None or feedback.correct is not False or is_named_answer(quiz, feedback):
        return view
    return replace(view, written=state.written.get((quiz.name, view.key), ""))


def sentences_in(url: str) -> str:
    """Address of the stream of what is written in the lesson that has the exercise at *url*."""
    return f"{url.rsplit('/', 2)[0]}/sentences/events"


def quiz_for_learner(cache: RenderCache, lesson: Lesson, quiz: Quiz, state: LessonState, learner: int | None) -> Quiz:
    """*quiz* with the numbers that *learner* has: those that were asked for or answered last, else their own."""
    tries = state.tries.get(quiz.name)
    if not quiz.draws:
        return quiz
    at = state.again.get(quiz.name, decoded_draw(tries.newest.verdict_json) if tries else None)
    if at is None:
        at = crc32(f"{learner} {quiz.name} {edition_in(cache, lesson, quiz)}".encode()) if learner else 0
    return select_draw(quiz, at)


def _again(lesson: Lesson, quiz: Quiz) -> str:
    return f"{lesson.address}?again={quiz.name}.{quiz.draw + 1}#{quiz.name}"


def edition_in(cache: RenderCache, lesson: Lesson, exercise: Exercise) -> str:
    """The edition of *exercise*, found once."""
    return cache.of(exercise, {}, lambda: edition_of(lesson, exercise), "edition")


def has_left_out(exercise: CodeBox, state: LessonState) -> bool:
    """True if *exercise* counts for others, some of which are not solved."""
    return isinstance(exercise, Grad) and not state.solved.issuperset(exercise.past)


def anchor_after(lesson: Lesson, name: str) -> str:
    """The exercise after the one with that *name*, or the end of the lesson."""
    names = [exercise.name for exercise in lesson.exercises]
    at = names.index(name) + 1
    return names[at] if at < len(names) else "complete"


def code_view(
    cache: RenderCache, lesson: Lesson, exercise: CodeBox, state: LessonState, scope: str, shapes: Mapping[str, Shape]
) -> CodeView:
    draft = state.drafts.get(exercise.name)
    tries = state.tries.get(exercise.name)
    earlier = state.tries.get(exercise.after) if isinstance(exercise, FunctionBox) else None
    right = earlier.newest.text if earlier and earlier.newest.correct else ""
    text = draft.text if draft and not is_unedited(exercise, draft) else starter_of(exercise, right)
    code, named = text, None
    if draft and (word := number_word(exercise)):
        code, named = split_line(text, word)
    changed = state.changed(exercise.name, edition_in(cache, lesson, exercise))
    # What was right of an earlier edition stands in the history; here it would speak of another exercise.
    outdated = changed and tries is not None and tries.newest.correct is True
    verdict = decoded_verdict(tries.newest.verdict_json) if tries and not outdated else None
    url = f"{lesson.address}/code/{exercise.name}"
    view = VerdictView(verdict) if verdict else None
    return CodeView(
        exercise=exercise,
        url=url,
        code=code,
        revision=draft.revision if draft else 0,
        saved_at=draft.saved_at if draft else None,
        scope=scope,
        stale=draft is not None and tries is not None and tries.newest.text != text,
        checked=view,
        run=_ran(exercise, draft.run_json) if draft and draft.run_json else None,
        solved=exercise.name in state.solved,
        past=f"{lesson.address}#{anchor_after(lesson, exercise.name)}" if has_left_out(exercise, state) else "",
        changed=changed,
        hints=hints_view(exercise, state, url, free=not lesson.drawn),
        solution=solution_view(exercise, state, url),
        lines=_lines(cache, exercise, named) if isinstance(exercise, Bug) else (),
        nudges=nudge_fields(exercise, verdict, shapes) if verdict else {},
        strip=_strip(cache, lesson, exercise, view) if view else (),
        prediction=prediction_of(exercise, named, tries.newest.text if tries else "", verdict)
        if exercise.predict
        else None,
        failed=tries.failed if tries else 0,
        written={} if verdict is None or lesson.drawn else written_for(exercise, verdict, state.written),
    )


def written_for(exercise: CodeBox, verdict: Verdict, written: Spoken) -> dict[str, str]:
    """By gradient whose mistake is not named, what is *written* for it; and what is compared for one that is."""
    unnamed = {row.name: written.get((exercise.name, row.key), "") for row in verdict.names if row.key}
    compared = {row.name: written.get((exercise.name, row.code or "")) for row in verdict.names}
    return unnamed | {name: sentence for name, sentence in compared.items() if sentence}


def _ran(exercise: CodeBox, stored: str) -> RunResultView | None:
    run = decoded_run(stored)
    return None if run is None else RunResultView(run, exercise.require)


def starter_of(exercise: CodeBox, right: str) -> str:
    """Starter of the box; after *right*, the text of the box that it continues."""
    source = exercise.starter.source
    if not isinstance(exercise, FunctionBox) or not exercise.after:
        return source
    return join_sources(right or UNTIL_RIGHT, source)


def is_unedited(exercise: CodeBox, draft: Draft | None) -> bool:
    """True if nothing was written in the box since it waits for the one that it continues."""
    return draft is None or (isinstance(exercise, FunctionBox) and draft.text == starter_of(exercise, ""))


def number_word(exercise: CodeBox) -> str | None:
    """Name of the number that goes with the text of *exercise*; None if none does."""
    if isinstance(exercise, Bug):
        return WRONG_LINE
    return PREDICTED if exercise.predict else None


def _strip(cache: RenderCache, lesson: Lesson, exercise: CodeBox, view: VerdictView) -> tuple[BackwardColumn, ...]:
    """The asked gradients of *exercise* with their standings, as a graph in the order of the backward pass."""
    rows = {row.verdict.name: row for row in view.rows}
    names = tuple(name_verdict.name for name_verdict in view.verdict.names)
    columns, sources = cache.of(exercise, {}, lambda: _flow(lesson, exercise, names), names)
    read = {name for several in sources.values() for name in several}
    return tuple(
        BackwardColumn(
            column.joint,
            tuple(
                LaneCell(lane, rows.get(lane), lane == PASSING, lane in read, sources.get(lane, ()))
                for lane in column.lanes
            ),
        )
        for column in columns
    )


def _flow(lesson: Lesson, exercise: CodeBox, names: Collection[str]) -> Flow:
    task = task_of(lesson, exercise)
    task = task.mending if isinstance(task, HuntTask) else task
    required = [name for name in names if name in task.grad.require] if isinstance(task, GradTask) else []
    return (
        gradient_flow(task.forward, required, task.given)
        if isinstance(task, GradTask) and len(required) > 1
        else ((), {})
    )


def _lines(cache: RenderCache, bug: Bug, named: int | None) -> tuple[LineView, ...]:
    suspects = cache.of(bug, {}, lambda: suspects_of(bug), "suspects")
    lines = bug.starter.source.rstrip("\n").split("\n")
    return tuple(
        LineView(number=number, source=source, suspect=number in suspects, named=number == named)
        for number, source in enumerate(lines, start=1)
    )


def is_exam(exercise: Exercise) -> bool:
    """True if passing *exercise* gives a badge: a large box of gradients without a hint."""
    return isinstance(exercise, Grad) and not exercise.hints and len(exercise.require) >= EXAM_NAMES


def exam_in(lessons: Collection[Lesson]) -> tuple[Lesson, Grad] | None:
    """The box that asks for the most gradients without a hint."""
    exams = [
        (lesson, grad) for lesson in lessons for grad in lesson.exercises if isinstance(grad, Grad) and is_exam(grad)
    ]
    return max(exams, key=lambda exam: len(exam[1].require), default=None)


def exam_of(cache: RenderCache, unit: Unit) -> tuple[Lesson, Grad] | None:
    """The exam that *unit* ends in with its lesson, looked for once."""
    return cache.of(unit, {}, lambda: exam_in(unit.lessons), "exam")


def hints_view(exercise: Exercise, state: LessonState, url: str, *, free: bool = True) -> HintsView:
    row = state.progress.get(exercise.name)
    opened = min(row.hints, len(exercise.hints)) if row else 0
    shown = tuple(
        replace(hint, html=render_sentence(sentence)) if sentence else hint
        for number, hint in enumerate(exercise.hints[:opened], start=1)
        for sentence in [state.written.get((exercise.name, hint_moment(number)))]
    )
    return HintsView(open=shown, total=len(exercise.hints), url=f"{url}/hint", free=free)


def solution_view(exercise: CodeBox, state: LessonState, url: str) -> SolutionView:
    row = state.progress.get(exercise.name)
    solved = exercise.name in state.solved
    tries = state.tries.get(exercise.name)
    hints, failed = row.hints if row else 0, tries.failed if tries else 0
    # What was opened stays open, where a later check brings further hints.
    opened = row is not None and row.solution_at is not None and exercise.reveal != "never"
    closed = "" if opened else closed_because(exercise, solved=solved, hints=hints, failed=failed)
    draft = state.drafts.get(exercise.name)
    return SolutionView(
        exercise=exercise,
        url=f"{url}/solution",
        closed=closed,
        shown=opened,
        own=draft.text if draft else None,
    )


def closed_because(exercise: CodeBox, *, solved: bool, hints: int, failed: int) -> str:
    """Say why the solution stays closed for now; empty if it may be opened."""
    if exercise.reveal == "never":
        return "The solution of this box is not shown."
    if solved:
        return ""
    if exercise.reveal == "after-success":
        return "The solution opens when your own code passes."
    if exercise.reveal.startswith("after:"):
        wanted = int(exercise.reveal.removeprefix("after:"))
        left = wanted - failed
        return f"The solution opens after {left} more {'check' if left == 1 else 'checks'}." if left > 0 else ""
    if hints < len(exercise.hints):
        return "The solution opens after the last hint."
    return "" if exercise.hints or failed else "The solution opens after the first check."


def field_of(name: str) -> str:
    """The form field with the index for *name*: all of them travel in the one form of the box."""
    return f"entry-{name}"


def nudge_fields(box: CodeBox, verdict: Verdict, shapes: Mapping[str, Shape]) -> dict[str, NudgeField]:
    """The field of each gradient that *box* asks for, by its name."""
    required = box.require
    return {
        name_verdict.name: _field(name_verdict, shapes.get(name_verdict.name[1:]))
        for name_verdict in verdict.names
        if name_verdict.name in required
    }


def _field(name_verdict: NameVerdict, shape: Shape | None) -> NudgeField:
    entry = name_verdict.worst[0].index if name_verdict.worst else () if shape is None else (0,) * len(shape)
    return NudgeField(
        tensor=name_verdict.name[1:],
        shape="" if shape is None else str(tuple(map(int, shape))),
        field=field_of(name_verdict.name),
        entry=", ".join(map(str, entry)),
    )
