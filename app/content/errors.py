"""What an author is told: where, what was seen, and what to write instead."""

from dataclasses import dataclass

from app.content.blocks import Place


@dataclass(frozen=True, slots=True)
class LessonError:
    """One fault in a lesson file.

    Args:
        code: Stable and short, such as `unknown-option`.
        message: What was seen, in one sentence.
        fix: What to write instead, or an empty string.
    """

    place: Place
    code: str
    message: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.code} {self.message}" + (f" {self.fix}" if self.fix else "")


class LessonErrors(Exception):
    """Every fault of every file that was read, in file order."""

    def __init__(self, errors: tuple[LessonError, ...]) -> None:
        super().__init__("\n".join(str(error) for error in errors))
        self.errors = errors
