"""Right answers by another road: exercises of practice take all of them, and file none as a slip."""

import ast
import asyncio
import random
import re
from collections.abc import Iterator

import pytest

from app.engine.grade.engine import Engine
from app.practice.draw import generate_item
from app.practice.item import JUDGED, GeneratedItem
from app.practice.item_lessons import render_form
from app.practice.operations import OPERATIONS
from app.practice.proof import prove_item
from app.practice.scheduler import UNNAMED, slip_of
from tests.grading.boxes.load import OpenJail

FIRST = 31_000
DEAD = {77, 155, 170}
"""Draws with a tensor whose gradient is zero by nature: a variance does not see what shifts a whole slice."""


def drawn(at: int) -> GeneratedItem:
    return generate_item(1 + at % 3, FIRST + at)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(OpenJail(), None)


class Commuted(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        turns = isinstance(node.op, ast.Mult | ast.Add)
        return ast.BinOp(node.right, node.op, node.left) if turns else node


class Turned(ast.NodeTransformer):
    """Products as the transpose of the product of transposes."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        return ast.Attribute(ast.BinOp(ast.Attribute(node.right, "mT"), node.op, ast.Attribute(node.left, "mT")), "mT")


class Inlined(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def rewritten(code: str, *ways: ast.NodeTransformer) -> str:
    tree: ast.AST = ast.parse(code)
    for way in ways:
        tree = way.visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree))


def merged(code: str) -> str:
    """All shares of a tensor in one line, where the last of them stands."""
    shares: dict[str, list[str]] = {}
    for line in code.splitlines():
        to = line.split()[0]
        shares[to] = [*shares.pop(to, []), line.partition("= ")[2].removesuffix(".clone()")]
    return "\n".join(f"{to} = {' + '.join(f'({text})' for text in texts)}" for to, texts in shares.items())


def inlined(code: str) -> str:
    """Every gradient written out down to what is given."""
    tree, values = ast.parse(merged(code)), dict[str, ast.expr]()
    for line in tree.body:
        assert isinstance(line, ast.Assign)
        line.value = Inlined(values).visit(line.value)
        values[ast.unparse(line.targets[0])] = line.value
    return ast.unparse(ast.fix_missing_locations(tree))


def reordered(code: str, chance: random.Random) -> str:
    """Lines in another order: what a line reads is finished before it."""
    left, given = code.splitlines(), list[str]()
    while left:
        ready = [
            line
            for at, line in enumerate(left)
            if line.split()[0] not in {other.split()[0] for other in left[:at]}
            and not {other.split()[0] for other in left} & {*re.findall(r"\w+", line.partition("= ")[2])}
        ]
        given.append(chance.choice(ready))
        left.remove(given[-1])
    return "\n".join(given)


def other_roads(code: str, chance: random.Random) -> Iterator[str]:
    yield rewritten(code, Commuted())
    yield rewritten(code, Turned())
    yield merged(code)
    yield inlined(code)
    yield rewritten(merged(code), Turned(), Commuted())
    yield reordered(code, chance)
    yield re.sub(r"^(\w+) \+= (.*)$", r"\1 = (\2) + \1", code, flags=re.M)
    yield re.sub(r"^(\w+) (\+?=) (.*)$", r"part = \3\n\1 \2 part * 1", code, flags=re.M)


def expect_every_road_right(engine: Engine, at: int) -> None:
    item = drawn(at)
    for code in dict.fromkeys(other_roads(item.solution.strip(), random.Random(at))):
        verdict = engine.check(item.task, code)
        assert verdict.passed, (item.forward, code, verdict)
        assert {slip_of(one.code or "") for one in verdict.names} <= UNNAMED | {""}, (item.forward, code, verdict)


@pytest.mark.parametrize("at", [0, 1, 2, 8])
def test_a_right_answer_by_another_road_is_right_and_no_slip(engine: Engine, at: int) -> None:
    expect_every_road_right(engine, at)


@pytest.mark.prove
@pytest.mark.parametrize("tens", range(30))
def test_of_300_draws_every_other_road_is_right(engine: Engine, tens: int) -> None:
    for at in sorted({*range(10 * tens, 10 * tens + 10)} - DEAD):
        expect_every_road_right(engine, at)


@pytest.mark.parametrize("at", sorted(DEAD))
def test_a_draw_with_a_gradient_that_says_nothing_is_given_to_nobody(engine: Engine, at: int) -> None:
    class Asked:
        async def check(self, task: object, code: str) -> object:
            return engine.check(task, code)

    assert not asyncio.run(prove_item(drawn(at), Asked())).kept


def test_of_300_draws_none_is_idle_and_each_says_how_it_is_judged() -> None:
    for at in range(300):
        item = drawn(at)
        lines = item.program.source.splitlines()
        sizes = " ".join(f"{' '.join(map(str, one.sizes))} {one.bound or ''}" for one in item.program.inputs)
        assert all(re.search(rf"\b{dim}\b", f"{sizes} {item.program.source}") for dim in item.program.dims), at
        read = {word for line in lines for word in re.findall(r"\w+", line.partition("=")[2])}
        assert item.input_names | {line.split()[0] for line in lines[:-1]} <= read, at
        assert JUDGED in item.fragment
    family = OPERATIONS[item.by[item.key]].family
    asked = {form: (render_form(item, form, family, "") or ("", ""))[1] for form in ("write", "fade", "bug")}
    assert JUDGED in asked["write"]
    assert JUDGED in asked["fade"]
    assert "Any line with the right numbers will do" in asked["bug"]
