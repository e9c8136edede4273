"""What is a forward program, and what is refused with the author's line."""

import pytest

from app.grading.forward.statements import ProgramError, read_program
from tests.grading.boxes.load import BOXES, NETWORK


def read(source, output="y"):
    return read_program(source, ("x", "w", "ix"), ("N",), output)


@pytest.mark.parametrize("box", [*BOXES, NETWORK], ids=lambda box: box.name)
def test_every_box_is_read(box):
    forward = box.forward
    program = read_program(forward.source, [one.name for one in forward.inputs], forward.dims, *forward.outputs)

    assert {name[1:] for name in box.require} <= set(program.tensors)


def test_occurrences_stand_in_source_order():
    program = read("u = w * x + x ** 2\ny = (u,\n     x)[0]")

    assert [one.inputs for one in program.statements] == [("w", "x", "x"), ("u", "x")]
    assert [path.key for path in program.paths("x")] == ["0.1", "0.2", "1.1"]


def test_tuple_targets_write_several_tensors():
    assert read("y, k = x.max(1)").statements[0].outputs == ("y", "k")


@pytest.mark.parametrize(
    ("source", "line", "part"),
    [
        ("for i in range(3):\n    y = x", 1, "a loop"),
        ("y = x + 1\ny += 1", 2, "in place"),
        ("y = x + 1\ny = x", 2, "written twice"),
        ("x = x + 1", 1, "written twice"),
        ("N = x + 1", 1, "a size or a module"),
        ("u = x + 1\ny = q + u", 2, "`q` is not known"),
        ("y = x", 1, "two names"),
        ("y = z = x + 1", 1, "one name per statement"),
        ("y[0] = x + 1", 1, "plain names"),
        ("y, *z = x", 1, "plain names"),
        ("y = x.add_(1)", 1, "in place"),
        ("y = (u := x + 1)", 1, "not allowed"),
        ("import os\ny = x + 1", 1, "an import"),
        ("u = x + 1", 1, "`y` is never written"),
        ("y = [x for x in range(3)]", 1, "another name"),
        ("y = (x", 1, "not Python"),
        ("", 1, "never written"),
        ("x.sum()", 1, "lost"),
    ],
)
def test_what_is_not_straight_line_is_refused_at_its_line(source, line, part):
    with pytest.raises(ProgramError) as caught:
        read(source)

    assert caught.value.line == line
    assert part in caught.value.message


def test_the_backward_order_of_the_network_is_that_of_its_solution():
    forward = NETWORK.forward
    program = read_program(forward.source, [one.name for one in forward.inputs], forward.dims, *forward.outputs)

    order = program.backward_order(name[1:] for name in NETWORK.require)

    assert order[:9] == (
        *("logprobs", "probs", "counts_sum_inv", "counts_sum", "counts"),
        *("norm_logits", "logit_maxes", "logits", "h"),
    )
    assert order[-3:] == ("b1", "emb", "C")


def test_the_frontier_is_the_first_forced_gradient_on_each_way():
    program = read("u = x * w\nv = u + x\ny = v * u")

    assert program.frontier("x", {"dy", "du"}) == {"du", "dy"}
    assert program.frontier("x", {"dy", "du", "dv"}) == {"du", "dv"}
    assert program.frontier("x", {"dy"}) == {"dy"}
