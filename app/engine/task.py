"""What is graded: one code box with its forward program, as values that cross to a grader process as JSON."""

from dataclasses import dataclass

from app.content.blocks import Forward, Grad, Lesson


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One code box, ready to be graded.

    Args:
        given: Gradients in scope besides the upstream of the output: the ones that the author gives and the ones
            that earlier boxes of the chain (`:after:`) asked for.
    """

    forward: Forward
    grad: Grad
    given: tuple[str, ...]


def task_of(lesson: Lesson, grad: Grad) -> Task:
    """The task of *grad*, with the names of the boxes that it continues."""
    given = list(grad.given)
    earlier = grad.after
    while earlier is not None:
        before = lesson.exercise(earlier)
        assert isinstance(before, Grad), "the parser resolves :after: to a code box"
        given += [name for name in before.require if name not in given]
        earlier = before.after
    forward = lesson.forward(grad.forward)
    assert forward is not None, "the parser resolves :forward:"
    return Task(forward=forward, grad=grad, given=tuple(given))
