"""The way of one learner through a lesson: every stored attempt, with what changed since the one before.

What is noted is what was seen, and no more: that a solution stood open, that a text came whole. Nothing is compared
with the texts of others: right lines are short, and equal by nature.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from markupsafe import Markup

from app.content.blocks import CodeBox, Lesson, Quiz
from app.engine.json_columns import decoded_answer, decoded_draw
from app.kinds.registry import select_draw
from app.store.board import AttemptText, ExerciseStatus
from app.store.tables import Attempt
from app.teaching.dates import format_moment
from app.web.verdict_words import Mark
from app.web.views.attempt_mistakes import answer_words, fault_of
from app.web.views.board_view import AssignedExercise
from app.web.views.exercise_view import starter_of
from app.web.views.text_changes import DiffLine, diff_lines

AFTER_SOLUTION = "Solved after opening the solution."
AT_ONCE = "The whole text arrived at once; no earlier draft was saved."
SOLUTION = "The solution was opened."


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """One thing that a learner did; *number* counts the attempts at one exercise, None for what is none."""

    place: AssignedExercise
    at: datetime
    when: str
    after: str
    number: int | None
    mark: Mark
    said: Markup
    code: str | None = None
    lines: tuple[DiffLine, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceView:
    """The steps in a lesson, oldest first; *hints* are those with open hints."""

    lesson: Lesson
    steps: tuple[TraceEvent, ...]
    hints: tuple[tuple[AssignedExercise, int], ...]


def trace_view(
    lesson: Lesson,
    places: Sequence[AssignedExercise],
    attempts: Sequence[Attempt],
    standings: Mapping[str, ExerciseStatus],
    timezone: str,
) -> TraceView:
    """
    Args:
        places: The exercises of *lesson* that are assigned.
        standings: By exercise, where the learner stands.
    """
    by_name = {assigned_exercise.exercise.name: assigned_exercise for assigned_exercise in places}
    before: dict[str, Attempt] = {}
    numbers: dict[str, int] = {}
    moments: list[tuple[datetime, TraceEvent]] = []
    last = None
    for attempt in attempts:
        place = by_name.get(attempt.exercise)
        if place is None:
            continue
        numbers[attempt.exercise] = numbers.get(attempt.exercise, 0) + 1
        exercise_status = standings.get(attempt.exercise)
        step = _step(
            place, attempt, before.get(attempt.exercise), exercise_status, numbers[attempt.exercise], timezone, last
        )
        moments.append((attempt.created_at, step))
        before[attempt.exercise], last = attempt, attempt.created_at
    for name, exercise_status in standings.items():
        if exercise_status.solution_at is not None and name in by_name:
            when = format_moment(exercise_status.solution_at, timezone)
            opened = TraceEvent(
                place=by_name[name], at=exercise_status.solution_at, when=when, after="", number=None, mark="later",
                said=Markup(SOLUTION),
            )  # fmt: skip
            moments.append((exercise_status.solution_at, opened))
    steps = tuple(step for _, step in sorted(moments, key=lambda pair: pair[0]))
    return TraceView(
        lesson,
        steps,
        tuple(
            (by_name[name], exercise_status.hints)
            for name, exercise_status in standings.items()
            if exercise_status.hints
        ),
    )


def _step(
    place: AssignedExercise,
    attempt: Attempt,
    earlier: Attempt | None,
    standing: ExerciseStatus | None,
    number: int,
    timezone: str,
    last: datetime | None,
) -> TraceEvent:
    right = attempt.correct is True
    fault = None if right else fault_of(place.exercise, attempt.code, AttemptText(attempt.text, attempt.verdict_json))
    words = fault.said if fault else Markup("Right.")
    lines: tuple[DiffLine, ...] = ()
    if isinstance(place.exercise, CodeBox):
        lines = diff_lines(earlier.text if earlier else starter_of(place.exercise, ""), attempt.text)
    elif right and isinstance(place.exercise, Quiz) and (given := decoded_answer(attempt.text)) is not None:
        words = Markup("Right: ") + answer_words(select_draw(place.exercise, decoded_draw(attempt.verdict_json)), given)
    return TraceEvent(
        place=place,
        at=attempt.created_at,
        when=format_moment(attempt.created_at, timezone),
        after=between(attempt.created_at - last) if last else "",
        number=number,
        mark="right" if right else "wrong" if attempt.correct is False else "fault",
        said=words,
        code=attempt.code,
        lines=lines,
        notes=tuple(_notes(attempt, earlier, standing)),
    )


def _notes(attempt: Attempt, earlier: Attempt | None, standing: ExerciseStatus | None) -> list[str]:
    if not attempt.correct or standing is None:
        return []
    first_right = earlier is None or (standing.solved_at is not None and earlier.created_at < standing.solved_at)
    after_solution = standing.solution_at is not None and standing.solution_at <= attempt.created_at
    notes = [AFTER_SOLUTION] if after_solution and first_right else []
    return [*notes, AT_ONCE] if earlier is None and attempt.revision == 1 else notes


def between(time: timedelta) -> str:
    """A length of time in its largest unit."""
    seconds = int(time.total_seconds())
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            count = seconds // length
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return f"{seconds} s"
