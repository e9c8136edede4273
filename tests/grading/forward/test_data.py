"""Hidden sizes tell axes apart, and data leave no mistake unseen."""

from collections.abc import Callable
from dataclasses import replace
from math import gcd, prod
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.content.blocks import Distribution, Forward, Input, SourceLocation
from app.grading.forward.data import Array, Draw, draw_inputs, draw_upstream, hidden_dims, size_of
from tests.grading.boxes.load import make_forward


def forward(dims, inputs):
    return make_forward("f", dims, inputs, "y", "y = x + 1\n")


def hidden_of(dims, shift, **options):
    text = ", ".join(f"{name}: {size}" for name, size in dims.items())
    return hidden_dims(replace(forward(text, "x: [3, 8]"), **options), shift)


@given(st.dictionaries(st.sampled_from("ABCDE"), st.integers(1, 800), min_size=1, max_size=4), st.integers(0, 1))
def test_hidden_sizes_differ_from_each_other_and_from_every_visible_size(dims, shift):
    hidden = hidden_of(dims, shift)

    stretched = [size for name, size in hidden.items() if dims[name] != 1]
    assert len(set(stretched)) == len(stretched)
    assert all(gcd(a, b) == 1 for a in stretched for b in stretched if a != b)
    assert not set(stretched) & {*dims.values(), 1, 3, 8}
    assert all(hidden[name] == 1 for name, size in dims.items() if size == 1)


@given(st.dictionaries(st.sampled_from("ABCDEFGHIJ"), st.integers(1, 800), min_size=1))
def test_ten_dims_stay_small_together_and_each_differs_in_every_run(dims):
    first, second = hidden_of(dims, 0), hidden_of(dims, 1)

    assert max(prod(first.values()), prod(second.values())) <= 400_000
    assert all(len({size, first[name], second[name]}) == 3 for name, size in dims.items() if size != 1)


def test_sizes_that_the_author_gives_or_relates_are_taken():
    dims = {"N": 8, "H": 3, "E": 5, "C": 15}
    given = {"hidden": {"N": (2, 4), "H": (7, 7)}, "related": {"C": "H * E"}}

    first, second = (hidden_of(dims, shift, **given) for shift in (0, 1))

    assert (first["N"], second["N"], first["H"], second["H"]) == (2, 4, 7, 7)
    assert all(one["C"] == one["H"] * one["E"] for one in (first, second))
    assert first["E"] != second["E"]


def test_both_hidden_sets_have_other_sizes_and_keep_the_order():
    one = forward("N: 32, D: 100, H: 27", "x: [N, D]")
    first, second = hidden_dims(one, 0), hidden_dims(one, 1)

    assert all(first[name] != second[name] for name in first)
    assert sorted(first, key=first.get) == sorted(second, key=second.get) == ["H", "N", "D"]


def test_indices_repeat_and_leave_a_row_unused():
    one = forward("N: 5, V: 7", "x: [N, N] ints(V); t: [N] ints(V)")
    for seed in range(50):
        for drawn in draw_inputs(one, one.dims, str(seed), "float64").values():
            counts = np.bincount(drawn.ravel(), minlength=7)
            assert counts.max() >= 3
            assert counts.min() == 0
            assert counts.size == 7


@pytest.mark.parametrize(("absent", "missing", "there"), [("last", 6, 0), ("first", 0, 6)])
def test_each_hidden_set_lacks_another_end_of_the_indices(absent, missing, there):
    one = forward("N: 5, V: 7", "x: [N, N] ints(V); t: [N] ints(V); h: [N, V] onehot")
    for seed in range(50):
        drawn = draw_inputs(one, one.dims, str(seed), "float64", Draw(absent=absent))
        for indices in (drawn["x"], drawn["t"], drawn["h"].argmax(1)):
            assert missing not in indices
            assert there in indices
            assert np.bincount(indices.ravel()).max() >= 3


def test_an_index_repeats_along_every_axis():
    one = forward("N: 5, T: 2, V: 7", "x: [N, T, N] ints(V)")
    for seed in range(50):
        drawn = draw_inputs(one, one.dims, str(seed), "float64")["x"]
        assert drawn[0, 0, 0] == drawn[1, 0, 0] == drawn[0, 1, 0] == drawn[0, 0, 1]


@pytest.mark.parametrize("absent", ["any", "last", "first"])
@pytest.mark.parametrize("bound", [2, 3, 7])
@pytest.mark.parametrize("shape", ["N", "N, N", "1, N", "2"])
def test_indices_are_never_all_the_same(absent, bound, shape):
    one = forward("N: 5", f"t: [{shape}] ints(K)")
    for seed in range(50):
        drawn = draw_inputs(one, {"N": 5, "K": bound}, str(seed), "float64", Draw(absent=absent))["t"]
        assert len(np.unique(drawn)) > 1


PICKED = ["z[range(5), t]", "F.one_hot(t, 2)", "F.cross_entropy(z, t)", "z.gather(1, t.view(-1, 1))"]
COMPUTED = ["z * t.view(-1, 1)", "z[range(5), t] * t", "torch.where(t == 1, 1.0, 0.0)", "F.one_hot(t, 2) + t.sum()"]


@pytest.mark.parametrize("source", PICKED + COMPUTED)
def test_one_hidden_set_lacks_the_last_label_where_none_is_computed_with(source):
    one = replace(forward("N: 5", "z: [N, 2]; t: [N] ints(2)"), source=f"Y = {source}")
    for seed in range(20):
        lacking, whole = (
            draw_inputs(one, one.dims, str(seed), "float64", Draw(absent=end))["t"] for end in ("last", "first")
        )
        assert set(lacking) == ({0} if source in PICKED else {0, 1})
        assert set(whole) == {0, 1}


def test_positive_numbers_cover_small_and_large():
    one = forward("N: 12", "x: [N] positive")
    for seed in range(50):
        drawn = draw_inputs(one, one.dims, str(seed), "float64")["x"]
        assert drawn.min() > 0.1
        assert drawn.min() < 1 < 3 < drawn.max()


def test_one_hot_rows_hold_a_single_one():
    one = forward("N: 6, V: 4", "x: [N, V] onehot")
    drawn = draw_inputs(one, one.dims, "s", "float32")["x"]

    assert drawn.dtype == np.float32
    assert (drawn.sum(1) == 1).all()
    assert set(np.unique(drawn)) == {0.0, 1.0}


def test_the_same_seed_draws_the_same_numbers():
    assert (draw_upstream((3, 4), "s", "Y", "float64") == draw_upstream((3, 4), "s", "Y", "float64")).all()
    assert (draw_upstream((3, 4), "s", "Y", "float64") != draw_upstream((3, 4), "s", "Z", "float64")).all()


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("N", 6),
        ("N*D", 24),
        ("2*(N-1)", 10),
        ("N//4", 1),
        ("12", 12),
        (" N + D ", 10),
        ("D**2", 16),
        ("D^2", 16),
        ("N/2", 3),
        ("N×D", 24),
        ("sqrt(D)", 2),
        ("N**9", 6**9),
    ],
)
def test_sizes_are_arithmetic_over_dims(text, size):
    assert size_of(text, {"N": 6, "D": 4}) == size


@pytest.mark.parametrize("text", ["Q", "N/4", "N-6", "1-N", "f(N)", "", "N +", "True", "N//0", "1.5", "9**9**9"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        size_of(text, {"N": 6})


DRAWN = Forward(
    place=SourceLocation("d.md", 1), name="d", dims={"N": 4, "V": 9}, output="y", source="y = x + 1\n", source_line=1,
    inputs=tuple(
        Input(name=kind, sizes=("N", "N"), distribution=kind, bound="V" if kind in ("sorted", "unique") else None,
              parameters={"normal": (3.0, 0.1), "uniform": (5.0, 6.0)}.get(kind, ()))
        for kind in get_args(Distribution) if kind != "ints"
    ),
)  # fmt: skip
TRUE_OF: dict[str, Callable[[Array], object]] = {
    "normal": lambda x: (abs(x - 3) < 1).all() and x.std() > 0,
    "uniform": lambda x: ((x >= 5) & (x < 6)).all(),
    "mask": lambda x: x.dtype.kind == "f" and set(np.unique(x)) == {0, 1} and x.any(1).all() and not x.all(1).any(),
    "bool": lambda x: x.dtype == np.bool_ and x.any(1).all() and not x.all(1).any(),
    "causal": lambda x: (x == np.tril(np.ones((4, 4), dtype=bool))).all(),
    "sorted": lambda x: (np.diff(x, axis=1) >= 0).all() and x.max() < 9,
    "unique": lambda x: all(len(set(row)) == 4 for row in x.tolist()) and x.max() < 9,
    "permutation": lambda x: all(sorted(row) == [0, 1, 2, 3] for row in x.tolist()),
}  # fmt: skip


@pytest.mark.parametrize("kind", TRUE_OF)
def test_what_a_distribution_promises_holds_for_every_seed(kind):
    assert all(TRUE_OF[kind](draw_inputs(DRAWN, DRAWN.dims, str(seed), "float64")[kind]) for seed in range(50))
