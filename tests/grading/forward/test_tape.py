"""The tape agrees with autograd to the last bit, and stops where it is told to."""

import pytest
import torch

from app.grading.forward.data import draw_inputs, draw_upstream
from app.grading.forward.statements import read_program
from app.grading.forward.tape import Tape, whole_gradients
from tests.grading.boxes.load import BOXES, MORE, NETWORK

EVERY = pytest.mark.parametrize("box", [*BOXES, *MORE, NETWORK], ids=lambda box: box.name)


def rows(program):
    return [
        {"source": one.source, "outputs": list(one.outputs), "inputs": list(one.inputs)} for one in program.statements
    ]


def prepared(box, dtype):
    forward = box.forward
    program = read_program(forward.source, [one.name for one in forward.inputs], forward.dims, *forward.outputs)
    data = {name: torch.from_numpy(one) for name, one in draw_inputs(forward, forward.dims, "test", dtype).items()}
    return program, rows(program), data


@pytest.mark.in_turn(turns=4)
@EVERY
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_shares_sum_to_the_gradient_of_autograd_bit_for_bit(box, dtype):
    program, statements, data = prepared(box, dtype)
    tape = Tape(statements, data, box.forward.dims)
    shape = tape.values[program.outputs[0]].shape
    upstream = torch.from_numpy(draw_upstream(shape, "test", program.outputs[0], dtype))

    reference = whole_gradients(statements, data, box.forward.dims, program.outputs, {program.outputs[0]: upstream})
    sweep = tape.backward({program.outputs[0]: upstream})

    for name in box.require:
        assert torch.equal(sweep.gradients[name[1:]], reference[name[1:]])


@EVERY
def test_unreduced_shares_sum_to_the_shares(box):
    program, statements, data = prepared(box, "float64")
    tape = Tape(statements, data, box.forward.dims)
    upstream = torch.ones_like(tape.values[program.outputs[0]])

    sweep = tape.backward({program.outputs[0]: upstream})
    unreduced = tape.unreduced(sweep, program.tensors)

    assert unreduced.keys() == sweep.shares.keys()
    for key, share in sweep.shares.items():
        assert torch.allclose(unreduced[key].sum_to_size(share.shape), share, rtol=1e-12, atol=1e-14)
