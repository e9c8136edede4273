"""Which entries of the tensors of its line an entry of a gradient came from."""

import numpy as np
import pytest

from app.grading.judge import origins
from app.grading.judge.origins import entry_origins, place_of
from app.grading.judge.parsed_submission import parse_submission

SCOPE = {
    "X": np.zeros((8, 5)),
    "W": np.zeros((5, 7)),
    "dY": np.zeros((8, 7)),
    "h": np.zeros((8, 7)),
    "big": np.zeros((300, 300)),
    "ix": np.array([0, 2, 1, 0, 3, 4, 2, 2]),
}


def came(code: str, name: str, rank: int) -> dict[str, str]:
    """By tensor: where the entry number *rank* of those that are shown came from."""
    return {one.tensor: one.places[rank] for one in entry_origins(parse_submission(code), SCOPE, {"N": 8}, [name])}


@pytest.mark.parametrize(
    ("code", "rank", "places"),
    [
        ("dW = X.T @ dY", 7, {"X": "[:, 1]", "dY": "[:, 1]"}),
        ("dW = dY.sum(0)", 3, {"dY": "[:, 3]"}),
        ("dW = dY.sum(0, keepdim=True)", 3, {"dY": "[:, 3]"}),
        ("dW = dY.sum()", 0, {"dY": "[:, :]"}),
        ("dW = dY * h", 6, {"dY": "[1, 0]", "h": "[1, 0]"}),
        ("dW = dY * (1 - h ** 2)", 8, {"dY": "[1, 2]", "h": "[1, 2]"}),
        ("dW = dY.T", 1, {"dY": "[1, 0]"}),
        ("dW = X[1:4].sum(0)", 0, {"X": "[1:4, 0]"}),
        ("dW = X[ix]", 5, {"X": "[2, 0]"}),
        ("dW = F.softmax(dY, 1)", 0, {"dY": "[0, :]"}),
        ("zero = torch.zeros_like(dY)\ndW = zero * h", 0, {"zero": "[0, 0]", "h": "[0, 0]"}),
        ("dW = X.T @ dY\ndW += W", 1, {"dW": "[0, 1]", "W": "[0, 1]"}),
        ("a = X.T\ndW = a @ dY", 0, {"a": "[0, :]", "dY": "[:, 0]"}),
    ],
)
def test_an_entry_came_from_those_that_its_line_read_for_it(code, rank, places):
    assert came(code, "dW", rank) == places


@pytest.mark.parametrize(
    "code", ["dW = big @ big", "dW = unknown @ X", "dW = torch.ones_like(X) * 2", "dW = 3", "dX = X"]
)
def test_what_cannot_be_followed_is_silent(code):
    assert entry_origins(parse_submission(code), SCOPE, {}, ["dW"]) == ()


def test_the_last_line_that_writes_a_name_is_followed():
    assert came("dW = X.T @ dY\ndW = W", "dW", 0) == {"W": "[0, 0]"}


def test_entries_that_are_no_block_are_called_some_of_one():
    assert place_of(np.eye(3, dtype=bool)) == "some of [:, :]"
    assert place_of(np.array([True, False, True, False])) == "[[0, 2]]"


def followed(code: str, scope: dict[str, np.ndarray], dims: dict[str, int]) -> tuple[origins.Origin, ...]:
    return entry_origins(parse_submission(code), scope, dims, ["dW"])


@pytest.mark.parametrize(
    ("code", "scope", "dims", "other_scope", "other_dims"),
    [
        ("dW = X.sum(0)", {"X": np.zeros((3, 2))}, {}, {"X": np.zeros((4, 2))}, {}),
        ("dW = X[ix]", {"X": np.zeros(3), "ix": np.array([0, 1])}, {}, {"X": np.zeros(3), "ix": np.array([2, 0])}, {}),
        ("dW = X[:N].sum()", {"X": np.zeros(3)}, {"N": 1}, {"X": np.zeros(3)}, {"N": 2}),
        ("dW = X[k[0]]", {"X": np.zeros(3)}, {}, {"X": np.zeros(3)}, {}),
    ],
)
def test_a_line_that_is_read_again_is_followed_on_what_it_reads_now(code, scope, dims, other_scope, other_dims):
    before, after = ("k = [0]\n", "k = [1]\n") if "k[" in code else ("", "")

    first = followed(before + code, scope, dims)

    assert first
    assert followed(before + code, scope, dims) == first
    assert followed(after + code, other_scope, other_dims) != first


def test_a_run_of_the_same_lines_follows_none_of_them_again(monkeypatch):
    code = "dW = X.T @ dY  # told by its shapes alone"
    first = came(code, "dW", 3)

    monkeypatch.setattr(origins, "_trace_origins", lambda *_: pytest.fail("followed again"))

    assert came(f"# above\n{code}, and not by its place", "dW", 3) == first
    with pytest.raises(pytest.fail.Exception):
        came("dW = X.T @ (2 * dY)", "dW", 3)
