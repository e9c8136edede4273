"""Tasks for graders: one code box with its forward program, as values that cross to a grader process as JSON."""

from dataclasses import dataclass, replace

from app.content.blocks import Bug, Checker, CodeBox, Forward, FunctionBox, Grad, Lesson

PATIENCE = 5
"""Times as long as its processor time a run may take on the clock: on a busy machine a sound one is not cut short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradTask:
    """One code box, ready to be graded.

    Args:
        given: Gradients in scope besides the upstream of the output: the ones that the author gives and the ones
            that earlier boxes of the chain (`:after:`) asked for.
    """

    forward: Forward
    grad: Grad
    given: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.grad.name

    @property
    def seconds(self) -> float:
        return self.grad.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class HuntTask:
    """A bug hunt; *mending* grades the mended code like that of any box."""

    bug: Bug
    mending: GradTask

    @property
    def name(self) -> str:
        return self.bug.name

    @property
    def seconds(self) -> float:
        return self.bug.seconds


AnyTask = GradTask | HuntTask | Checker | FunctionBox


def task_of(lesson: Lesson, box: CodeBox) -> AnyTask:
    """The task of *box*; what is asked for a function needs nothing else of the lesson."""
    match box:
        case Bug():
            return hunt_task_of(lesson, box)
        case Grad():
            return grad_task_of(lesson, box)
    assert isinstance(box, Checker | FunctionBox), "there is no other kind of box"
    return box


def hunt_task_of(lesson: Lesson, bug: Bug) -> HuntTask:
    """The task of *bug*."""
    return HuntTask(bug=bug, mending=grad_task_of(lesson, _mending(bug)))


def grad_task_of(lesson: Lesson, grad: Grad) -> GradTask:
    """The task of *grad*, with the names of the boxes that it continues."""
    forward = lesson.forward(grad.forward)
    assert forward is not None, "the parser resolves :forward:"
    # Hints say nothing of what is right; at practice they change with what was diagnosed.
    return GradTask(forward=forward, grad=replace(grad, hints=()), given=given_gradients(lesson, grad))


def given_gradients(lesson: Lesson, grad: Grad) -> tuple[str, ...]:
    """Gradients in scope besides the upstream: given by the author, or asked for by the boxes that it continues."""
    names = list(grad.given)
    earlier = grad.after
    while earlier is not None:
        before = lesson.exercise(earlier)
        assert isinstance(before, Grad), "the parser resolves :after: to a code box"
        names += before.require
        earlier = before.after
    return tuple(dict.fromkeys(names))


def _mending(bug: Bug) -> Grad:
    """The box that *bug* would be if its line were known."""
    return Grad(
        place=bug.place,
        name=bug.name,
        forward=bug.forward,
        require=bug.require,
        starter=bug.starter,
        solution=bug.solution,
        mistakes=bug.mistakes,
        seconds=bug.seconds,
    )
