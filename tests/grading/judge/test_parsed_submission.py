"""A submission is read before it runs: what it writes, what it reads, what is blank; any text at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.grading.judge.parsed_submission import parse_submission
from tests.grading.boxes.load import BOXES, NETWORK


@given(st.text(max_size=200))
def test_any_text_gets_a_plan(text):
    plan = parse_submission(text)

    assert plan.fault is not None or all(line.line >= 1 for line in plan.lines)


@given(st.data())
def test_a_damaged_solution_gets_a_plan(data):
    source = data.draw(st.sampled_from([box.solution for box in [*BOXES, NETWORK]]))
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, min(start + 5, len(source))))

    parse_submission(source[:start] + data.draw(st.text(max_size=3)) + source[end:])


@pytest.mark.parametrize("code", ["(" * 5000, "-" * 40000, "x" * 60000, "\x00", "\ud800", "[" * 90])
def test_a_bomb_is_a_fault_and_no_crash(code):
    assert parse_submission(code).fault is not None


def test_a_text_that_no_parser_takes_is_wrong_from_its_first_line():
    fault = parse_submission("a = 1\nb = '\ud800'").fault

    assert (fault.message, fault.line) == ("This text cannot be read as Python.", 1)


@pytest.mark.parametrize(
    ("code", "last"),
    [
        ("dx = 1\ndx += 2", 1),
        ("dx = z()\ndx[0] = 1", 1),
        ("dx = z()\ndx.index_add_(0, i, g)", 1),
        ("dx = z()\ndx.view(-1)[0].add_(1)", 1),
        ("dx = z()\ntorch.add(a, b, out=dx)", 1),
        ("dx = 0\nfor i in range(3):\n    dx = dx + i", 1),
        ("dy, dx = f(g)", 0),
        ("(dx := 3)", 0),
        ("dx: int = 3", 0),
        ("with c() as dx:\n    pass", 0),
        ("dx = torch.zeros_like(x)\nrows = dx.view(-1)\nrows[0] = 1", 2),
        ("dx = torch.zeros(3)\nt = dx\nt += 1", 2),
        ("def add():\n    dx.add_(1)\ndx = z()\nadd()", 2),
        ("def add(t):\n    t[0] = 1\ndx = z()\nadd(dx)", 2),
        ("def f():\n    dx = 1\n    return dx\nk = f()", None),
        ("dx = z()\nk = dx + 1\nk += 1", 0),
        ("dx = z() + 1\nrows = dx.view(-1)\nrows[0] = 1", 0),
    ],
)
def test_the_last_write_is_found(code, last):
    assert parse_submission(code).last.get("dx") == last


@pytest.mark.parametrize("code", ["dx = ____", "dx = X.___ @ g", "dx = ...", "dx = f(__)", "for i in ____: pass"])
def test_blanks_are_found(code):
    assert parse_submission(code).lines[0].blank


@pytest.mark.parametrize("code", ["dx = x[..., None]", "_ = 3", "dx = a_b", "dx = x.__len__"])
def test_what_only_looks_like_a_blank_is_none(code):
    assert not parse_submission(code).lines[0].blank


@pytest.mark.parametrize(
    ("code", "sources"),
    [
        ("dx = dy * 2", {"dy"}),
        ("dz = dy\ndx = dz + 1", {"dz"}),
        ("t = dy\ndx = t * 2", {"dy"}),
        ("dx = torch.zeros(dy.shape)", set()),
        ("n = dy.shape[0]\ndx = torch.ones_like(dz) / n", set()),
        ("dx = x.expand_as(dy)", set()),
        ("dz = dy\ndx = dz\ndz += 1", {"dy"}),
        ("f = lambda g: g * dz\ndz = 1\ndx = f(dy)", {"dy", "dz"}),
        ("def f(g):\n    return g * dz\ndz = 1\ndx = f(dy)", {"dy", "dz"}),
        ("def g():\n    return dz\ndef f():\n    return g() + f\ndz = dy\ndx = f()", {"dz"}),
        ("dx = dy\ndx = torch.zeros(3)", set()),
    ],
)
def test_what_a_gradient_is_drawn_from_is_found(code, sources):
    assert parse_submission(code).drawn_on({"dx", "dy", "dz"}).get("dx") == sources


def test_a_fault_has_its_line():
    fault = parse_submission("dx = 1\ndy = = 2\n").fault

    assert fault.line == 2
    assert "dy = = 2" in fault.message


CHAIN = "\n".join(f"def f{one}():\n    return f{one - 1}()" for one in range(1, 700))
CROSSED = "\n".join(f"def f{one}():\n    return f{one - 1}() + f{one // 2}() + n{one}" for one in range(1, 300))


@pytest.mark.parametrize("functions", [CHAIN, CROSSED])
@pytest.mark.parametrize(
    "calls", ["f299()\n" * 1000, "\n".join(f"g = lambda: f299() + h{one}()" for one in range(600))]
)
def test_functions_that_call_each_other_are_followed_so_far_and_no_further(functions, calls):
    plan = parse_submission(f"{functions}\n{calls}")

    assert plan.fault is not None
    assert "functions call each other" in plan.fault.message


def test_a_call_reads_and_writes_what_the_functions_behind_it_do():
    plan = parse_submission("def f():\n    dx.add_(u)\ndef g():\n    f()\n    return v\nk = g()")

    assert plan.lines[-1].reads >= {"g", "f", "dx", "u", "v"}
    assert plan.lines[-1].writes == {"k", "dx"}


@pytest.mark.parametrize("statement", [-3, 2, 9])
def test_a_statement_that_is_not_there_writes_nothing(statement):
    assert parse_submission("dx = 1\ndw = 2").written_at(statement, 1) == frozenset()
