"""Questions to a grader, one row each: its name on the wire, what answers it, and the answer where none comes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from app.content.blocks import Checker, Forward, FunctionBox
from app.content.export.unfit import block_problem
from app.engine.codec import from_json_value
from app.engine.grader import Nudge, RunResult
from app.engine.task import AnyTask, GradTask, HuntTask
from app.engine.training_chunk import ChunkResult
from app.grading.forward.facts import Facts, Outcome
from app.grading.judge.line_shapes import InlayShapes
from app.grading.judge.verdict import Verdict

if TYPE_CHECKING:  # the web asks, and knows nothing of how a grader grades
    from app.engine.grade.engine import Engine

T = TypeVar("T")
Fields = dict[str, Any]
"""A question in JSON."""

TOO_MUCH = (
    "To read this text took more time or memory than a text may take, so it was not run. Shorten it: fewer functions "
    "that call each other, fewer terms in a line."
)
UNREAD = "it could not be read just now"
TASKS: Mapping[str, type[AnyTask]] = {kind.__name__: kind for kind in (GradTask, HuntTask, Checker, FunctionBox)}


@dataclass(frozen=True, slots=True)
class GraderQuestion(Generic[T]):
    """One kind of question.

    Args:
        kind: Type of its answer.
        instead: The answer where no grader has one, from an outcome and a message.
        answer: The answer of an engine; None where the trainer has it.
    """

    name: str
    kind: type[T]
    instead: Callable[[Fields, Outcome, str], T]
    answer: Callable[["Engine", Fields], T] | None = None


def task_in(fields: Fields) -> AnyTask:
    """The task of a question; the same object for the same text, by which an engine recognises it."""
    return _task(fields["kind"], fields["task"])


@lru_cache(maxsize=256)
def _task(kind: str, text: str) -> AnyTask:
    return from_json_value(TASKS[kind], json.loads(text))


def _run_limits(fields: Fields) -> dict[str, Any]:
    return {"gate": fields["gate"], "seconds": fields["seconds"]}


CHECK = GraderQuestion(
    "check",
    Verdict,
    lambda _, outcome, message: Verdict(outcome=outcome, message=message),
    lambda engine, fields: engine.check(task_in(fields), fields["code"], **_run_limits(fields)),
)
RUN = GraderQuestion(
    "run",
    RunResult,
    lambda _, outcome, message: RunResult(outcome=outcome, message=message),
    lambda engine, fields: engine.run(task_in(fields), fields["code"], **_run_limits(fields)),
)
NUDGE = GraderQuestion(
    "nudge",
    Nudge,
    lambda fields, outcome, message: Nudge(outcome=outcome, name=fields["name"], message=message),
    lambda engine, fields: engine.nudge(
        task_in(fields), fields["code"], fields["name"], fields["entry"], **_run_limits(fields)
    ),
)
LINE_SHAPES = GraderQuestion(
    "told",
    InlayShapes,
    lambda *_: InlayShapes(),
    lambda engine, fields: engine.line_shapes(task_in(fields), fields["code"]),
)
EXPORT_PROBLEMS = GraderQuestion(
    "unfit",
    tuple[str, ...],
    lambda fields, _, message: ("to read it takes too long" if message == TOO_MUCH else UNREAD,) * len(fields["texts"]),
    lambda _, fields: tuple(map(block_problem, fields["texts"])),
)
FACTS = GraderQuestion(
    "facts",
    Facts,
    # A reader that ended says nothing about the program: another one may have the room.
    lambda _, outcome, message: Facts(
        shapes={}, gradable=(), error=message, outcome="fault" if message == TOO_MUCH else outcome
    ),
    lambda engine, fields: engine.facts(from_json_value(Forward, json.loads(fields["forward"]))),
)
TRAIN = GraderQuestion("train", ChunkResult, lambda _, outcome, message: ChunkResult(outcome=outcome, message=message))
QUESTIONS: Mapping[str, GraderQuestion[Any]] = {
    question.name: question for question in (CHECK, RUN, NUDGE, LINE_SHAPES, EXPORT_PROBLEMS, FACTS, TRAIN)
}
