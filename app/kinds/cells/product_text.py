"""Which product a table of numbers is, where it is not the one that was asked for."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files

import numpy as np

from app.content.blocks import Forward
from app.content.program.programs import sound_tree
from app.grading.operations.numerics import Array
from app.grading.reading.node import UntracedError
from app.grading.reading.walk import trace_program
from app.kinds.cells.block import CellsQuestion
from app.syntax import source_text

PHRASES: Mapping[str, str] = tomllib.loads(
    files("app.kinds.cells").joinpath("phrases.toml").read_text(encoding="utf-8")
)
_PRODUCT = re.compile(r"(\w+) = (\w+) @ (\w+)")
Form = tuple[str, str]
"""What happened, a row of the phrases, and the product; `u` is what arrives, `f` the other factor."""
_LEFT: tuple[Form, ...] = (
    ("untransposed", "u @ f"),
    ("order", "f @ u"),
    ("order", "f.T @ u"),
)
_RIGHT: tuple[Form, ...] = (
    ("untransposed", "f @ u"),
    ("order", "u @ f"),
    ("order", "u @ f.T"),
)
_EITHER: tuple[Form, ...] = (
    ("entrywise", "u * f"),
    ("entrywise", "u * f.T"),
    ("upstream", "u"),
    ("factor", "f"),
    ("factor", "f.T"),
)
_FORWARD: tuple[Form, ...] = (
    ("swapped", "f @ u"),
    ("entrywise", "u * f"),
    ("untransposed", "u @ f.T"),
    ("untransposed", "u.T @ f"),
)


def product_text(quiz: CellsQuestion, forward: Forward, answer: Array, given: Array) -> str:
    """Describe *given* in a sentence; empty if it is none of the products that are mistaken for *answer*."""
    try:
        forms = list(_forms(quiz, forward))
    except (UntracedError, KeyError):
        return ""
    for kind, form, scope in forms:
        array = _value(form, scope)
        if array is not None and array.shape == answer.shape and not _same(array, answer) and _same(array, given):
            names = {letter: name for name, letter, _ in scope}
            return PHRASES[kind].format(product=_form_text(form, names))
    if answer.ndim == 2 and _same(answer.T, given):
        return PHRASES["turned"]
    return PHRASES["sign"] if answer.any() and _same(-answer, given) else ""


Scope = tuple[tuple[str, str, Array], ...]
"""The name, the letter and the numbers of what arrives and of the other factor."""


def _forms(quiz: CellsQuestion, forward: Forward) -> Iterator[tuple[str, str, Scope]]:
    walk = trace_program(forward, quiz.at)
    for node in sound_tree(forward.source).body:
        product = _PRODUCT.fullmatch(source_text(node))
        if product is None:
            continue
        output, left, right = product.groups()
        if quiz.of == output:
            factors: Scope = ((left, "u", walk.values[left]), (right, "f", walk.values[right]))
            yield from ((kind, form, factors) for kind, form in _FORWARD)
        for name, other, rows in ((left, right, _LEFT), (right, left, _RIGHT)):
            if quiz.of == f"d{name}" and output in walk.gradients:
                scope: Scope = ((f"d{output}", "u", walk.gradients[output]), (other, "f", walk.values[other]))
                yield from ((kind, form, scope) for kind, form in (*rows, *_EITHER))


def _value(form: str, scope: Scope) -> Array | None:
    """The numbers of *form*; None where its sizes do not fit."""
    numbers = {letter: array for _, letter, array in scope}
    first, _, rest = form.partition(" ")
    sign, _, second = rest.partition(" ")
    left = _operand(first, numbers)
    if not sign:
        return left
    other = _operand(second, numbers)
    try:
        return np.asarray(left @ other if sign == "@" else left * other)
    except ValueError:
        return None


def _operand(text: str, numbers: Mapping[str, Array]) -> Array:
    array = numbers[text[0]]
    return array.T if text.endswith(".T") else array


def _form_text(form: str, names: Mapping[str, str]) -> str:
    return "".join(names.get(letter, letter) for letter in form)


def _same(first: Array, other: Array) -> bool:
    return first.shape == other.shape and bool(np.allclose(first, other, rtol=1e-3, atol=1e-3))
