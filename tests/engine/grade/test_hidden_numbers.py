"""Nothing that a text can say of hidden data comes back to whoever wrote it."""

import re

import pytest

from app.engine.grade.engine import Engine
from app.engine.grade.hidden_draws import HIDDEN
from app.engine.grade.seeds import Seeds
from tests.grading.boxes.load import OpenJail, load

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


SECRETS = [Seeds(bytes([number]) * 20) for number in range(1, 5)]
DRAWN = ["X.dtype == torch.float64", "X.dtype != torch.int64"]
"""Where the numbers of a run are put into its gradient: on hidden data alone, or on the lesson's own as well."""
ENCODED = [
    "{} * k",
    "{} + k",
    "{} * (1 + k * 1e-5)",
    "{} * (1 + u * 1e-4)",
    "{} + k * 1e-6",
    "{} * 10.0 ** k",
    "u",
    "k",
    "marked({}, slice(0, k), 1)",
    "marked({}, k, 1)",
    "marked({}, k, X.reshape(-1)[0])",
    "row({}, k, 0)",
    "row({}, k, 1)",
    "torch.zeros(k, k)",
    "torch.zeros([2] * k)",
    "torch.zeros(k, 0)",
    "{}.reshape(-1)[:k]",
    "{}.abs() ** k",
    "{}.roll(k, 0)",
    "{}.clamp(-u, u)",
    "torch.full_like({}, u)",
    "{}.long() * k",
    "{} / (k - k)",
    "(k * 1000 * {}.abs()).exp()",
    "[1] * k",
    "X.sum() * {}",
    "{} * X.numel() / 6",
]
HELPERS = """
def marked(gradient, places, by):
    gradient = gradient.clone()
    gradient.view(-1)[places] += by
    return gradient

def row(gradient, k, by):
    gradient = gradient.clone()
    gradient[k % gradient.shape[0]] *= by - 1
    return gradient
"""


@pytest.mark.in_turn
@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize("encoded", ENCODED)
def test_a_verdict_reads_alike_whatever_the_hidden_numbers_are(encoded, drawn):
    code = (
        f"{HELPERS}{BOX.solution}\nif {drawn}:\n    u = float(X.abs().sum() % 1)\n    k = int(u * 999) % 6 + 2\n"
        f"    {NAME} = {encoded.format(NAME)}\n"
    )

    verdicts = [Engine(OpenJail(), None, seeds).check(BOX.task(), code, gate=False) for seeds in SECRETS]

    assert not any(one.passed for one in verdicts)
    assert len({(one.message, *((each.message, each.note) for each in one.names)) for one in verdicts}) == 1


@pytest.mark.parametrize(
    "types",
    [
        "{0}.half(), {0}.long(), {0} > 0, {0}.tolist(), None, 'text'",
        "{0}.unbind(), [{0}], ({0},), 2.0, {0}.half(), {0}.tolist()",
        "{0} * 2, -{0}, {0}.flip(0), {0} + 1, {0}.abs(), {0}[0]",
        "{0}.sum(0), {0}.T, {0}.sum(1, keepdim=True), {0}[None], {0}.sum(), {0}[:1]",
    ],
)
def test_a_choice_by_hidden_numbers_has_one_code_if_right_on_visible_data(types):
    code = (
        f"{BOX.solution}\nif {DRAWN[0]}:\n    k = int(float(X.abs().sum() % 1) * 9999) % 6\n"
        f"    {NAME} = [{types.format(NAME)}][k]\n"
    )
    engines = [Engine(OpenJail(), None, Seeds(bytes([number]) * 20)) for number in range(1, 9)]

    verdicts = [one.check(BOX.task(), code, gate=False) for one in engines]

    assert not any(one.passed for one in verdicts)
    assert len({tuple((each.verdict, each.code) for each in one.names) for one in verdicts}) == 1
