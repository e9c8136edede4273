"""Wrong gradients that no table names are told apart by their numbers, and not by how they are written."""

import numpy as np
import pytest

from app.engine.grade.engine import Engine
from app.engine.grade.seeds import PUBLIC, Seeds
from app.grading.judge.function_verdict import CaseResult, answers_digest
from app.grading.judge.value_digest import value_digest
from tests.engine.grade.test_slips import LAYER
from tests.grading.boxes.load import OpenJail

TAIL = "db = dY.sum(0)"
STRANGE = "X.T @ (dY * dY.cos() + 3)"


def key_of(engine, dw, before="dX = dY @ W.T", name="dW"):
    lines = dw if "dW = " in dw else f"dW = {dw}"
    verdict = engine.check(LAYER.task(), "\n".join([before, lines, TAIL]))
    found = next(one for one in verdict.names if one.name == name)
    return found.key or found.code


@pytest.mark.parametrize(
    ("written", "before"),
    [
        ("X.T @ (3 + dY.cos() * dY)", "dX = dY @ W.T"),
        ("h = dY.cos()\nh = h * dY\ndW = X.t() @ (h + 3)", "dX = dY @ W.T"),
        (STRANGE, "dX = 7 * dY @ W.T"),
    ],
    ids=["in another order", "in several lines", "below another mistake"],
)
def test_other_texts_with_the_same_numbers_have_the_same_key(engine, written, before):
    key = key_of(engine, STRANGE)

    assert key is not None
    assert key.startswith("dW:unrecognised:")
    assert key_of(engine, written, before) == key


@pytest.mark.parametrize("other", ["X.T @ (dY * dY.cos() + 4)", "X.T @ (dY * dY.sin() + 3)"])
def test_other_numbers_have_another_key(engine, other):
    assert key_of(engine, other) != key_of(engine, STRANGE)


def test_a_mistake_that_is_named_has_no_key_of_its_numbers(engine):
    assert key_of(engine, "2 * X.T @ dY") == "dW:doubled"


def test_value_keys_differ_between_servers():
    keys = {key_of(Engine(OpenJail(), None, seeds), STRANGE) for seeds in (PUBLIC, Seeds(b"one" * 10))}
    digest = value_digest({"a": np.ones(3)})

    assert len(keys) == 2
    assert len({Seeds(secret).value_key(digest) for secret in (b"one", b"other")}) == 2


def test_a_digest_is_of_shape_size_and_every_number():
    base = np.linspace(-1, 1, 12).reshape(3, 4)
    others = [base.reshape(4, 3), 2 * base, -base, np.where(base == base[1, 1], np.nan, base)]

    digests = {value_digest({"a": array}) for array in (base, base + 1e-14, *others)}

    assert len(digests) == 1 + len(others)
    assert value_digest({"a": base, "b": base}) not in digests


def test_lists_of_lists_and_of_a_list_beside_a_number_have_a_key():
    trees = [["list", [["list", []], ["int", 2]]], ["list", [["list", [["int", 1]]], ["int", 2]]]]

    assert len({answers_digest({"a": CaseResult("a", {"a": {"result": tree}}, {})}) for tree in trees}) == 2
