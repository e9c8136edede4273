"""Nudging an entry, as the page shows it: the field that an entry is picked with, and the answer."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.content.blocks import Checker, CodeBox, Lesson
from app.engine.grader import Nudge
from app.grading.forward.facts import Shape
from app.grading.judge.verdict import NameVerdict, Verdict
from app.grading.quiz.wording import written
from app.web.verdict_words import OUTCOMES, spoken

ENTRY_CHARACTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class NudgeField:
    """Where an entry of *tensor* is picked; *entry* stands there at first: the one that differs most."""

    tensor: str
    shape: str
    field: str
    entry: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NudgeView:
    """What a nudge told. *rows* are labels with numbers; none where only *message* explains.

    Args:
        loss: What L is, such as `sum(dY * Y)`.
    """

    box: str
    name: str
    back: str
    at: str
    loss: str
    step: str
    rows: tuple[tuple[str, str], ...]
    title: str
    message: str
    note: str

    @property
    def announcement(self) -> str:
        numbers = [f"The quotient is {self.rows[2][1]}; {self.rows[3][0]}: {self.rows[3][1]}."] if self.rows else []
        title = [f"{self.title}."] if self.title else []
        return spoken(" ".join([*title, *numbers, self.note, self.message]))


def field_of(name: str) -> str:
    """The form field with the index for *name*: all of them travel in the one form of the box."""
    return f"entry-{name}"


def nudge_fields(box: CodeBox, verdict: Verdict | None, shapes: Mapping[str, Shape]) -> dict[str, NudgeField]:
    """The field of each gradient that *box* asks for, by its name."""
    if verdict is None or isinstance(box, Checker):
        return {}
    return {one.name: _field(one, shapes.get(one.name[1:])) for one in verdict.names if one.name in box.require}


def _field(one: NameVerdict, shape: Shape | None) -> NudgeField:
    entry = one.worst[0].index if one.worst else () if shape is None else (0,) * len(shape)
    return NudgeField(
        tensor=one.name[1:],
        shape="" if shape is None else written(shape),
        field=field_of(one.name),
        entry=", ".join(map(str, entry)),
    )


def nudge_view(lesson: Lesson, box: CodeBox, nudge: Nudge) -> NudgeView:
    at = f"[{', '.join(map(str, nudge.entry))}]" if nudge.entry else ""
    measured = nudge.outcome == "graded"
    return NudgeView(
        box=box.name,
        name=nudge.name,
        back=f"/lessons/{lesson.slug}#{box.name}",
        at=at,
        loss=nudge.loss,
        step=f"{nudge.step:g}",
        rows=_rows(nudge, at) if measured else (),
        title="" if measured or nudge.outcome == "refused" else OUTCOMES[nudge.outcome],
        message=nudge.message,
        note=nudge.note,
    )


def _rows(nudge: Nudge, at: str) -> tuple[tuple[str, str], ...]:
    own = "none" if nudge.own is None else f"{nudge.own:.7g}"
    return (
        ("L at `+h`", f"{nudge.above:.15g}"),
        ("L at `−h`", f"{nudge.below:.15g}"),
        ("difference / `2h`", f"{nudge.quotient:.7g}"),
        (f"your `{nudge.name}{at}`", own),
    )
