"""Exercises that are answered with code: one frozen class per kind of box, and the values they are made of."""

from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup

from app.content.blocks.exercises import Exercise, Html, NamedStep
from app.content.blocks.places import SourceLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Python text inside a lesson; *line* is the line of the file on which it starts."""

    place: SourceLocation
    source: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredMistake:
    """Wrong code with the message that a learner who writes it gets.

    *message* is plain text with backticks for code; *html* is the same, rendered.
    """

    place: SourceLocation
    message: str
    html: Html
    code: Code


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBox(Exercise):
    """An exercise that is answered with Python text.

    Args:
        starter: What stands in the box at first.
        require: The gradients that it asks for, as the learner writes them, such as `dW`, in the author's order.
        predict: What is asked before the first check: which of the gradients will be red? Nothing, where it is not.
        alternatives: Further solutions that are equally right (`:same-as:`).
        reveal: When the solution opens: `after-hints`, `after-success`, `after:N` or `never`.
        explained: A sentence for each line of the solution, where it was drawn.
    """

    starter: Code
    solution: Code
    require: tuple[str, ...] = ()
    predict: Html = field(default_factory=Markup)
    alternatives: tuple[Code, ...] = ()
    mistakes: tuple[DeclaredMistake, ...] = ()
    seconds: float = 2.0
    reveal: str = "after-hints"
    explained: tuple[Html, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grad(CodeBox):
    """A code box: the learner writes gradients of a forward program.

    Args:
        given: Extra gradients in scope besides the upstream of the output, such as `dlogits`.
        one_road: Why nothing but the rule of each step will do, in a sentence; empty where any road will.
        stretches: The steps with names that its gradients are parted into, in their order; none for a short box.
        past: Code boxes above it that may be left out once it is solved.
    """

    forward: str
    require: tuple[str, ...]
    grade: Literal["rule", "value"] = "value"
    one_road: str = ""
    given: tuple[str, ...] = ()
    atol: float | None = None
    rtol: float | None = None
    forbid: tuple[str, ...] = ()
    after: str | None = None
    stretches: tuple[NamedStep, ...] = ()
    past: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectLine:
    """Line of a `Bug` that is right as it is, with the message for a learner who suspects it."""

    place: SourceLocation
    line: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug(CodeBox):
    """A backward pass with one wrong line: the learner names the line and mends it.

    Args:
        starter: The backward pass as the learner sees it.
        line, end: The wrong line of *starter*, from 1, and its last one where it is continued.
        mended: What belongs there.
        solution: The whole backward pass, mended.
        mistakes: Wrong ways to mend the line, each as a whole backward pass.
    """

    forward: str
    require: tuple[str, ...]
    line: int
    end: int
    mended: Code
    innocent: tuple[CorrectLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerCase:
    """One call that a learner's check must answer with true (*right*) or with false.

    Args:
        message: What to say to a learner whose check answers otherwise; plain text with backticks for code.
        code: Writes the arguments of the function.
    """

    place: SourceLocation
    right: bool
    message: str
    html: Html
    code: Code


@dataclass(frozen=True, slots=True, kw_only=True)
class Checker(CodeBox):
    """The learner writes *function*, which must tell right gradients from wrong ones."""

    function: str
    arguments: tuple[str, ...]
    cases: tuple[CheckerCase, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCase:
    """One situation in which the learner's function or class must behave as the author's does.

    Args:
        message: What to say to a learner whose code behaves otherwise; plain text with backticks for code.
        code: Writes the arguments, or `result` itself; `def expect(result)` accepts more than one answer.
        predicate: Whether there is an `expect`.
    """

    place: SourceLocation
    message: str
    code: Code
    predicate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionBox(CodeBox):
    """The learner writes *function*, or a class of that name, which is judged by its values on the *cases*.

    Args:
        after: The box that this one continues: what was written there stands above what is written here.
        above: The solution of that box, with which *solution* and *mistakes* begin.
    """

    function: str
    arguments: tuple[str, ...]
    cases: tuple[FunctionCase, ...]
    after: str = ""
    above: str = ""


def join_sources(above: str, source: str) -> str:
    """*source* in one text with what it continues; alone where that is nothing."""
    return f"{above.rstrip()}\n\n\n{source}" if above else source
