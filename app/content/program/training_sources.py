"""Which code boxes a training run takes its gradients from: one box and those that it continues, in any lesson."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from app.content.blocks import Forward, Grad, Lesson, Train
from app.content.text.errors import LessonError, did_you_mean


def boxes_of(lessons: Iterable[Lesson], lesson: Lesson, train: Train) -> tuple[Lesson, tuple[Grad, ...]] | None:
    """The lesson of the box that *train* uses, and the boxes whose code runs, first to last; None for no such box."""
    name, hash_, box = train.uses.partition("#")
    home = next((item for item in lessons if item.name == name), None) if hash_ else lesson
    if home is None:
        return None
    chain: list[Grad] = []
    exercise = home.exercise(box if hash_ else train.uses)
    while isinstance(exercise, Grad) and exercise not in chain:
        chain.append(exercise)
        exercise = home.exercise(exercise.after) if exercise.after else None
    return (home, tuple(reversed(chain))) if chain else None


def parameters_of(forward: Forward, data: Collection[str] = ()) -> tuple[str, ...]:
    """The inputs that learn: every one that holds real numbers, and no *data*."""
    return tuple(
        tensor_input.name for tensor_input in forward.inputs if tensor_input.real and tensor_input.name not in data
    )


def missing_gradients(grad: Grad, parameters: tuple[str, ...], exercises: Mapping[str, object]) -> tuple[str, ...]:
    """The gradients of *parameters* that neither *grad* nor a box that it continues asks for."""
    required: set[str] = set()
    box: object = grad
    while isinstance(box, Grad):
        required |= set(box.require)
        box = exercises.get(box.after) if box.after else None
    return tuple(f"d{name}" for name in parameters if f"d{name}" not in required)


def uses_faults(lessons: Iterable[Lesson]) -> Iterator[LessonError]:
    """Faults of training runs that use a box of another lesson."""
    lessons = tuple(lessons)
    for lesson in lessons:
        for train in lesson.all_of(Train):
            if "#" in train.uses:
                yield from _faults(lessons, lesson, train)


def _faults(lessons: tuple[Lesson, ...], lesson: Lesson, train: Train) -> Iterator[LessonError]:
    boxes = boxes_of(lessons, lesson, train)
    if boxes is None:
        known = [f"{item.name}#{grad.name}" for item in lessons for grad in item.all_of(Grad)]
        message = f"':uses:' names {train.uses!r}, and there is no such code box."
        yield LessonError(train.place, "unknown-exercise", message, did_you_mean(train.uses, known))
        return
    home, chain = boxes
    if home.draft and not lesson.draft:
        message = f"':uses:' names a box of {home.path}, which is a draft and not shown."
        yield LessonError(train.place, "uses-draft", message, "Mark this lesson 'draft: true' as well.")
    forward = lesson.forward(train.forward)
    assert forward is not None, "the parser resolves :forward:"
    exercises = {exercise.name: exercise for exercise in home.exercises}
    missing = missing_gradients(chain[-1], parameters_of(forward, (train.context, train.target)), exercises)
    if missing:
        message = f"The box {train.uses!r} does not ask for {', '.join(missing)}."
        yield LessonError(train.place, "missing-gradient", message)
