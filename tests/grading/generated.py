"""Forward programs drawn at random, each with its backward pass written by rules: for what must hold of any program.

An operation gives a forward line, and one term of the backward pass for each operand that has a gradient: `{d}` stands
for the gradient of the line's own result, `{y}`.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.grading.boxes.load import Box, make_forward

DIMS = "N: 6, D: 4, H: 3, V: 9"


@dataclass
class Draft:
    """A program in the making: inputs as the loader reads them, lines, and the terms of each line's backward step."""

    chance: random.Random
    inputs: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    steps: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)

    def take(self, shape: tuple[str, ...], kind: str = "") -> str:
        name = f"{'WbtC'[len(self.inputs) % 4]}{len(self.inputs)}"
        self.inputs[name] = f"{name}: [{', '.join(shape)}] {kind}".strip()
        self.shapes[name] = shape
        return name

    def write(self, text: str, shape: tuple[str, ...], terms: list[tuple[str, str]]) -> str:
        name = f"{'hzuaq'[len(self.lines) % 5]}{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.shapes[name] = shape
        self.steps.append((name, [(to, term.format(d=f"d{name}", y=name)) for to, term in terms]))
        return name


def _matmul(draft: Draft, x: str) -> str:
    rows, columns = draft.shapes[x]
    other = draft.chance.choice([one for one in "DH" if one != columns])
    w = draft.take((columns, other))
    return draft.write(f"{x} @ {w}", (rows, other), [(x, f"{{d}} @ {w}.T"), (w, f"{x}.T @ {{d}}")])


def _row(draft: Draft, x: str) -> str:
    b = draft.take(draft.shapes[x][1:])
    return draft.write(f"{x} + {b}", draft.shapes[x], [(x, "{d}.clone()"), (b, "{d}.sum(0)")])


def _gain(draft: Draft, x: str) -> str:
    g = draft.take(draft.shapes[x][1:])
    return draft.write(f"{x} * {g}", draft.shapes[x], [(x, f"{{d}} * {g}"), (g, f"({{d}} * {x}).sum(0)")])


def _column(draft: Draft, x: str) -> str:
    c = draft.take((draft.shapes[x][0], "1"), "positive")
    terms = [(x, f"{{d}} / {c}"), (c, f"-({{d}} * {x} / {c} ** 2).sum(1, keepdim=True)")]
    return draft.write(f"{x} / {c}", draft.shapes[x], terms)


def _plain(text: str, term: str) -> Callable[[Draft, str], str]:
    def step(draft: Draft, x: str) -> str:
        return draft.write(text.format(x=x), draft.shapes[x], [(x, term.replace("{x}", x))])

    return step


def _mean(draft: Draft, x: str) -> str:
    size = draft.shapes[x][0]
    m = draft.write(f"{x}.mean(0, keepdim=True)", ("1", draft.shapes[x][1]), [(x, f"{{d}}.expand_as({x}) / {size}")])
    terms = [(x, "{d}.clone()"), (m, "-{d}.sum(0, keepdim=True)")]
    return draft.write(f"{x} - {m}", draft.shapes[x], terms)


def _spread(draft: Draft, x: str) -> str:
    size = draft.shapes[x][1]
    term = f"2 * {x} * {{d}} / {size}"
    v = draft.write(f"({x} ** 2).mean(1, keepdim=True)", (draft.shapes[x][0], "1"), [(x, term)])
    r = draft.write(f"({v} + 1e-5) ** -0.5", draft.shapes[v], [(v, f"-0.5 * ({v} + 1e-5) ** -1.5 * {{d}}")])
    terms = [(x, f"{{d}} * {r}"), (r, f"({{d}} * {x}).sum(1, keepdim=True)")]
    return draft.write(f"{x} * {r}", draft.shapes[x], terms)


def _other(sign: str, to_x: str, to_z: str) -> Callable[[Draft, str], str]:
    def step(draft: Draft, x: str) -> str:
        alike = [one for one, shape in draft.shapes.items() if shape == draft.shapes[x] and one != x]
        z = draft.chance.choice(alike) if alike else draft.take(draft.shapes[x])
        terms = [(x, to_x.replace("{z}", z)), (z, to_z.replace("{x}", x))]
        return draft.write(f"{x} {sign} {z}", draft.shapes[x], terms)

    return step


STEPS = (
    _matmul, _matmul, _row, _gain, _column, _mean, _spread,
    _plain("torch.tanh({x})", "{d} * (1 - {y} ** 2)"),
    _plain("torch.sigmoid({x})", "{d} * {y} * (1 - {y})"),
    _plain("torch.relu({x})", "{d} * ({x} > 0)"),
    _plain("(0.3 * {x}).exp()", "{d} * 0.3 * {y}"),
    _plain("{x} ** 2", "2 * {d} * {x}"),
    _plain("torch.softmax({x}, 1)", "{y} * ({d} - ({d} * {y}).sum(1, keepdim=True))"),
    _other("+", "{d}.clone()", "{d}.clone()"),
    _other("-", "{d}.clone()", "-{d}"),
    _other("*", "{d} * {z}", "{d} * {x}"),
)  # fmt: skip


def drawn(seed: int, lines: int = 6) -> Box:
    """The program of *seed*, of about *lines* statements; all of its gradients are asked for."""
    draft = Draft(random.Random(seed))
    if draft.chance.random() < 0.3:
        table, picked = draft.take(("V", "D")), draft.take(("N",), "ints(V)")
        term = f"torch.zeros_like({table}).index_add_(0, {picked}, {{d}})"
        x = draft.write(f"{table}[{picked}]", ("N", "D"), [(table, term)])
    else:
        x = draft.take(("N", "D"))
    while len(draft.lines) < lines:
        x = draft.chance.choice(STEPS)(draft, x)
    solution: list[str] = []
    begun = {f"d{x}"}
    for name, terms in reversed(draft.steps):
        if f"d{name}" in begun:
            for to, term in terms:
                solution.append(f"d{to} {'+=' if f'd{to}' in begun else '='} {term}")
                begun.add(f"d{to}")
    require = tuple(dict.fromkeys(line.split()[0] for line in solution))
    forward = make_forward(f"drawn-{seed}", DIMS, "; ".join(draft.inputs.values()), x, "\n".join(draft.lines) + "\n")
    return Box(f"drawn-{seed}", forward, require, "\n".join(solution) + "\n")
