"""Views of item analysis for authors and instructors: counts over many learners, never a name."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from markupsafe import Markup, escape

from app.content.blocks import CodeBox, Course, Exercise, Lesson, Quiz, SourceLocation
from app.content.text.exercise_titles import exercise_title
from app.content.text.sentences import render_sentence
from app.grading.judge.verdict import DIFFERS, INNOCENT, UNRECOGNISED
from app.insight.curves import LearningCurve
from app.insight.item_counts import NextTries
from app.insight.mistakes import STOPPED, answer_of
from app.insight.needs import Sign
from app.insight.report import FEW, REPORT, CourseReport, ReportedItem, ReportedMistake, ReportedNeed
from app.kinds.registry import select_draw
from app.practice.practice_words import family_words, slip_words
from app.practice.scheduler import slip_of
from app.web.pictures.rates import draw_rates
from app.web.pictures.svg import draw_bar
from app.web.views.attempt_mistakes import answer_words
from app.web.views.sentence_view import subject_of
from app.web.views.slips_view import said_of

SIGN_WORDS: dict[Sign, str] = {
    "discrimination": "Who knows the rest of the unit is right here no more often: look at the key.",
    "few-right": "Fewer than half were right within five tries.",
    "hard": "At the first try far more were wrong than at the other exercises of the lesson.",
    "hint": "After hint {about} fewer got on than without it.",
    "sentence": "What is said to this mistake leads few away from it: {about}",
    "unrecognised": "Many wrong tries have no sentence of their own.",
    "left": "Three times as many went away from here as from the exercises beside it.",
    "no-work": "Nearly everybody was right at once.",
}


NAMELESS_WORDS = {
    UNRECOGNISED: "not recognised",
    INNOCENT: "suspected, and right as it stands",
    DIFFERS: "another value",
}


@dataclass(frozen=True, slots=True)
class MistakeView:
    """A mistake in words, and the place of the sentence for it in the lesson file."""

    counts: ReportedMistake
    said: Markup
    place: SourceLocation
    share: float
    by_answer: bool
    nameless: bool
    """Whether somebody may write a sentence for all who made it."""

    @property
    def comparable(self) -> bool:
        """True if two sentences for it can be compared."""
        return not self.by_answer and self.counts.key != STOPPED

    @property
    def got_on(self) -> str:
        """Share of next tries that the mistake was gone from; those that were right, at a question."""
        return share_text(
            self.counts.after.right if self.by_answer else self.counts.after.left, self.counts.after.tries
        )

    @property
    def right_next(self) -> str:
        return share_text(self.counts.after.right, self.counts.after.tries)

    @property
    def drawn(self) -> Markup:
        return draw_bar((self.share, "wrong"))


@dataclass(frozen=True, slots=True)
class NeedView:
    """A sign in words, and the line of the lesson file that it is about."""

    said: Markup
    place: SourceLocation

    @property
    def line(self) -> str:
        return file_line(self.place)


@dataclass(frozen=True, slots=True)
class HintView:
    """A hint in words: who opened it, and how the next try went."""

    said: str
    people: str
    after: str
    number: int


@dataclass(frozen=True, slots=True)
class ItemView:
    """An exercise in one edition, with its place in the course."""

    lesson: Lesson
    exercise: Exercise
    item: ReportedItem
    needs: tuple[NeedView, ...]

    @property
    def mistakes(self) -> tuple[MistakeView, ...]:
        wrong = max(self.item.counts.wrong, 1)
        return tuple(
            MistakeView(
                mistake,
                mistake_words(self.lesson, self.exercise, mistake.key),
                sentence_place(self.exercise, mistake.key),
                mistake.tries / wrong,
                isinstance(self.exercise, Quiz),
                _may_have_sentence(self.exercise, mistake),
            )
            for mistake in self.item.mistakes
        )

    @property
    def never(self) -> tuple[Markup, ...]:
        """Wrong options that were never chosen."""
        options = getattr(self.exercise, "options", ())
        return tuple(options[number].html for number in self.item.never if number < len(options))

    @property
    def title(self) -> str:
        return exercise_title(self.exercise)

    @property
    def line(self) -> str:
        return file_line(self.exercise.place)

    @property
    def drawn(self) -> Markup:
        """A bar: right at the first try, right later, not right."""
        counts = self.item.counts
        first, right = max(counts.first, 0), max(counts.right, 0)
        tried = max(counts.tried, right, 1)
        return draw_bar((first / tried, "right"), (max(right - first, 0) / tried, "later"))

    @property
    def first_share(self) -> str:
        return share_text(self.item.counts.first, self.item.counts.tried)

    @property
    def right_share(self) -> str:
        return share_text(self.item.counts.right, max(self.item.counts.tried, self.item.counts.right))

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """Every number with what it is called."""
        counts = self.item.counts
        return (
            ("opened the lesson or tried", people_text(counts.seen)),
            ("tried it", people_text(counts.tried)),
            ("right at the first try", f"{people_text(counts.first)} {self.first_share}".strip()),
            ("right within five tries", people_text(counts.in_few)),
            ("right at any time", people_text(counts.right)),
            ("right only after a hint", people_text(counts.after_hint)),
            ("right only after the solution", people_text(counts.after_solution)),
            ("went away unsolved for a week", people_text(counts.left)),
            ("tries until right: half, nine in ten", _pair(counts.median_tries, counts.most_tries)),
            ("minutes before the first try (median)", number_text(counts.start_minutes)),
            ("minutes until right, where it took more (median)", number_text(counts.work_minutes)),
            ("discrimination", number_text(counts.discrimination, 2)),
            ("wrong tries without a sentence", share_text(self.item.unrecognised, counts.wrong) or "–"),
        )

    def number(self, name: str) -> str:
        """One of the *rows*."""
        return dict(self.rows)[name]

    @property
    def hints(self) -> tuple[HintView, ...]:
        return tuple(
            HintView(
                f"hint {hint.number}" if hint.number else "the solution",
                people_text(hint.people),
                next_text(hint.after),
                hint.number,
            )
            for hint in self.item.counts.hints
        )

    @property
    def unhelped(self) -> str:
        return next_text(self.item.counts.unhelped)


@dataclass(frozen=True, slots=True)
class CurveView:
    """A learning curve, drawn, with its points."""

    title: str
    curve: LearningCurve
    slips: tuple[tuple[str, str], ...]

    @property
    def drawn(self) -> Markup:
        points = self.curve.points
        return draw_rates(self.title, [point.wrong for point in points], [point.people for point in points])


@lru_cache(maxsize=2)  # the same for everybody who looks
def decoded_report(text: str | None) -> CourseReport | None:
    """The report that a database keeps; None where an older version wrote it."""
    try:
        return REPORT.validate_json(text or "")
    except ValueError:
        return None


def item_views(course: Course, items: Sequence[ReportedItem]) -> list[ItemView]:
    """Those *items* that *course* has now, in their order."""
    lessons = {lesson.name: lesson for lesson in course.lessons}
    return [
        _item_view(lessons[item.lesson], exercise, item)
        for item in items
        if item.lesson in lessons and (exercise := lessons[item.lesson].named.get(item.exercise))
    ]


def by_exercise(lesson: Lesson, views: Sequence[ItemView]) -> list[list[ItemView]]:
    """*views* of a lesson in its order, all editions of one exercise together, the newest first."""
    order = {exercise.name: number for number, exercise in enumerate(lesson.exercises)}
    ordered = sorted(views, key=lambda view: (order[view.exercise.name], -view.item.edition))
    return [list(group) for _, group in groupby(ordered, key=lambda view: view.exercise.name)]


def curve_views(report: CourseReport) -> list[CurveView]:
    return [
        CurveView(
            family_words(curve.family),
            curve,
            tuple(
                (slip_words(slip), ", ".join(share_text(point.wrong, point.people) for point in points))
                for slip, points in curve.slips.items()
            ),
        )
        for curve in report.curves
    ]


def _item_view(lesson: Lesson, exercise: Exercise, item: ReportedItem) -> ItemView:
    return ItemView(lesson, exercise, item, tuple(_need_view(lesson, exercise, need) for need in item.needs))


def _may_have_sentence(exercise: Exercise, mistake: ReportedMistake) -> bool:
    named_by_author = isinstance(exercise, Quiz) and mistake.recognised
    return not named_by_author and bool(subject_of(exercise, mistake.key))


def _need_view(lesson: Lesson, exercise: Exercise, need: ReportedNeed) -> NeedView:
    about, place = escape(need.about), exercise.place
    if need.sign == "sentence":
        about, place = mistake_words(lesson, exercise, need.about), sentence_place(exercise, need.about)
    if need.sign == "hint" and int(need.about) <= len(exercise.hints):
        place = exercise.hints[int(need.about) - 1].place
    return NeedView(Markup(SIGN_WORDS[need.sign]).format(about=about), place)


def mistake_words(lesson: Lesson, exercise: Exercise, key: str) -> Markup:
    """A mistake as people would say it."""
    if isinstance(exercise, Quiz):
        draw, given = answer_of(key)
        return answer_words(select_draw(exercise, draw), given)
    if key == STOPPED:
        return Markup("stopped, or not finished")
    nameless = NAMELESS_WORDS.get(slip_of(key))
    words = escape(nameless) if nameless else said_of(lesson, exercise.name, key)
    name = subject_of(exercise, key) or key.partition(":")[0]
    return Markup("{} {}").format(render_sentence(f"`{name}`:"), words) if name != key else words


def sentence_place(exercise: Exercise, key: str) -> SourceLocation:
    """Place of the sentence for a mistake in the lesson file; its exercise where it has none."""
    if isinstance(exercise, Quiz):
        options = getattr(exercise, "options", ())
        chosen = [int(value) for value in answer_of(key)[1] if value.isdecimal()] if options else []
        return options[chosen[0]].place if len(chosen) == 1 and chosen[0] < len(options) else exercise.place
    number = slip_of(key).removeprefix("declared-")
    declared = exercise.mistakes if isinstance(exercise, CodeBox) else ()
    is_declared = number != slip_of(key) and number.isdecimal() and 0 < int(number) <= len(declared)
    return declared[int(number) - 1].place if is_declared else exercise.place


def file_line(place: SourceLocation) -> str:
    """A place as its file alone and the line, such as `05-sums.md:26`."""
    return f"{place.path.rpartition('/')[2]}:{place.line}"


def share_text(part: int, whole: int) -> str:
    """`62 %`; empty where nothing is to be told."""
    return f"{round(100 * part / whole)} %" if whole > 0 and part >= 0 else ""


def people_text(count: int) -> str:
    return "few" if count == FEW else str(count)


def next_text(after: NextTries) -> str:
    """`12 of 40, 30 %`: next tries that were right."""
    return f"{after.right} of {after.tries}, {share_text(after.right, after.tries)}" if after.tries else "–"


def number_text(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def _pair(first: float | None, second: float | None) -> str:
    return "–" if first is None or second is None else f"{first:g}, {second:g}"
