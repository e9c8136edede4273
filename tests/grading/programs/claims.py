"""Whether what is said of a slip is so: the claim of each family of codes, held against the numbers and the edit.

A claim is tried on numbers that have nothing to do with the judge: the edited line is run alone, with torch's gradients
in the place of all others, and what comes out is compared with what the sentence says of it. What numbers cannot decide
is decided by the edit that was made: each family of codes has the kinds of edits of which it may speak.
"""

import ast
import copy
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from app.grading.forward.statements import ForwardStatement, read_program
from tests.grading.programs.autograd import Reference, references
from tests.grading.programs.slip import Slip

NEAR = 1e-7


@dataclass(frozen=True, eq=False)
class Alone:
    """A line of a submission run alone on one set of data: *got* is what the gradient *name* is then."""

    data: Reference
    got: torch.Tensor | None
    right: torch.Tensor


class Case:
    """What is said of one slip, and the means to look whether it is so."""

    def __init__(self, slip: Slip) -> None:
        (self.verdict,) = slip.red
        self.slip, self.edit, self.program = slip, slip.edit, slip.program
        self.name = self.verdict.name
        self.family, *self.details = (self.verdict.code or "").removeprefix(f"{self.name}:").split(":")
        self.message = self.verdict.message

    @cached_property
    def statements(self) -> tuple[ForwardStatement, ...]:
        forward = self.program.forward
        inputs = [one.name for one in forward.inputs]
        return read_program(forward.source, inputs, tuple(forward.dims), *forward.outputs).statements

    @cached_property
    def tree(self) -> list[ast.stmt]:
        return ast.parse(self.edit.code).body

    @cached_property
    def readers(self) -> list[str]:
        """The tensor, once for each place where the program reads it."""
        return [name for statement in self.statements for name in statement.inputs if name == self.name[1:]]

    @cached_property
    def consumers(self) -> list[list[str]]:
        """The consumers that the code names together; each one alone where it speaks of one share and names none."""
        if self.details:
            return [self.details[0].split("+")]
        return [list(statement.outputs) for statement in self.statements if self.name[1:] in statement.inputs]

    @cached_property
    def upstreams(self) -> dict[str, int]:
        return dict.fromkeys(self.program.forward.upstreams, -1)

    @cached_property
    def last(self) -> dict[str, int]:
        """By gradient, the last statement that writes it."""
        return {name: at for at, one in enumerate(self.tree) for name in writes(one)}

    @cached_property
    def data(self) -> tuple[Reference, ...]:
        found = references(self.program)
        return tuple(found[at] for at in (0, 1, 4, 6) if at < len(found))

    @cached_property
    def runs(self) -> tuple[Alone, ...]:
        return tuple(Alone(one, self.run(one), one.gradients[self.name]) for one in self.data)

    def run(
        self, one: Reference, changed: Mapping[str, torch.Tensor] | None = None, tree: Sequence[ast.stmt] | None = None
    ) -> torch.Tensor | None:
        """The gradient as the submission makes it where all others are torch's; None where it stops."""
        scope = {**one.given(), **(changed or {})}
        end = max((at for at, each in enumerate(tree or self.tree) if self.name in writes(each)), default=-1)
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            for at, statement in enumerate((tree or self.tree)[: end + 1]):
                module = ast.fix_missing_locations(ast.Module([statement], []))
                exec(compile(module, "submission", "exec"), scope)
                for name in writes(statement):
                    if name != self.name and self.last.get(name) == at and name in one.gradients:
                        given = (changed or {}).get(name)
                        scope[name] = one.gradients[name].clone() if given is None else given.clone()
        except Exception:
            return None
        finally:
            torch.set_default_dtype(default)
        value = scope.get(self.name)
        return value.detach() if isinstance(value, torch.Tensor) else None

    def mended(self, word: str, new: str) -> bool:
        """Whether *new* in the place of *word*, once in the edited statement or throughout, makes it right."""
        at = self.place
        places = [
            index
            for index, node in enumerate(ast.walk(self.tree[at]))
            if isinstance(node, ast.Name) and node.id == word
        ]
        for chosen in [*([place] for place in places), *([places] if len(places) > 1 else [])]:
            statement = copy.deepcopy(self.tree[at])
            for index, node in enumerate(ast.walk(statement)):
                if index in chosen and isinstance(node, ast.Name):
                    node.id = new
            tree = [*self.tree[:at], statement, *self.tree[at + 1 :]]
            if all(
                (got := self.run(one, tree=tree)) is not None and same(got, one.gradients[self.name])
                for one in self.data
            ):
                return True
        return False

    @cached_property
    def place(self) -> int:
        """The statement that was edited."""
        found = [at for at, one in enumerate(self.tree) if ast.unparse(one) == self.edit.after]
        return found[0] if found else self.last.get(self.name, 0)

    def all(self, holds: Callable[[Alone], bool]) -> bool:
        return all(one.got is not None and holds(one) for one in self.runs)

    def share(self, one: Reference, consumers: Sequence[str]) -> torch.Tensor:
        """What comes back to the tensor through *consumers*."""
        total = torch.zeros_like(one.gradients[self.name])
        for statement in self.statements:
            outputs = [name for name in statement.outputs if name in consumers]
            if not outputs or self.name[1:] not in statement.inputs:
                continue
            scope = one.given()
            leaf = scope[self.name[1:]].clone().requires_grad_()
            scope[self.name[1:]] = leaf
            exec(statement.source, scope)
            kept = [name for name in outputs if isinstance(scope[name], torch.Tensor) and scope[name].requires_grad]
            arrives = [one.every[f"d{name}"] for name in kept]
            (found,) = torch.autograd.grad([scope[name] for name in kept], [leaf], arrives, allow_unused=True)
            if found is not None:
                total = total + found
        return total

    def number(self, text: str, one: Reference) -> float:
        """The value of a factor such as `1/(N-1)` or `sqrt(x.shape[1])`."""
        return float(eval(text.replace("^", "**"), {"sqrt": math.sqrt, **one.given()}))


def writes(statement: ast.stmt) -> list[str]:
    """The names that a statement writes, in whole or in part."""
    found: dict[str, None] = {}
    for node in ast.walk(statement):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = [each for one in node.targets for each in (one.elts if isinstance(one, ast.Tuple) else [one])]
        elif isinstance(node, ast.AugAssign):
            targets = [node.target]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
            targets = [node.func.value]
        for target in targets:
            while isinstance(target, ast.Subscript | ast.Attribute):
                target = target.value
            if isinstance(target, ast.Name):
                found[target.id] = None
    return list(found)


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape:
        return False
    scale = max(float(other.abs().max()) if other.numel() else 0.0, 1e-6)
    return bool(torch.isfinite(one).all()) and float((one.double() - other).abs().max()) <= NEAR * scale


# What a family of codes claims, in numbers.


def scaled(number: Callable[[Case, Reference], float]) -> Callable[[Case], bool]:
    """The tensor is the right one times a number."""
    return lambda case: case.all(lambda one: same(one.got, number(case, one.data) * one.right))


def _any_factor(case: Case) -> bool:
    return case.all(lambda one: _ratio(one.got, one.right) is not None)


def _ratio(got: torch.Tensor, right: torch.Tensor) -> float | None:
    """By how much *got* is larger than *right*; None where it is no multiple."""
    if got.shape != right.shape or not float(right.abs().max()):
        return None
    ratio = float((got.double() * right).sum() / (right * right).sum())
    return ratio if same(got, ratio * right) else None


def _of_share(number: Callable[[Case, Reference], float]) -> Callable[[Case], bool]:
    """Only the share through the consumers that are named is off, by a number."""

    def fits(case: Case, names: Sequence[str]) -> bool:
        return case.all(
            lambda one: same(one.got, one.right + (number(case, one.data) - 1) * case.share(one.data, names))
        )

    def holds(case: Case) -> bool:
        return any(fits(case, names) for names in case.consumers) or _of_places(case)

    return holds


def _of_places(case: Case) -> bool:
    """The same for one of the places where a consumer reads the tensor: what is off is a multiple of no whole share."""
    if " place in " not in case.message and " twice in " not in case.message:
        return False
    line = re.search(r"`([^`]* = [^`]*)`", case.message)
    return line is not None and case.all(lambda one: one.got.shape == one.right.shape)


def _share_any(case: Case) -> bool:
    def fits(names: Sequence[str]) -> bool:
        return case.all(
            lambda one: (
                one.got.shape == one.right.shape
                and _ratio(one.got - one.right, case.share(one.data, names)) is not None
            )
        )

    return any(map(fits, case.consumers)) or _of_places(case)


def _reshaped(case: Case) -> bool:
    return case.all(
        lambda one: (
            one.got.shape != one.right.shape
            and one.got.numel() == one.right.numel()
            and same(one.got.reshape(one.right.shape), one.right)
        )
    )


def _other_shape(case: Case) -> bool:
    return any(one.got is not None and one.got.shape != one.right.shape for one in case.runs)


def _transposed(case: Case) -> bool:
    return case.all(
        lambda one: one.got.ndim > 1 and one.got.mT.shape == one.right.shape and same(one.got.mT, one.right)
    )


def _zeros(case: Case) -> bool:
    return case.all(lambda one: float(one.got.abs().max()) <= NEAR * max(1.0, float(one.right.abs().max())))


def _moved(case: Case) -> bool:
    """The same numbers in other places."""
    return case.all(
        lambda one: (
            one.got.numel() == one.right.numel()
            and same(one.got.flatten().sort().values, one.right.flatten().sort().values)
        )
    )


def _stands_for_another(case: Case) -> bool:
    """Some other tensor in the place of the one that is named, once or throughout, makes the line right."""
    word = case.details[0] if case.details else ""
    names = {**case.data[0].given(), **case.data[0].gradients, **case.last}
    return any(case.mended(word, new) for new in names if new != word)


def _without_upstream(case: Case) -> bool:
    """What arrives is not in it: other gradients leave it as it is, or the edit took one out of a share."""
    lost = [
        name for name in re.findall(r"\w+", case.edit.old) if name[:1] == "d" and name in case.last | case.upstreams
    ]
    if lost and len(case.edit.new) < len(case.edit.old):
        return True
    for one in case.runs:
        changed = {name: 1.7 * value for name, value in {**one.data.every}.items()}
        again = case.run(one.data, changed)
        if one.got is None or again is None or not same(again, one.got):
            return False
    return True


def _holds_alone(case: Case) -> bool:
    """The tensor is the one that is named, spread or added up, and nothing else."""
    word = case.details[0] if case.details else ""

    def holds(one: Alone) -> bool:
        value = one.data.given().get(word)
        value = one.data.gradients.get(word, value)
        if not isinstance(value, torch.Tensor):
            return False
        got = one.got
        for axes in _subsets(value.ndim):
            summed = value.double().sum(axes, keepdim=True) if axes else value.double()
            for form in (summed, summed.squeeze()):
                try:
                    if _ratio(got, form.expand_as(got).contiguous()) is not None:
                        return True
                except RuntimeError:
                    continue
        return False

    return case.all(holds)


def _subsets(rank: int) -> Iterator[tuple[int, ...]]:
    for bits in range(2**rank):
        yield tuple(axis for axis in range(rank) if bits >> axis & 1)


def _factor(case: Case, one: Reference) -> float:
    text = case.details[-1]
    minus = -1.0 if any(part.startswith("sign-and") for part in (case.family, *case.details)) else 1.0
    return {"halved": 0.5, "doubled": 2.0, "sign": -1.0}.get(text) or minus * case.number(text, one)


CLAIMS: Mapping[str, Callable[[Case], bool]] = {
    "sign": scaled(lambda _, __: -1.0),
    "doubled": scaled(lambda _, __: 2.0),
    "halved": scaled(lambda _, __: 0.5),
    "bessel": _any_factor,
    "constant-missing": _any_factor,
    "constant-twice": _any_factor,
    "sign-and-constant-missing": _any_factor,
    "sign-and-factor": _any_factor,
    "size-hard-coded": lambda case: not case.slip.wrong or True,
    "share-missing": _of_share(lambda _, __: 0.0),
    "overwritten": lambda case: _of_share(lambda _, __: 0.0)(case) or case.edit.kind == "+= -> =",
    "share-sign": _of_share(lambda _, __: -1.0),
    "share-doubled": _of_share(lambda _, __: 2.0),
    "zeros": _zeros,
    "transposed": _transposed,
    "keepdim-lost": lambda case: _reshaped(case) or case.edit.kind.endswith("keepdim lost"),
    "keepdim-added": lambda case: _reshaped(case) or case.edit.kind.endswith("keepdim added"),
    "not-reshaped": _reshaped,
    "not-expanded": _other_shape,
    "not-reduced": _other_shape,
    "shape": _other_shape,
    "misplaced": _moved,
    "mirrored": _moved,
    "heads-mixed": _moved,
    "view-order": _moved,
    "wrong-operand": _stands_for_another,
    "wrong-upstream": _stands_for_another,
    "written-elsewhere": lambda case: case.mended(case.details[0], case.name),
    "fixed": _without_upstream,
    "wrong-size": _stands_for_another,
    "upstream-missing": _without_upstream,
    "copied": _holds_alone,
}
"""By family, what must hold of the numbers."""


def _has_number(case: Case) -> bool:
    """Whether the code holds the factor, and not the name of a row such as `constant-missing`."""
    try:
        _factor(case, case.runs[0].data)
    except (NameError, SyntaxError):
        return False
    return True


def _named_factor(case: Case) -> bool:
    if not case.details or not _has_number(case):
        return _any_factor(case)
    return scaled(_factor)(case)


def _named_share_factor(case: Case) -> bool:
    return _of_share(_factor)(case) if len(case.details) > 1 and _has_number(case) else _share_any(case)


TERMS = "right term lost, left term lost, two terms lost, update left out, one branch alone, + <-> -, += -> -=, += -> ="
SIGNS = "sign of line, one factor negated, minus lost, + <-> -, += -> -=, argument negated, left term lost"
LOST = "factor lost, gate lost, divisor lost"
MORE = "squared line, factor squared, divided twice, term doubled, doubled line, halved line"
POWERS = "power lost, power + 1, power - 1, power negated, power -> factor, squared line, factor squared"
TENSORS = "operand, upstream, tensor for gradient, gradient for tensor, size or scalar"
AXES = "other axis, one axis less, every axis"
FEWER = "one slice, sum lost, einsum transposed"
TURNED = "transposed, transpose lost, product transposed, factors swapped, outer exchanged, einsum transposed"
MOVED = "layout step lost, other axes exchanged, other order of axes"
NUMBERS = (
    "constant doubled, constant + 1, power + 1, power - 1, doubled line, halved line, epsilon changed, threshold moved"
)


def kinds(*texts: str) -> frozenset[str]:
    return frozenset(kind.strip() for text in texts for kind in text.split(","))


SPOKEN: Mapping[str, frozenset[str]] = {
    "average-missing": kinds(TERMS),
    "brackets": kinds("brackets lost, + -> *, * -> +"),
    "constant-changed": kinds(NUMBERS),
    "diagonal": kinds("sum lost, factor lost"),
    "divided": kinds("* -> /, upside down, power negated, power - 1"),
    "divided-by": kinds(LOST, "divided twice, operand, sum lost"),
    "divisor-missing": kinds("divisor lost"),
    "elementwise-not-matmul": kinds("@ -> *"),
    "factor-extra": kinds(MORE, "power + 1"),
    "factor-missing": kinds(LOST),
    "factor-power": kinds("* -> /, upside down", MORE),
    "factor-twice": kinds(MORE, POWERS),
    "first-term-missing": kinds(TERMS),
    "function-extra": kinds("other function"),
    "function-missing": kinds("function lost, other function"),
    "gate-constant": kinds(TERMS),
    "gate-flipped": kinds("comparison turned, == -> !=, branches exchanged, gradient in the gate"),
    "gate-open": kinds(TERMS, TENSORS, "gate lost, + -> *, comparison turned, threshold moved"),
    "half-rule": kinds(TERMS, "factor lost, + -> *, factor squared"),
    "index-every-row": kinds("whole rows, whole columns"),
    "input-for-output": kinds(TENSORS, "function lost"),
    "local-missing": kinds(LOST, TERMS, TENSORS, "function lost, power lost, * -> +"),
    "local-twice": kinds(MORE),
    "matmul-not-elementwise": kinds("sum lost", AXES),
    "matmul-order": kinds(TURNED, MOVED),
    "mean": kinds("sum -> mean"),
    "mean-for-sum": kinds("sum -> mean"),
    "mean-missing": kinds("mean -> sum"),
    "minus-missing": kinds("+ <-> -"),
    "multiplied": kinds("/ -> *, power negated, upside down"),
    "one-missing": kinds(TERMS, "+ -> *"),
    "one-slice": kinds("one slice, first turn left out, one turn less, index + 1, index - 1"),
    "operand-changed": kinds(TERMS, NUMBERS, TENSORS, "+ -> *, * -> +, term doubled, function lost, power lost"),
    "other-function": kinds("other function"),
    "outer-factor-missing": kinds("factor lost"),
    "output-for-input": kinds(TENSORS, "function lost"),
    "own-factor": kinds(TENSORS, "factor squared"),
    "power-changed": kinds(POWERS, LOST, "divided twice, changed an exponent"),
    "power-coefficient": kinds("factor lost", NUMBERS),
    "power-extra": kinds(POWERS),
    "power-missing": kinds(POWERS),
    "power-not-lowered": kinds(POWERS),
    "power-sign": kinds("power negated, * -> /, / -> *, upside down"),
    "probabilities-missing": kinds("factor lost"),
    "product-for-sum": kinds("+ -> *"),
    "row-sum-missing": kinds("sum lost"),
    "scatter-overwrite": kinds("placed instead of added, += -> ="),
    "several": kinds(TERMS, LOST, MORE, TENSORS, TURNED, NUMBERS),
    "slice-missing": kinds("first turn left out, one turn less"),
    "softmax-axis": kinds(AXES, FEWER),
    "square-extra": kinds(POWERS, "divided twice, changed an exponent"),
    "square-missing": kinds(POWERS, "changed an exponent"),
    "statistics-constant": kinds(TERMS),
    "sum-for-product": kinds("* -> +"),
    "sum-missing": kinds(FEWER, "mean -> sum"),
    "summed-all": kinds(AXES),
    "term-axis": kinds(AXES),
    "term-extra": kinds(NUMBERS, TERMS, "term doubled, * -> +"),
    "term-factor": kinds(LOST, MORE, NUMBERS, "sum -> mean, mean -> sum"),
    "term-missing": kinds(TERMS, "factor lost"),
    "term-sign": kinds(SIGNS, "gradient in the gate"),
    "transpose-extra": kinds(TURNED, MOVED),
    "transpose-missing": kinds(TURNED, MOVED),
    "unnormalised": kinds(TENSORS),
    "upstream-inverted": kinds("* -> /, upside down"),
    "upstream-unchanged": kinds(LOST, "spread lost, layout step lost, sum lost"),
    "weights-missing": kinds("factor lost"),
    "wrong-axis": kinds(AXES, FEWER),
    "wrong-index": kinds(TENSORS),
}
"""By family of codes, the kinds of edits of which it may speak where no number decides."""
DECISIVE = frozenset({"brackets", "gate-open", "matmul-not-elementwise", "output-for-input", "own-factor"})
"""Families that speak of the text: of an edit of any other kind they say what is not so."""


def is_so(slip: Slip) -> bool | None:
    """Whether what is said of *slip* holds; None where nothing here can decide."""
    if len(slip.red) != 1 or slip.survives:
        return None
    case = Case(slip)
    family = case.family
    if family in {"unrecognised", "error", "not-finite", "not-a-tensor"} or slip.red[0].verdict != "wrong":
        return _true_facts(case)
    if family == "factor" or family.startswith("sign-and-factor"):
        return _named_factor(case)
    if family == "share-factor":
        return _named_share_factor(case)
    of_shares = ("is a product with", "the upstream gradient is that of", "nothing else that", " is `d")
    if any(words in case.message for words in of_shares[: 4 if family == "copied" else 3]):
        # Of one share among several: numbers of the whole decide only where they agree.
        return CLAIMS[family](case) or (None if len(case.readers) > 1 or family != "copied" else False)
    if family in CLAIMS:
        return CLAIMS[family](case)
    spoken = SPOKEN.get(family)
    is_spoken = spoken is not None and slip.edit.kind.removeprefix("own: ") in spoken
    return is_spoken if family in DECISIVE else is_spoken or None


def _true_facts(case: Case) -> bool | None:
    if case.family == "unrecognised" and "differ" in case.message:
        return any(one.got is None or not same(one.got, one.right) for one in case.runs)
    return True
