"""A training run as code to take away: the names, the loop with the learner's own lines, autograd as a witness.

Everything is written out: whoever reads it sees the whole of a training, and nothing is fetched from anywhere.
"""

import ast
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

from app.content.arithmetic import number_of
from app.content.blocks import Forward, Lesson, Train
from app.content.directives.train import parameters_of
from app.content.export.box_cells import fitted, plain_text
from app.content.export.loop import helpers
from app.content.export.notebook import Cell, Work
from app.content.programs import parsed
from app.content.uses import boxes_of

SEED = 2147483647
SAMPLING = 10  # names are drawn with another seed than batches
NAMES = 20
LONGEST_NAME = 30
PIECE = 4096
NUMBER = re.compile(r"[\d.]+")
FUNCTIONS = re.compile(r"\b(sqrt|exp|log|tanh)\(")

ELSEWHERE = "The code that trains stands in another lesson; export that one, and put its lines into the loop."
INTRODUCTION = (
    "What follows is the whole of the run, with your own lines in it: the names, the loop, the same loop by autograd, "
    "the calibration, the losses, some invented names, and a last comparison. A file `names.txt` beside this one, with "
    "a name on each line, is used in the place of the course's list."
)


def training(lesson: Lesson, train: Train, work: Work) -> Iterator[Cell]:
    """The cells of *train*, below the one that asks."""
    found, forward = boxes_of((lesson,), lesson, train), lesson.forward(train.forward)
    if found is None or forward is None:
        yield Cell(text=ELSEWHERE, name=f"{train.name}-elsewhere")
        return
    own = "\n".join(work.codes.get(box.name, box.starter.source) for box in found[1])
    run = _Run(train, forward, own, work.unfit)
    yield Cell(text=INTRODUCTION, name=f"{train.name}-introduction")
    yield Cell(text=helpers(work.names), code=True, name=f"{train.name}-helpers", aid=True)
    steps = {"names": run.names, "loop": run.loop, "witness": run.witness, "judged": run.judged}
    steps |= {"sampled": run.sampled, "compared": run.compared}
    for name, text in steps.items():
        plain = run.plain_loop() if name == "loop" else ""
        yield Cell(text=text(), code=True, name=f"{train.name}-{name}", plain=plain)


class _Run:
    """The texts of the cells. *own* are the learner's lines."""

    def __init__(self, train: Train, forward: Forward, own: str, unfit: Callable[[str], str]) -> None:
        self.train, self.forward, self.own, self.unfit = train, forward, own, unfit
        self.parameters = parameters_of(forward)
        self.listed = ", ".join(self.parameters)
        inputs = {one.name: one for one in forward.inputs}
        self.n, self.width = inputs[train.context].sizes[0], inputs[train.context].sizes[1]
        self.batch = f"{train.context}, {train.target}"
        preset = train.presets[0]
        changed = preset.dims
        self.steps = preset.steps
        fixed = {name: size for name, size in forward.dims.items() if name not in changed}
        self.changing = "".join(f", {name}" for name in changed), "".join(f", {size}" for size in changed.values())
        self.fixed = f"{', '.join(fixed)} = {', '.join(map(str, fixed.values()))}"

    def names(self) -> str:
        return f"""names = training.names("names.txt")
shuffled = list(names)
random.Random(42).shuffle(shuffled)
first, second = int(0.8 * len(shuffled)), int(0.9 * len(shuffled))
parts = {{"train": shuffled[:first], "validation": shuffled[first:second], "test": shuffled[second:]}}
symbols = ".abcdefghijklmnopqrstuvwxyz"


def examples(names, width):
    X, Y = [], []
    for name in names:
        context = [0] * width
        for symbol in name + ".":
            number = symbols.index(symbol)
            X.append(context)
            Y.append(number)
            context = context[1:] + [number]
    return torch.tensor(X), torch.tensor(Y)


data = {{part: examples(some, {self._size(self.width)}) for part, some in parts.items()}}
print(f"{{len(names):,}} names;", ", ".join(f"{{len(Y):,}} {{part}} examples" for part, (_, Y) in data.items()))"""

    def loop(self) -> str:
        gradients = ", ".join(f"d{name}=d{name}" for name in self.parameters)
        asks = " ".join(f"d{name}" for name in self.parameters)
        return f"""{self._start()}

generator, parameters = fresh()
{self.listed} = parameters
X, Y = data["train"]
losses, own, last = [], None, None
with training.loop("{asks}"):
    for step in range(steps + 1):
{self._draw(8)}

        # forward
{_indented(self.forward.source, 8)}

        # backward: your lines
        d{self.forward.output} = torch.tensor(1.0)
{_indented(textwrap.dedent(fitted(self.own, self.unfit)), 8)}

        gradients = training.ready(parameters, {gradients})
        if step == steps:
            own, last = gradients, ({self.batch})  # a fresh batch for the trained model: it is compared below
            break
        losses.append({self.forward.output}.item())
{self._descend(8)}
        if step % max(1, steps // 10) == 0:
            print(f"step {{step:>7,}}: loss of this batch {{losses[-1]:.4f}}")"""

    def plain_loop(self) -> str:
        gradients = ", ".join(f"d{name}" for name in self.parameters)
        return f"""{self._start()}

generator, parameters = fresh()
{self.listed} = parameters
for step in range(steps):
{self._draw(4)}

    # forward
{_indented(self.forward.source, 4)}

    # backward: your lines
{_indented(plain_text(self.own), 4)}

    gradients = [{gradients}]
{self._descend(4)}"""

    def witness(self) -> str:
        return f"""# The same start and the same batches, with autograd's gradients.
generator, witnesses = fresh()
reference = []
with torch.enable_grad():
    {self.listed} = (one.requires_grad_() for one in witnesses)
    for step in range(steps):
{self._draw(8)}
{_indented(self.forward.source, 8)}
        gradients = torch.autograd.grad({self.forward.output}, witnesses)
        reference.append({self.forward.output}.item())
        with torch.no_grad():
{self._descend(12, "witnesses")}
training.table(losses, reference)"""

    def judged(self) -> str:
        held = tuple(name for name in (self.train.mean, self.train.variance) if name)
        statements = _statements(self.forward)
        calibration = ""
        if held:
            until = max(index for index, (names, _) in enumerate(statements) if set(names) & set(held))
            lines = "\n".join(source for _, source in statements[: until + 1])
            calibration = f"""# Calibration: {" and ".join(held)} of the whole training data, from here on constants.
{self.batch} = data["train"]
{self.n} = len({self.train.target})
{lines}

"""
        rest = "\n".join(source for names, source in statements if not set(names) & set(held))
        return f"""{self.listed} = parameters
{calibration}
def judged({self.batch}):
    {self.n} = len({self.train.target})
{_indented(rest, 4)}
    return {self.train.logits}, {self.forward.output}


for part, (X, Y) in data.items():
    pieces = list(zip(X.split({PIECE}), Y.split({PIECE})))
    total = sum(judged(*piece)[1].item() * len(piece[1]) for piece in pieces)
    print(f"loss, {{part}}: {{total / len(Y):.4f}}")"""

    def sampled(self) -> str:
        return f"""generator = torch.Generator().manual_seed({SEED} + {SAMPLING})
for _ in range({NAMES}):
    context, name = [0] * {self._size(self.width)}, ""
    while len(name) < {LONGEST_NAME}:
        logits_of_one, _ = judged(torch.tensor([context]), torch.zeros(1, dtype=torch.int64))
        odds = torch.softmax(logits_of_one[0], 0)
        number = int(torch.multinomial(odds, 1, generator=generator))
        if number == 0:
            break
        name, context = name + symbols[number], context[1:] + [number]
    print(name)"""

    def compared(self) -> str:
        return f"""# The gradients of a fresh batch of the trained model: yours beside autograd's.
{self.batch} = last or (X[:{self._size(self.n)}], Y[:{self._size(self.n)}])
{self.n} = len({self.train.target})
with torch.enable_grad():
    leaves = [one.clone().requires_grad_() for one in parameters]
    {self.listed} = leaves
{_indented(self.forward.source, 4)}
    reference = torch.autograd.grad({self.forward.output}, leaves)
names = [{", ".join(f'"d{name}"' for name in self.parameters)}]
backhand.asked = dict(zip(names, zip(own or [None] * len(names), reference)))
backhand.compare()"""

    def _start(self) -> str:
        inputs = {one.name: one for one in self.forward.inputs}
        drawn = [
            f"{name} = torch.randn({', '.join(inputs[name].sizes)}, generator=generator)"
            f"{self._factor(name)}{self._shift(name)}"
            for name in self.parameters
        ]
        names, sizes = self.changing
        return f"""steps{names} = {self.steps}{sizes}
{self.fixed}


def fresh():
    generator = torch.Generator().manual_seed({SEED})
{_indented(chr(10).join(drawn), 4)}
    return generator, [{self.listed}]"""

    def _factor(self, name: str) -> str:
        scale = self.train.scale.get(name)
        factor = _python(scale, self.forward.dims) if scale else ""
        return f" * {factor}" if NUMBER.fullmatch(factor) else f" * ({factor})" if factor else ""

    def _shift(self, name: str) -> str:
        shift = self.train.shift.get(name)
        return f" + {_python(shift, self.forward.dims)}" if shift else ""

    def _draw(self, indent: int) -> str:
        lines = f"""rows = torch.randint(0, len(Y), ({self.n},), generator=generator)
{self.batch} = X[rows], Y[rows]"""
        return _indented(lines, indent)

    def _descend(self, indent: int, parameters: str = "parameters") -> str:
        early, late = self.train.rates
        lines = f"""rate = {early:g} if step < steps / 2 else {late:g}
for parameter, gradient in zip({parameters}, gradients):
    parameter -= rate * gradient"""
        return _indented(lines, indent)

    def _size(self, name: str) -> str:
        return str(self.forward.dims.get(name, name))


def _python(expression: str, dims: Mapping[str, int]) -> str:
    """An expression over the dims as Python; its value, where Python would read the signs in another way."""
    if expression.isascii() and not set(expression) & set("^,"):
        return FUNCTIONS.sub(r"math.\1(", expression)
    return repr(number_of(expression, dims))


def _statements(forward: Forward) -> Sequence[tuple[tuple[str, ...], str]]:
    """The statements of *forward*: the names that each writes, and its source."""
    tree = parsed(forward.source)
    assert isinstance(tree, ast.Module), "the parser refuses a program that is not Python"
    return [
        (
            tuple(one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)),
            ast.get_source_segment(forward.source, node) or "",
        )
        for node in tree.body
    ]


def _indented(text: str, size: int) -> str:
    return textwrap.indent(text.strip("\n"), " " * size)
