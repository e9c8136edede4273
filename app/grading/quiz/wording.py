"""Words that all quizzes share: shapes as text, axes by name, the gradient's tensor."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from app.content.prose import sentence
from app.grading.forward.facts import Shape
from app.grading.quiz.feedback import Feedback

NOT_YET = "Not yet."


def written(shape: Sequence[object]) -> str:
    """A shape as Python writes it: `(27,)`, `(32, 27)`, `()`."""
    sizes = [str(int(size)) if isinstance(size, int) else str(size) for size in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def name_of(size: int) -> str:
    """The dim that a size came from, or nothing."""
    return str(getattr(size, "name", ""))


def named(shape: Shape) -> str:
    """A shape by the names of its dims, such as `(N, H)`; empty unless every axis has one."""
    names = [name_of(size) for size in shape]
    return written(names) if names and all(names) else ""


def shape_text(shape: Shape) -> str:
    """`(N, H)` = `(32, 27)` in backticks, or the numbers alone where there are no names."""
    names = named(shape)
    return f"`{names}` = `{written(shape)}`" if names else f"`{written(shape)}`"


def tensor_of(name: str, shapes: Mapping[str, Shape]) -> str | None:
    """The tensor whose shape *name* has: itself, or `W` for `dW`."""
    if name in shapes:
        return name
    return name[1:] if name.startswith("d") and name[1:] in shapes else None


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def counted(number: int, thing: str, things: str) -> str:
    return f"{number} {thing if number == 1 else things}"


def unread(message: str, echo: str = "") -> Feedback:
    """Neither right nor wrong."""
    return Feedback(correct=None, message=sentence(message), echo=echo)


def wrong(message: str | Markup, echo: str = "") -> Feedback:
    return Feedback(correct=False, message=message if isinstance(message, Markup) else sentence(message), echo=echo)


def right(message: str | Markup, echo: str = "") -> Feedback:
    return Feedback(correct=True, message=message if isinstance(message, Markup) else sentence(message), echo=echo)


def underivable(name: str) -> Feedback:
    """The author's program, or a grader that is not there, is the reason; never the learner."""
    return unread(f"The shape of `{name}` is not known yet, so this answer cannot be marked now.")
