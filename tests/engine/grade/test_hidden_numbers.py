"""Nothing that a text can say of hidden data comes back to whoever wrote it."""

import re

import pytest

from app.engine.grade.forward_references import HIDDEN
from tests.grading.boxes.load import load

BOX = next(box for box in load("boxes.toml") if "X" in {one.name for one in box.forward.inputs} and box.forward.dims)
SIZE, SHOWN = next(iter(BOX.forward.dims.items()))
NAME = BOX.require[0]
HERE = f"{SIZE} == {SHOWN}"
TELLING = [
    f"assert {HERE}, str(X.flatten().tolist())",
    f"assert {HERE}, 'size ' + str({SIZE})",
    f"if not ({HERE}):\n        raise type('Said' + str(X.tolist()), (Exception,), {{}})",
    f"if not ({HERE}):\n        return type('said ' + str(X.tolist()), (), {{}})()",
    f"if not ({HERE}):\n        return torch.zeros(int({SIZE})) @ X.new_zeros(2, 3)",
    f"if not ({HERE}):\n        return {NAME}.half()",
]


@pytest.mark.parametrize("line", TELLING)
def test_no_text_tells_hidden_numbers(engine, line):
    study = engine._bench(BOX.task()).study
    secret = {f"{abs(number):.4f}" for run in HIDDEN for number in study.sets[run].tensors["X"].flatten().tolist()}

    verdict = engine.check(
        BOX.task(), f"{BOX.solution}\ndef tell():\n    {line}\n    return {NAME}\n{NAME} = tell()\n", gate=False
    )

    said = " ".join([verdict.message, verdict.printed, *(one.message + one.note for one in verdict.names)])
    assert not verdict.passed
    assert not any(number[:6] in said for number in secret)
    assert not {str(study.sets[run].dims[SIZE]) for run in HIDDEN} & set(re.findall(r"\d+", said))
