"""Every edit of a line at one place, as it was: `make pictures` renews what is kept in `edits.md`."""

import ast
import os
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from app.grading.diagnosis.brackets import bracket_edits
from app.grading.diagnosis.call_kinds import list_edits
from app.grading.diagnosis.edits import edits, replace_node
from app.grading.diagnosis.grammar import EditVocabulary

KEPT = Path(__file__).with_name("edits.md")
RENEW = "PICTURES" in os.environ
WORDS = EditVocabulary(
    arrays={"dY": np.ones((2, 3)), "q": np.ones((2, 3, 4, 5)), "t": np.ones(2, int)},
    gradients=["dY"],
    sizes={"N": 2},
    functions=["exp", "relu"],
    numbers=[4],
    inverse=True,
)
LINES = (
    "a * b - c",
    "-x ** 2",
    "(a - b).mean(0)",
    "a * b.sum(0, keepdim=True)",
    "q.transpose(0, 2) @ dY.T",
    "p[:, 1:] * t[0]",
    "x.max() > 0",
    "x.mean() + 1",
    "torch.exp(x.sum((0, 1)))",
    "F.softmax(x, 1) / N",
)


def of(line: str) -> ast.expr:
    return ast.parse(line, mode="eval").body


def test_a_line_has_the_edits_that_it_had() -> None:
    parts = []
    for line in LINES:
        rows = dict.fromkeys(f"{one.change.kind}: {ast.unparse(one.root)}\n" for one in edits(of(line), WORDS))
        parts.append(f"## {line}\n```\n{''.join(rows)}```\n")
    found = "\n".join(parts)

    if RENEW:
        KEPT.write_text(found, "utf-8")

    assert found == KEPT.read_text("utf-8"), "read it; then: make pictures"


@pytest.mark.parametrize(
    "row",
    ["a - b", "a * b + c", "a - b - c", "a + b * c / d", "a * b - c * d", "a ** b ** c", "a - b * c ** d + e / f"],
)
def test_brackets_are_put_around_every_part_of_a_row(row: str) -> None:
    parts = row.split()
    by_hand = set()
    for first, last in combinations(range(0, len(parts), 2), 2):
        with_brackets = [*parts[:first], "(", *parts[first : last + 1], ")", *parts[last + 1 :]]
        by_hand.add(ast.dump(of(" ".join(with_brackets))))
    root = of(row)

    found = {
        ast.dump(replace_node(root, place, change.new))
        for place in ast.walk(root)
        if isinstance(place, ast.expr)
        for change in bracket_edits(place, WORDS)
    }

    assert found - {ast.dump(root)} == by_hand - {ast.dump(root)}


@pytest.mark.parametrize(
    ("line", "mended"),
    [("[a, a]", ["[a, b]", "[b, a]"]), ("[a, b, a]", ["[a, b, c]", "[c, b, a]"]), ("[a, b]", []), ("[a, a, 1]", [])],
)
def test_a_tensor_twice_in_a_list_stays_at_one_of_its_places(line: str, mended: list[str]) -> None:
    arrays = {name: np.ones(2) for name in "abc"[: 2 + line.count("b")]}

    found = list_edits(of(line), replace(WORDS, arrays=arrays))

    assert sorted(ast.unparse(one.new) for one in found) == mended
