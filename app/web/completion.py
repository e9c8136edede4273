"""What a submission may use, with shapes: the names that an editor offers."""

from collections.abc import Mapping

from app.content.blocks import Checker
from app.engine.task import Task
from app.grading.forward.facts import Shape
from app.grading.quiz.wording import written

MODULES = ("torch", "F", "math")


def scope_of(task: Task, shapes: Mapping[str, Shape]) -> str:
    """`X|(32, 100); dY|(32, 27); N|32; torch|module`: names that the page knows nothing about have no detail."""
    forward = task.forward
    upstream = f"d{forward.output}"
    details = {name: written(shape) for name, shape in shapes.items()}
    for gradient in (upstream, *task.given):
        details[gradient] = details.get(gradient.removeprefix("d"), "")
    details |= {name: str(size) for name, size in forward.dims.items()}
    return _joined(details)


def scope_of_checker(checker: Checker) -> str:
    """The arguments of the function that is asked for."""
    return _joined(dict.fromkeys(checker.arguments, ""))


def _joined(details: dict[str, str]) -> str:
    return "; ".join(f"{name}|{detail}" for name, detail in (details | dict.fromkeys(MODULES, "module")).items())
