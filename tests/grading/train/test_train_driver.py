"""The driver of training runs: what a stretch computes, whatever stretch it is."""

import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from app.grading.train import train_driver
from tests.grading.boxes.load import Collected

SHAPES = {"C": (27, 2), "W": (6, 5), "b": (5,), "V": (5, 27)}
STATEMENTS = (
    ("x", "x = C[Xb].view(n, block * n_embd) @ W + b"),
    ("mean", "mean = x.mean(0, keepdim=True)"),
    ("variance", "variance = x.var(0, keepdim=True)"),
    ("h", "h = torch.tanh((x - mean) * (variance + 1e-5) ** -0.5)"),
    ("logits", "logits = h @ V"),
    ("loss", "loss = F.cross_entropy(logits, Yb)"),
)
OWN = """
dlogits = (F.softmax(logits, 1) - F.one_hot(Yb, vocab)) / n
dV = h.T @ dlogits
dh = (dlogits @ V.T) * (1 - h ** 2)
u = (x - mean) * (variance + 1e-5) ** -0.5
dx = (variance + 1e-5) ** -0.5 / n * (n * dh - dh.sum(0) - n / (n - 1) * u * (dh * u).sum(0))
dW = C[Xb].view(n, -1).T @ dx
db = dx.sum(0)
dC = torch.zeros_like(C).index_add_(0, Xb.view(-1), (dx @ W.T).view(-1, n_embd))
"""

HEADER = {
    "dtype": "float32",
    "statements": [{"outputs": [name], "source": source} for name, source in STATEMENTS],
    "output": "loss",
    "dims": {"n": 8, "block": 3, "n_embd": 2, "vocab": 27},
    "parameters": [
        {"name": name, "shape": shape, "scale": 0.5, "shift": float(name == "b")} for name, shape in SHAPES.items()
    ],
    "context": "Xb",
    "target": "Yb",
    "batch": "n",
    "width": 3,
    "logits": "logits",
    "mean": "mean",
    "variance": "variance",
    "rates": (0.1, 0.01),
    "seed": 7,
    "seconds": 60.0,
    "code": OWN,
}
ROWS = 9001  # more than two chunks, and not a multiple of anything


@pytest.fixture(scope="module")
def data():
    generator = torch.Generator().manual_seed(1)
    contexts = torch.randint(0, 27, (ROWS, 3), generator=generator).to(torch.uint8)
    return {"X": contexts, "Y": contexts.sum(1).remainder(27).to(torch.uint8)}


def done(part, arrays=None, **changes):
    out = Collected()
    default = torch.get_default_dtype()
    train_driver.run({**HEADER, "part": part, **changes}, dict(arrays or {}), out)
    torch.set_default_dtype(default)
    return out


def tensors(out):
    return {key: torch.from_numpy(value.copy()) for key, value in out.arrays.items()}


@pytest.fixture(scope="module")
def fresh():
    return tensors(done("start"))


def steps(state, data, first, stop, **changes):
    return done("steps", {**state, **data}, first=first, stop=stop, half=10, **changes)


def test_a_run_starts_as_shift_plus_scale_times_standard_normal(fresh):
    generator = torch.Generator().manual_seed(7)

    for name, shape in SHAPES.items():
        assert torch.equal(fresh[f"p/{name}"], torch.randn(shape, generator=generator) * 0.5 + float(name == "b"))
    assert torch.equal(fresh["g"], generator.get_state())


def test_the_loop_is_the_one_of_the_lesson(fresh, data):
    parameters = {name: fresh[f"p/{name}"].clone() for name in SHAPES}
    generator = torch.Generator()
    generator.set_state(fresh["g"])
    losses = []
    for step in range(20):
        rows = torch.randint(0, ROWS, (8,), generator=generator)
        scope = {"torch": torch, "F": F, **HEADER["dims"], **parameters}
        scope |= {"Xb": data["X"][rows].long(), "Yb": data["Y"][rows].long()}
        exec("\n".join(source for _, source in STATEMENTS) + OWN, scope)
        losses.append(float(scope["loss"]))
        for name in SHAPES:
            parameters[name] += -(0.1 if step < 10 else 0.01) * scope[f"d{name}"]

    out = steps(fresh, data, 0, 20)

    # The driver scales and subtracts in one pass, which rounds once where these lines round twice.
    assert np.allclose(out.arrays["losses"], losses, rtol=0, atol=1e-6)
    for name in SHAPES:
        assert np.allclose(out.arrays[f"p/{name}"], parameters[name], rtol=0, atol=1e-6)


def test_two_stretches_are_one_to_the_last_bit(fresh, data):
    whole = steps(fresh, data, 0, 20)
    first = steps(fresh, data, 0, 7)
    second = steps({key: value for key, value in tensors(first).items() if key != "losses"}, data, 7, 20)

    assert np.array_equal(whole.arrays["losses"], np.concatenate([first.arrays["losses"], second.arrays["losses"]]))
    for key in fresh:
        assert np.array_equal(whole.arrays[key], second.arrays[key])


def test_right_gradients_train_as_those_of_autograd(fresh, data):
    own, torchs = steps(fresh, data, 0, 60), steps(fresh, data, 0, 60, code=None)

    assert np.abs(own.arrays["losses"] - torchs.arrays["losses"]).max() < 1e-5


def test_a_stretch_ends_when_its_time_is_over_but_not_before_one_step(fresh, data):
    out = steps(fresh, data, 0, 10_000, seconds=0.0)

    assert len(out.arrays["losses"]) == 1


def test_statistics_are_those_of_all_rows_at_once_however_they_are_cut(fresh, data):
    parameters = {key: value for key, value in fresh.items() if key.startswith("p/")}
    table = parameters["p/C"][data["X"].long()].view(ROWS, 6) @ parameters["p/W"] + parameters["p/b"]

    first = tensors(done("calibrate", {**parameters, **{key: value[:5000] for key, value in data.items()}}, seen=0))
    held = {f"h/{key}": value for key, value in first.items()}
    both = done("calibrate", {**parameters, **held, **{key: value[5000:] for key, value in data.items()}}, seen=5000)

    assert np.allclose(both.arrays["mean"], table.double().mean(0, keepdim=True), rtol=0, atol=1e-6)
    assert np.allclose(both.arrays["variance"], table.double().var(0, keepdim=True), rtol=0, atol=1e-6)


def test_the_loss_is_that_of_all_rows_with_the_statistics_held(fresh, data):
    parameters = {key: value for key, value in fresh.items() if key.startswith("p/")}
    held = {"h/mean": torch.full((1, 5), 0.3), "h/variance": torch.full((1, 5), 2.0)}
    x = parameters["p/C"][data["X"].long()].view(ROWS, 6) @ parameters["p/W"] + parameters["p/b"]
    logits = torch.tanh((x - 0.3) * (2.0 + 1e-5) ** -0.5) @ parameters["p/V"]

    out = done("evaluate", {**parameters, **held, **data})

    assert out.arrays["total"] / ROWS == pytest.approx(float(F.cross_entropy(logits, data["Y"].long())), rel=1e-5)


def test_names_end_with_their_end_and_follow_from_the_seed(fresh):
    held = {"h/mean": torch.zeros(1, 5), "h/variance": torch.ones(1, 5)}
    parameters = {key: value for key, value in fresh.items() if key.startswith("p/")}

    names, again, others = (
        done("sample", {**parameters, **held}, count=20, seed=seed).arrays["names"] for seed in (1, 1, 2)
    )

    assert np.array_equal(names, again)
    assert not np.array_equal(names, others)
    for row in names:
        ends = np.flatnonzero(row == 0)
        assert not len(ends) or not row[ends[0] :].any()


def test_the_gradients_of_a_batch_are_those_of_autograd(fresh, data):
    own, torchs = (done("gradients", {**fresh, **data}, code=code) for code in (OWN, None))

    for name in SHAPES:
        assert np.allclose(own.arrays[f"d/{name}"], torchs.arrays[f"d/{name}"], atol=1e-7)


@pytest.mark.parametrize(
    ("code", "line", "said"),
    [
        (OWN.replace("dV = ", "dQ = "), None, "No tensor called `dV` was left in scope."),
        (OWN + "dV = 3", None, "`dV` is a int, not a tensor."),
        (OWN + "db = db.view(1, 5)", None, "`db` has the shape (1, 5); `b` has (5,)."),
        (OWN.replace("h.T @", "h @"), 3, "mat1 and mat2 shapes cannot be multiplied (8x5 and 8x27)"),
        ("dV = (", 1, "was never closed"),
        ("x = 1\nraise SystemExit", 2, ""),
        ("def f():\n    return nothing\nf()", 2, "name 'nothing' is not defined"),
    ],
)
def test_what_goes_wrong_is_told_with_the_learners_line(fresh, data, code, line, said):
    out = steps(fresh, data, 0, 5, code=code)

    report = json.loads(out.texts["failed"])
    assert (report["whose"], report.get("line")) == ("learner", line)
    assert said in report.get("message", report.get("text"))
    assert len(out.arrays["losses"]) == 0
    for name in SHAPES:
        assert np.array_equal(out.arrays[f"p/{name}"], fresh[f"p/{name}"].numpy())


def test_a_failure_after_some_steps_keeps_those_steps(fresh, data):
    code = OWN + "if Xb[0, 0] == 5:\n    dV = dV / 0 + missing\n"

    out = steps(fresh, data, 0, 500, code=code)

    kept = len(out.arrays["losses"])
    assert 0 < kept < 500
    assert np.array_equal(out.arrays["losses"], steps(fresh, data, 0, kept).arrays["losses"])
    assert np.array_equal(out.arrays["p/V"], steps(fresh, data, 0, kept).arrays["p/V"])


@pytest.mark.parametrize(
    ("late", "said"),
    [
        ("dV = None", "No tensor called `dV` was left"),
        ("db = db.view(1, 5)", "`db` has the shape (1, 5); `b` has (5,)"),
    ],
)
def test_a_gradient_that_becomes_useless_later_is_the_learners(fresh, data, late, said):
    out = steps(fresh, data, 0, 500, code=OWN + f"if Xb[0, 0] == 5:\n    {late}\n")

    report = json.loads(out.texts["failed"])
    assert report["whose"] == "learner"
    assert said in report["message"]
    assert len(out.arrays["losses"]) > 0


def test_an_error_of_the_program_is_the_authors(fresh, data):
    broken = [*HEADER["statements"][:-1], {"outputs": ["loss"], "source": "loss = missing"}]

    out = steps(fresh, data, 0, 5, statements=broken)

    assert '"whose": "author"' in out.texts["failed"]
