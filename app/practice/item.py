"""One exercise as it was drawn: texts and numbers, which is all that is kept of it, and the lesson that they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from app.content.blocks import Forward, Grad, Lesson
from app.content.blocks.exercises import Hint
from app.content.text.errors import LessonError
from app.content.text.sizes import format_shape, name_of
from app.course.parse import parse_lesson
from app.engine.task import GradTask, grad_task_of
from app.grading.reading.shape_inference import infer_shapes
from app.practice.backward import ForwardStep, step_of
from app.practice.derived_hints import hint_ladder, key_line
from app.practice.named_programs import SAYS
from app.practice.operations import HEAP, OPERATIONS

JUDGED = (
    "A slip is one red line; what follows from it is right once that line is. Any road to the right numbers will do."
)
"""What the box of an exercise says of its judgment."""
LESSON_PATH = "1-practice/01-practice.md"


def format_directive(head: str, options: Mapping[str, str], body: str, fence: str = "::::") -> str:
    """A directive with colons: *head* is `grad linear`."""
    kind, _, name = head.partition(" ")
    lines = [f"{fence}{{{kind}}} {name}".rstrip(), *(f":{key}: {value}" for key, value in options.items())]
    return "\n".join([*lines, "", body.rstrip(), fence, "", ""])


def format_code_block(head: str, body: str) -> str:
    """A directive with backticks, such as `solution`."""
    kind, _, name = head.partition(" ")
    opened = f"```{{{kind}}} {name}".rstrip()
    return f"{opened}\n{body.rstrip()}\n```\n\n"


@dataclass(frozen=True, kw_only=True)
class GeneratedItem:
    """An exercise.

    Args:
        version: Of the generator that drew it; a later one may draw something else from the same *seed*.
        wanted: The row of the diagnosis that it can show, such as `mean`; empty where any will do.
        within: The operations that it was drawn from; empty for all.
        forward: The body of its `{forward}`: options and lines.
        solution: The backward pass, a line for each share.
        by: The operation behind each line of the solution.
        operations: Those of the forward program, in its order.
        points: How hard it is.
    """

    version: int
    level: int
    seed: int
    wanted: str
    within: tuple[str, ...]
    forward: str
    solution: str
    by: tuple[str, ...]
    operations: tuple[str, ...]
    points: int

    @cached_property
    def name(self) -> str:
        """An id for lessons, such as `practice-1f0c3a9e`: of what is shown, so that it tells no seed."""
        return f"practice-{sha256(self.forward.encode()).hexdigest()[:8]}"

    @property
    def has_name(self) -> bool:
        """True if it is a program of public code, and not a generated one."""
        return self.forward in SAYS

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Those of the solution."""
        return tuple(self.solution.splitlines())

    @cached_property
    def require(self) -> tuple[str, ...]:
        """The gradients that are asked for, in backward order."""
        return tuple(dict.fromkeys(line.split()[0] for line in self.lines))

    @property
    def asked(self) -> dict[str, str]:
        """The options of a box for the whole backward pass."""
        return {"forward": f"{self.name}-program", "require": " ".join(self.require)}

    @property
    def program_text(self) -> str:
        """The forward program, as markdown, and behind it what it is, where it has a name."""
        said = SAYS.get(self.forward, "")
        return format_code_block(f"forward {self.name}-program", self.forward) + (f"{said}\n\n" if said else "")

    @cached_property
    def program(self) -> Forward:
        return next(iter(self.lesson_of(self.program_text).forwards.values()))

    @property
    def input_names(self) -> frozenset[str]:
        return frozenset(tensor_input.name for tensor_input in self.program.inputs)

    @property
    def arrives(self) -> str:
        """Sentence on what the backward pass begins with."""
        return f"`d{self.program.output}` is given."

    @property
    def needs(self) -> tuple[str, ...]:
        """Operations that must be taught before, and products of heaps, whose way back is full of `.mT`."""
        return self.operations + ((HEAP,) if ".mT" in self.solution else ())

    @cached_property
    def shapes(self) -> dict[str, str]:
        """The shapes of all tensors in named axes where there are names, such as `(N, 1)`."""
        shapes = infer_shapes(self.program)
        return {name: format_shape([name_of(size) or size for size in shape]) for name, shape in shapes.items()}

    @cached_property
    def steps(self) -> tuple[ForwardStep | None, ...]:
        """The lines of the program read back; None for one of an operation that is known no longer."""
        shapes = {name: tuple(text.strip("()").rstrip(",").split(", ")) for name, text in self.shapes.items()}
        rows = zip(self.program.source.splitlines(), map(OPERATIONS.get, self.operations), strict=True)
        return tuple(step_of(text, row, shapes) if row else None for text, row in rows)

    def step_behind(self, line: int) -> ForwardStep | None:
        """The line of the program that the *line* of the solution with that index undoes; None where it is not read."""
        if None in self.steps:
            return None
        behind = [step for step in reversed(self.steps) if step for _ in step.terms]
        return behind[line] if len(behind) == len(self.lines) else None

    @cached_property
    def key(self) -> int:
        """The index of the line of the solution that carries what is wanted."""
        return key_line(self.lines, self.by, self.wanted)

    @cached_property
    def fragment(self) -> str:
        """Markdown for a lesson: the program, and the box in which its backward pass is written."""
        return self.program_text + self.box_text("Write the backward pass.", self.key)

    def box_text(self, prompt: str, at: int, starter: str = "") -> str:
        """A code box for the whole backward pass, with hints for the line with the index *at*."""
        hints = "".join(
            format_directive("hint", {}, name, ":::") for name in hint_ladder(self.lines[at], self.by[at], self.shapes)
        )
        body = f"{self.arrives} {prompt} {JUDGED}\n\n{starter}{hints}{format_code_block('solution', self.solution)}"
        return format_directive(f"grad {self.name}", {**self.asked, "grade": "rule"}, body)

    def hints_at(self, line: int) -> tuple[Hint, ...]:
        """The hints for the line with that index."""
        return self.lesson_of(self.program_text + self.box_text("Write it.", line)).exercises[0].hints

    def parsed(self, fragment: str) -> tuple[Lesson | None, tuple[LessonError, ...]]:
        """A lesson that holds *fragment* alone, or what is wrong with it."""
        return parse_lesson(fragment, LESSON_PATH, piece=True)

    def lesson_of(self, fragment: str) -> Lesson:
        """Like `parse_program`, for what this room wrote: that is sound."""
        lesson, errors = self.parsed(fragment)
        assert lesson is not None, [str(error) for error in errors]
        return lesson

    @cached_property
    def lesson(self) -> Lesson:
        return self.lesson_of(self.fragment)

    @cached_property
    def box(self) -> Grad:
        box = self.lesson.exercises[0]
        assert isinstance(box, Grad)
        return box

    @cached_property
    def task(self) -> GradTask:
        return grad_task_of(self.lesson, self.box)
