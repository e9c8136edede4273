"""Tasks for graders: one code box with its forward program, as values that cross to a grader process as JSON."""

from dataclasses import dataclass, replace

from app.content.blocks import Bug, Checker, CodeBox, Forward, FunctionBox, Grad, Lesson


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerTask:
    """A check that the learner writes."""

    checker: Checker

    @property
    def name(self) -> str:
        return self.checker.name

    @property
    def seconds(self) -> float:
        return self.checker.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTask:
    """A function or class that the learner writes."""

    box: FunctionBox

    @property
    def name(self) -> str:
        return self.box.name

    @property
    def seconds(self) -> float:
        return self.box.seconds


AnyTask = GradTask | HuntTask | CheckerTask | FunctionTask


def task_of(lesson: Lesson, box: CodeBox) -> AnyTask:
    """The task of *box*."""
    match box:
        case Checker():
            return CheckerTask(checker=box)
        case FunctionBox():
            return FunctionTask(box=box)
        case Bug():
            return hunt_task_of(lesson, box)
        case Grad():
            return grad_task_of(lesson, box)


def hunt_task_of(lesson: Lesson, bug: Bug) -> HuntTask:
    """The task of *bug*."""
    return HuntTask(bug=bug, mending=grad_task_of(lesson, _mending(bug)))


def grad_task_of(lesson: Lesson, grad: Grad) -> GradTask:
    """The task of *grad*, with the names of the boxes that it continues."""
    given_names = list(grad.given)
    earlier = grad.after
    while earlier is not None:
        before = lesson.exercise(earlier)
        assert isinstance(before, Grad), "the parser resolves :after: to a code box"
        given_names += [name for name in before.require if name not in given_names]
        earlier = before.after
    forward = lesson.forward(grad.forward)
    assert forward is not None, "the parser resolves :forward:"
    # Hints say nothing of what is right; at practice they change with what was diagnosed.
    return GradTask(forward=forward, grad=replace(grad, hints=()), given=tuple(given_names))


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
