"""The principle behind a line: what is called right is, and what stands beside it is not."""

import time
from collections import Counter

import pytest

from app.content.blocks import Forward, Grad
from app.course.parse import parse_lesson
from app.practice.principles import OTHERS, PRINCIPLES, ask_principle
from app.practice.proof import curated_items
from tests.courses import LESSONS, course_in

NOTHING = frozenset()


def forward_of(source: str, **inputs: str) -> Forward:
    shapes = ", ".join(f"{name}: {shape}" for name, shape in inputs.items())
    output = source.splitlines()[-1].split()[0]
    text = f"```{{forward}} f\n:dims: {{N: 3, D: 4}}\n:inputs: {{{shapes}}}\n:output: {output}\n{source}\n```\n"
    lesson, errors = parse_lesson(text, "1-a/01-a.md", piece=True)
    assert lesson is not None, errors
    return lesson.forwards["f"]


@pytest.mark.parametrize(
    ("source", "inputs", "code", "key"),
    [
        ("y = x @ w", {"x": "[N, D]", "w": "[D, N]"}, "dx = dy @ w.T", "factor"),
        ("y = x + b", {"b": "[D]", "x": "[N, D]"}, "db = dy.sum(0)", "copies"),
        ("y = torch.tanh(x)", {"x": "[N, D]"}, "dx = dy * (1 - y ** 2)", "local"),
        ("y = x.sum(1)", {"x": "[N, D]"}, "dx = dy[:, None].expand_as(x)", "addends"),
        ("y = torch.softmax(x, 1)", {"x": "[N, D]"}, "dx = y * (dy - (dy * y).sum(1, keepdim=True))", "shared"),
        ("y = x.T", {"x": "[N, D]"}, "dx = dy.T", "moved"),
        ("y = x * z + x", {"x": "[N]", "z": "[N]"}, "dx = dy * z + dy", "uses"),
        ("y = z * x", {"z": "[N]", "x": "[N]"}, "dz = x * dy", "local"),
        ("y = torch.relu(x)", {"x": "[N]"}, "dx = dy * (x > 0)", "gate"),
    ],
)
def test_a_line_is_asked_for_its_principle(source, inputs, code, key):
    question = ask_principle(code, forward_of(source, **inputs), (code.split()[0],), NOTHING)

    assert question is not None
    assert (question.principle.key, question.line) == (key, code)
    assert len(set(question.offered)) == 1 + OTHERS


@pytest.mark.parametrize(
    ("source", "code"),
    [("y = z - x", "dz = dy + 0"), ("y = z * (x + 1)", "dz = (x + 1) * dy"), ("y = z @ x", "dz = x")],
)
def test_a_line_that_shows_no_principle_plainly_is_not_asked_about(source, code):
    assert ask_principle(code, forward_of(source, z="[N]", x="[N]"), ("dz",), NOTHING) is None


def test_a_product_that_is_summed_is_not_asked_apart_from_its_factor():
    offered = set()
    for name in "abdefghijklm":  # what stands beside the right one is drawn by the line
        program = forward_of(f"y = {name} * c", **{name: "[N, D]", "c": "[N, 1]"})
        question = ask_principle(f"dc = torch.sum(dy * {name}, dim=1, keepdim=True)", program, ("dc",), NOTHING)
        assert question is not None
        assert question.principle.key == "copies"
        offered |= {principle.key for principle in question.offered}

    assert len(offered) > 1 + OTHERS
    assert not {"factor", "local"} & offered


def test_a_loop_is_several_lines_and_is_not_asked_about():
    lesson = course_in(LESSONS).named["first-layer-and-exam"]
    box = lesson.exercise("scatter")
    flat, loop = (code.source for code in (box.solution, *box.alternatives))

    asked = [ask_principle(code, lesson.forwards[box.forward], box.require, NOTHING) for code in (flat, loop)]

    assert asked[0] is not None
    assert asked[1] is None


def test_nothing_beside_the_right_principle_may_be_said_of_the_line():
    seen = Counter()
    for level in (1, 2):
        for item in curated_items(level):
            question = ask_principle(item.solution, item.program, item.require, NOTHING)
            if question is None:
                continue
            seen[question.principle.key] += 1
            for principle in {*question.offered} - {question.principle}:
                assert question.family not in principle.families
                assert not principle.akin.search(question.line)

    assert len(seen) >= len(PRINCIPLES) - 2, seen


def test_a_family_that_was_asked_about_is_not_asked_again():
    item = curated_items(1)[0]
    first = ask_principle(item.solution, item.program, item.require, NOTHING)
    assert first is not None

    second = ask_principle(item.solution, item.program, item.require, frozenset({first.family}))

    assert second is None or second.family != first.family


def test_a_line_that_was_given_is_not_asked_about():
    program = forward_of("a = x @ w\ny = torch.tanh(a)", x="[N, D]", w="[D, N]")
    code, starter = "da = dy * (1 - y ** 2)\ndx = da @ w.T", "da = dy * (1 - y ** 2)\ndx = ____"

    question = ask_principle(code, program, ("da", "dx"), NOTHING, starter)

    assert question is not None
    assert question.line == "dx = da @ w.T"
    assert ask_principle(code, program, ("da", "dx"), frozenset({"matmul"}), starter) is None


def test_boxes_of_the_course_are_asked_about():
    boxes = [(lesson, box) for lesson in course_in(LESSONS).lessons for box in lesson.all_of(Grad)]
    asked = [
        question.principle.key
        for lesson, box in boxes
        if (question := ask_principle(box.solution.source, lesson.forwards[box.forward], box.require, NOTHING))
    ]

    assert len(asked) > len(boxes) / 2


def test_a_box_that_is_full_of_lines_is_asked_about_in_no_time():
    """The server asks: were each line looked up in all of the text, it would answer nobody for half a minute."""
    code = "\n".join(f"h{number} = 1" for number in range(4_000))
    program = forward_of("y = x * z", x="[N]", z="[N]")
    began = time.process_time()

    assert ask_principle(code, program, ("dx",), NOTHING) is None
    assert time.process_time() - began < 5
