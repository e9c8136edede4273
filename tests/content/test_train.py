"""The `train` directive: what it reads, and where its code comes from. Its faults stand in fixtures/bad."""

from pathlib import Path

import pytest

from app.content.blocks import Preset, Train
from app.content.program.training_sources import boxes_of
from app.course.course import read_course
from app.course.parse import parse_lesson

MACHINE = """```{forward} machine
:dims: {n: 32, block: 3, D: 4, n_hidden: 10, vocab: 27}
:inputs: {C: [vocab, D], Xb: "[n, block] ints(vocab)", Yb: "[n] ints(vocab)",
  W: [block*D, n_hidden], V: [n_hidden, vocab]}
:output: loss
x = C[Xb].view(n, -1) @ W
mean = x.mean(0, keepdim=True)
variance = x.var(0, keepdim=True)
logits = torch.tanh((x - mean) / variance) @ V
loss = F.cross_entropy(logits, Yb)
```
"""
BOX = """::::{grad} %s
:forward: machine
:require: %s
%s
Do it.

```{solution}
%s
```
::::
"""


def box(name: str, require: str = "dC dW dV", options: str = "") -> str:
    return BOX % (name, require, options, "\n".join(f"{one} = 0" for one in require.split()))


def lesson(train: str, *, before: str = "", forward: str = MACHINE, name: str = "a") -> str:
    front = f"---\ntitle: A\nid: {name}\nestimate: 5 min\n---\n\n"
    return f"{front}{forward}\n{before or box('gradients')}\n:::{{train}} run\n{train}\n\nTrain it.\n:::\n"


def read(text: str) -> Train:
    found, errors = parse_lesson(text, "1-u/01-a.md")
    assert found is not None, errors
    (train,) = (one for one in found.exercises if isinstance(one, Train))
    return train


def test_a_run_needs_nothing_but_its_program_and_its_box():
    train = read(lesson(":forward: machine\n:uses: gradients"))

    assert (train.context, train.target, train.logits) == ("Xb", "Yb", "logits")
    assert (train.mean, train.variance, train.rates) == (None, None, (0.1, 0.01))
    assert [(one.name, one.steps, dict(one.dims)) for one in train.presets] == [
        ("short", 2_000, {"n_hidden": 64}),
        ("medium", 20_000, {"n_hidden": 200}),
        ("long", 200_000, {"n_hidden": 200}),
    ]


def test_every_option_is_read():
    train = read(
        lesson(
            ":forward: machine\n:uses: gradients\n:mean: mean\n:variance: variance\n:logits: logits\n"
            ":rates: 0.5 1/20\n:scale: {W: 5/3/sqrt(block*D)}\n:shift: {C: 1}\n"
            ":presets: {tiny: {steps: 10, D: 8, train: [2.5, 3], test: [2, 4]},\n  big: {steps: 200000}}"
        )
    )

    assert train.rates == (0.5, 0.05)
    assert (train.mean, train.variance) == ("mean", "variance")
    assert (dict(train.scale), dict(train.shift)) == ({"W": "5/3/sqrt(block*D)"}, {"C": "1"})
    assert train.presets == (
        Preset(name="tiny", steps=10, dims={"D": 8}, bands={"train": (2.5, 3.0), "test": (2.0, 4.0)}),
        Preset(name="big", steps=200_000),
    )


NEEDED = ":forward: machine\n:uses: gradients\n"


def test_a_chain_of_boxes_trains_together():
    before = box("first", "dV") + "\n" + box("gradients", "dW dC", ":after: first\n")
    text = lesson(NEEDED, before=before)
    found, errors = parse_lesson(text, "1-u/01-a.md")
    assert found is not None, errors

    home, boxes = boxes_of([found], found, read(text))

    assert home is found
    assert [one.name for one in boxes] == ["first", "gradients"]


@pytest.mark.parametrize(
    ("uses", "draft", "fault"),
    [
        ("a#gradients", "", ""),
        ("a#nothing", "", "unknown-exercise ':uses:' names 'a#nothing', and there is no such code box."),
        ("z#gradients", "", "unknown-exercise ':uses:' names 'z#gradients'"),
        ("a#some", "", "missing-gradient The box 'a#some' does not ask for dW, dV."),
        ("a#gradients", "draft: true\n", "uses-draft"),
    ],
)
def test_a_box_of_another_lesson_is_found_in_the_course(tmp_path: Path, uses, draft, fault):
    unit = tmp_path / "1-u"
    unit.mkdir()
    (unit / "unit.md").write_text("---\ntitle: U\n---\nText.\n")
    first = f"---\ntitle: A\nid: a\nestimate: 5 min\n{draft}---\n\n{MACHINE}\n{box('gradients')}\n{box('some', 'dC')}"
    (unit / "01-a.md").write_text(first)
    (unit / "02-b.md").write_text(lesson(f":forward: machine\n:uses: {uses}", name="b"))

    _, errors = read_course(tmp_path)

    assert len(errors) == bool(fault)
    assert fault in "".join(str(error) for error in errors)
