"""A training run as code to take away: the names, the loop with the learner's own lines, autograd as a witness.

Everything is written out: its reader sees the whole of a training, and nothing is fetched from anywhere.
"""

import base64
import re
import textwrap
import zlib
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from app.content.blocks import Forward, Lesson, Table, Train
from app.content.export.notebook import NotebookCell, Work, resource_text
from app.content.export.python_code import as_block_body, plain_text, python_size
from app.content.program.programs import tensors_of, written_lines
from app.content.program.training_sources import boxes_of, parameters_of
from app.content.text.arithmetic import number_of

TEMPLATES: Mapping[str, str] = {
    name: text
    for name, _, text in (part.partition("\n") for part in resource_text("training.txt").split("\n# %% ")[1:])
}
SEED = 2147483647
# Names are drawn with another seed than batches: one with which no run of the course spells a coarse word.
SAMPLING = 14
WIDTH = 100
NUMBER = re.compile(r"[\d.]+")
WORD = re.compile(r"[A-Za-z_]\w*")
PLACE = re.compile(r"^(?P<indent> {0,80})\$(?P<line>\w+)$|\$(?P<word>\w+)", re.MULTILINE)
FUNCTION_CALL = re.compile(r"\b(sqrt|exp|log|tanh)\(")

ELSEWHERE = "The code that trains stands in another lesson; export that one, and put its lines into the loop."
INTRODUCTION = (
    "What follows is the whole of the run, with your own lines in it: the names, the loop, the same loop by autograd, "
    "the calibration, the losses, some invented names, and a last comparison. A file `names.txt` beside this one, with "
    "a name on each line, is used in the place of the course's list."
)
OWN_DATA = (
    "What follows is the whole of the run, with your own lines in it: the rows of `{source}`, the loop, the same loop "
    "by autograd, the losses, and a last comparison."
)


def training_cells(lesson: Lesson, train: Train, work: Work) -> Iterator[NotebookCell]:
    """The cells of *train*, below the one that asks."""
    boxes, forward = boxes_of((lesson,), lesson, train), lesson.forward(train.forward)
    if boxes is None or forward is None:
        yield NotebookCell(text=ELSEWHERE, name=f"{train.name}-elsewhere")
        return
    own = "\n".join(work.codes.get(box.name, box.starter.source) for box in boxes[1])
    run = _Run(train, forward, own, as_block_body(own, work.unfit), _taken_names(lesson, work))
    data = _row_words(train.table) if train.table else tuple(work.names)
    introduction = OWN_DATA.format(source=train.table.source) if train.table else INTRODUCTION
    yield NotebookCell(text=introduction, name=f"{train.name}-introduction")
    yield NotebookCell(text=helpers(data), code=True, name=f"{train.name}-helpers", aid=True)
    for name in (
        "table" if train.table else "names",
        "loop",
        "witness",
        "judged",
        *(["sampled"] if train.logits else []),
        "compared",
    ):
        plain = run.cell("plain loop") if name == "loop" else ""
        yield NotebookCell(text=run.cell(name).strip(), code=True, name=f"{train.name}-{name}", plain=plain.strip())


@lru_cache(maxsize=4)
def helpers(names: tuple[str, ...]) -> str:
    """Code around the loop, with *names* in it; a few common ones if none are given."""
    listed = names or resource_text("few_names.txt").split()
    packed = base64.b64encode(zlib.compress("\n".join(listed).encode("ascii"), 9)).decode("ascii")
    return resource_text("training_helpers.py").replace("@@LIST@@", textwrap.fill(packed, WIDTH))


def _row_words(table: Table) -> tuple[str, ...]:
    """A word for each row of *table*, its target last."""
    rows = ((*row, target) for row, target in zip(table.contexts, table.targets, strict=True))
    return tuple(",".join(f"{number:.9g}" for number in row) for row in rows)


class _Run:
    """The texts of the cells.

    Args:
        own: The learner's lines, and as they are *fitted* into a block.
        taken: The names that the lesson and its learner use.
    """

    def __init__(self, train: Train, forward: Forward, own: str, fitted: str, taken: Collection[str]) -> None:
        self.train, self.forward = train, forward
        self.inputs = {tensor_input.name: tensor_input for tensor_input in forward.inputs}
        self.parameters = parameters_of(forward, (train.context, train.target))
        self.taken = set(taken)
        self.names: dict[str, str] = {}
        self.parts = {**self._sizes(), **self._judged_parts(), **self._lines(own, fitted)}

    def cell(self, name: str) -> str:
        """The cell *name* with the parts of this run in it."""
        return PLACE.sub(self._put, TEMPLATES[name])

    def _put(self, place: re.Match[str]) -> str:
        name = place["line"] or place["word"]
        if name in self.parts:
            text = self.parts[name]
        else:
            text = self.cell(name).strip("\n") if name.isupper() and name in TEMPLATES else self._name(name)
        return textwrap.indent(text, place["indent"] or "")

    def _name(self, word: str) -> str:
        """Name of a variable of the loop: *word*, unless the lesson uses that name."""
        if word not in self.names:
            name = word
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.names[word] = name
        return self.names[word]

    def _sizes(self) -> dict[str, str]:
        train, forward = self.train, self.forward
        preset = train.presets[0]
        fixed = {name: size for name, size in forward.dims.items() if name not in preset.dims}
        n, width = self.inputs[train.context].sizes[:2]
        return {
            "SEED": str(SEED),
            "SAMPLING": str(SAMPLING),
            "N": n,
            "N_SIZE": str(forward.dims.get(n, n)),
            "WIDTH": str(forward.dims.get(width, width)),
            "STEPS": str(preset.steps),
            "CHANGING": "".join(f", {name}" for name in preset.dims),
            "CHANGED": "".join(f", {size}" for size in preset.dims.values()),
            "FIXED": f"{', '.join(fixed)} = {', '.join(map(str, fixed.values()))}" if fixed else "",
            "CONTEXT_KIND": ".long()" if train.table and train.table.whole else "",
            "TARGET_KIND": ".long()" if train.table and train.table.classes else "",
            "EARLY": f"{train.rates[0]:g}",
            "LATE": f"{train.rates[1]:g}",
        }

    def _lines(self, own: str, fitted: str) -> dict[str, str]:
        train, forward = self.train, self.forward
        gradients = [f"d{name}" for name in self.parameters]
        return {
            "FORWARD": forward.source.strip("\n"),
            "OWN": textwrap.dedent(fitted).strip("\n"),
            "PLAIN_OWN": plain_text(own).strip("\n"),
            "DRAWN": "\n".join(self._draw_code(name) for name in self.parameters),
            "OUTPUT": forward.output,
            "LOGITS": train.logits or "None",
            "BATCH": f"{train.context}, {train.target}",
            "TARGET": train.target,
            "PARAMETERS": ", ".join(self.parameters),
            "UNPACKED": ", ".join(self.parameters) if len(self.parameters) > 1 else f"({self.parameters[0]},)",
            "ASKS": " ".join(gradients),
            "GRADIENTS": ", ".join(gradients),
            "ASKED": ", ".join(f'"{name}"' for name in gradients),
            "BY_NAME": ", ".join(f"{name}={name}" for name in gradients),
        }

    def _judged_parts(self) -> dict[str, str]:
        """Code that measures once over all training data, and the rest of the program with the result as constants."""
        held = tuple(name for name in (self.train.mean, self.train.variance) if name)
        statements = written_lines(self.forward)
        until = max((index for index, (names, _) in enumerate(statements) if set(names) & set(held)), default=-1)
        measured = {
            "HELD": " and ".join(held),
            "MEASURED": "\n".join(source for _, source in statements[: until + 1]),
            "REST": "\n".join(source for names, source in statements if not set(names) & set(held)),
        }
        return measured if held else {**measured, "CALIBRATION": ""}

    def _draw_code(self, name: str) -> str:
        dims = self.forward.dims
        sizes = ", ".join(python_size(size, dims) for size in self.inputs[name].sizes) or "[]"
        scale, shift = (by.get(name) for by in (self.train.scale, self.train.shift))
        factor = _python(scale, dims) if scale else ""
        times = f" * {factor}" if NUMBER.fullmatch(factor) else f" * ({factor})" if factor else ""
        plus = f" + {_python(shift, dims)}" if shift else ""
        return f"{name} = torch.randn({sizes}, generator={self._name('dice')}){times}{plus}"


def _taken_names(lesson: Lesson, work: Work) -> set[str]:
    """Every name that a program of *lesson* or a text in its boxes uses."""
    programs = lesson.all_of(Forward)
    names = {name for program in programs for name in (*program.dims, *tensors_of(program))}
    boxes = lesson.boxes
    texts = [
        *(program.source for program in programs),
        *(work.codes.get(block.name, block.starter.source) for block in boxes),
    ]
    names |= {word for text in texts for word in WORD.findall(text)}
    return names | {f"d{name}" for name in names}


def _python(expression: str, dims: Mapping[str, int]) -> str:
    """An expression over the dims as Python; its value, where Python would read the signs in another way."""
    if expression.isascii() and not set(expression) & set("^,"):
        return FUNCTION_CALL.sub(r"math.\1(", expression)
    return repr(number_of(expression, dims))
