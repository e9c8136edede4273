import ast

import pytest

from app.check.mutants import mutants_of


def edits(solution: str, *required: str) -> set[tuple[str, str]]:
    return {(one.edit, one.code) for one in mutants_of(solution, frozenset(required))}


@pytest.mark.parametrize(
    ("solution", "edit", "mutant"),
    [
        ("dX = W.T", "dropped a transpose", "dX = W"),
        ("dX = dY @ W.T", "swapped the factors", "dX = W.T @ dY"),
        ("dX = dY @ W", "transposed a factor", "dX = dY.mT @ W"),
        ("dx = dy * y", "dropped a factor", "dx = dy"),
        ("dx = dy / c", "dropped a divisor", "dx = dy"),
        ("dx = dy / c", "multiplied instead of divided", "dx = dy * c"),
        ("dx = a + b", "dropped a term", "dx = b"),
        ("dx = a - b", "flipped a sign", "dx = a + b"),
        ("dx = y ** 2", "changed an exponent", "dx = y ** 3"),
        ("dx = -y", "dropped a minus", "dx = y"),
        ("dx = y", "flipped the sign", "dx = -y"),
        ("db = dY.sum(0)", "took the mean for the sum", "db = dY.mean(0)"),
        ("db = dY.sum(0)", "took the wrong axis", "db = dY.sum(1)"),
        ("db = dY.sum((0, 2))", "forgot an axis", "db = dY.sum((2,))"),
        ("dx = dy * (x > 0)", "turned a comparison round", "dx = dy * (x < 0)"),
        ("dx += b", "overwrote instead of added", "dx = b"),
        ("dx += b", "flipped the sign of an update", "dx -= b"),
        ("dC.index_add_(0, ix, dy)", "overwrote instead of added", "dC.index_copy_(0, ix, dy)"),
        ("dk = ds.transpose(-2, -1)", "dropped a transpose", "dk = ds"),
    ],
)
def test_every_rule_makes_its_wrong_neighbour(solution: str, edit: str, mutant: str) -> None:
    assert (edit, mutant) in edits(solution)


def test_a_mutant_is_written_out_as_a_module_is() -> None:
    solution = "import math\n\ndef f(a):\n    b = a * 2\n    return b - a\n\nclass C:\n    x = 3 * 2\n\ny = f(1) + 2\n"

    mutants = mutants_of(solution, frozenset())

    assert len(mutants) > 5
    assert [one.code for one in mutants] == [ast.unparse(ast.parse(one.code)) for one in mutants]


def test_an_update_can_be_left_out() -> None:
    assert ("left out an update", "dx = a") in edits("dx = a\ndx += b")


def test_a_mutated_loop_of_one_update_does_nothing() -> None:
    assert ("left out an update", "for k in range(3):\n    pass") in edits("for k in range(3):\n    dx += a[k]")


def test_a_kept_dimension_is_edited_only_where_it_is_graded() -> None:
    kept = ("kept a dimension", "m = x.sum(0, keepdim=True)")

    assert kept in edits("m = x.sum(0)", "m")
    assert kept not in edits("m = x.sum(0)", "dx")


def test_a_sign_on_zeros_is_no_mutant_because_it_changes_nothing() -> None:
    assert not edits("dx = torch.zeros_like(x)")


@pytest.mark.parametrize("solution", ["dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)", "dx = dy * 2 * (x - x.mean(0))"])
def test_mutants_are_python_and_differ_from_solution_and_each_other(solution: str) -> None:
    mutants = mutants_of(solution, frozenset({"dX", "dW", "db", "dx"}))

    codes = [ast.unparse(ast.parse(one.code)) for one in mutants]
    assert len(set(codes)) == len(codes) >= 6
    assert ast.unparse(ast.parse(solution)) not in codes
    assert all(1 <= one.line <= solution.count("\n") + 1 for one in mutants)
