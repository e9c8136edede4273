"""What a nudge told, as the page shows it."""

from dataclasses import dataclass

from app.content.blocks import CodeBox, Lesson
from app.engine.grader import Nudge
from app.web.verdict_words import OUTCOMES, spoken


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
    own = "none" if nudge.own is None else f"{nudge.own:#.7g}"
    return (
        ("L at `+h`", f"{nudge.above:#.15g}"),
        ("L at `−h`", f"{nudge.below:#.15g}"),
        ("difference / `2h`", f"{nudge.quotient:#.7g}"),
        (f"your `{nudge.name}{at}`", own),
    )
