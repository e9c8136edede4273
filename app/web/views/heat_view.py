"""A lesson as a class has it: one cell for each learner and exercise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.content.blocks import Lesson
from app.store.board import ExerciseStatus
from app.store.tables import Membership
from app.web.views.board_view import AssignedExercise

State = Literal["untouched", "opened", "tried", "solved", "after"]
STATE_SIGNS: dict[State, str] = {"untouched": "", "opened": "○", "tried": "", "solved": "✓", "after": "✓*"}
STATE_WORDS: dict[State, str] = {
    "untouched": "untouched",
    "opened": "a hint or the solution was opened, nothing tried",
    "tried": "tried",
    "solved": "solved",
    "after": "solved after opening the solution",
}


@dataclass(frozen=True, slots=True)
class HeatCell:
    """Progress of a learner at an exercise."""

    place: AssignedExercise
    standing: ExerciseStatus

    @property
    def state(self) -> State:
        exercise_status = self.standing
        if exercise_status.solved_at is not None:
            return (
                "after"
                if exercise_status.solution_at is not None and exercise_status.solution_at <= exercise_status.solved_at
                else "solved"
            )
        if exercise_status.tries:
            return "tried"
        return "opened" if exercise_status.hints or exercise_status.solution_at else "untouched"

    @property
    def sign(self) -> str:
        return str(self.standing.tries) if self.state == "tried" else STATE_SIGNS[self.state]

    @property
    def told(self) -> str:
        """Text of the cell, with the newest code."""
        exercise_status = self.standing
        tries = (
            f", {exercise_status.tries} {'try' if exercise_status.tries == 1 else 'tries'}"
            if exercise_status.tries
            else ""
        )
        return f"{STATE_WORDS[self.state]}{tries}{f'; newest: {exercise_status.code}' if exercise_status.code else ''}"


@dataclass(frozen=True, slots=True)
class HeatView:
    """The cells by learner; *solved* counts them by exercise, *names* tell namesakes apart."""

    lesson: Lesson
    places: tuple[AssignedExercise, ...]
    rows: tuple[tuple[Membership, tuple[HeatCell, ...]], ...]
    solved: tuple[int, ...]
    names: Mapping[int, str]


def heat_view(
    lesson: Lesson,
    places: Sequence[AssignedExercise],
    people: Sequence[Membership],
    standings: Sequence[ExerciseStatus],
    names: Mapping[int, str],
) -> HeatView:
    """
    Args:
        people: Those who are shown; *names* tells them and all others of the class apart.
    """
    by_learner = {(exercise_status.learner, exercise_status.exercise): exercise_status for exercise_status in standings}

    def cell(person: Membership, place: AssignedExercise) -> HeatCell:
        at = person.learner_id, place.exercise.name
        return HeatCell(place, by_learner.get(at) or ExerciseStatus(learner=at[0], exercise=at[1]))

    shown = {person.learner_id for person in people}
    rows = tuple((person, tuple(cell(person, place) for place in places)) for person in people)
    solved = tuple(
        sum(
            exercise_status.solved_at is not None
            for exercise_status in standings
            if exercise_status.exercise == place.exercise.name and exercise_status.learner in shown
        )
        for place in places
    )
    return HeatView(lesson, tuple(places), rows, solved, names)
