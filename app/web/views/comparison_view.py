"""A comparison of two wordings, as the instructors of a class see it: counts, and what may be concluded from them."""

from dataclasses import dataclass

from markupsafe import Markup

from app.content.blocks import Exercise, Lesson
from app.content.text.exercise_titles import exercise_title
from app.insight.comparison import Arm, Difference, difference
from app.store.comparisons import ArmCounts
from app.store.tables import Comparison
from app.web.views.items_view import mistake_words, share_text

HINT = "hint-"


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison with its exercise, which the course may have no more, and what came of each wording."""

    row: Comparison
    lesson: Lesson | None
    exercise: Exercise | None
    arms: tuple[ArmCounts, ArmCounts]
    least: int

    @property
    def title(self) -> str:
        return exercise_title(self.exercise) if self.exercise else self.row.exercise

    @property
    def about(self) -> Markup:
        return about_words(self.lesson, self.exercise, self.row.about)

    @property
    def told(self) -> bool:
        """True if so many tried again after each that no one is known by a count."""
        return all(arm.tries >= self.least for arm in self.arms)

    @property
    def wordings(self) -> tuple[tuple[str, str, str], ...]:
        """Each wording with how many saw it and what share of the next tries was right."""
        pairs = zip((self.row.first, self.row.second), self.arms, strict=True)
        return tuple(
            (
                said,
                str(arm.shown) if not 0 < arm.shown < self.least else f"fewer than {self.least}",
                f"{arm.right} of {arm.tries}, {share_text(arm.right, arm.tries)}" if self.told else "\N{EN DASH}",
            )
            for said, arm in pairs
        )

    @property
    def difference(self) -> Difference:
        first, second = (Arm(arm.tries, arm.right) for arm in self.arms)
        return difference(first, second)

    @property
    def concluded(self) -> str:
        """Conclusion about the difference, in a sentence."""
        if not self.told:
            return f"Nothing is told before {self.least} learners have tried again after each."
        seen = self.difference
        between = f"between {_points(seen.low)} and {_points(seen.high)} percentage points"
        if seen.winner is None:
            return f"Either may be as good: with the second, the next try is right more often by {between}."
        better = ("first", "second")[seen.winner]
        return f"The {better} helps more: with the second, the next try is right more often by {between}."


def _points(share: float) -> str:
    return f"{round(100 * share):+d}".replace("-", "\N{MINUS SIGN}")


def about_words(lesson: Lesson | None, exercise: Exercise | None, about: str) -> Markup:
    """Subject of a comparison, as people would say it."""
    if about.startswith(HINT):
        return Markup("hint {}").format(about.removeprefix(HINT))
    return mistake_words(lesson, exercise, about) if lesson and exercise else Markup("{}").format(about)
