"""The same engine on the real jail: what the wall lets through, and how a run ends that it stops."""

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from app.grading.judge.verdict import Verdict
from tests.examples import examples
from tests.grading.boxes.load import BOXES, MORE, NETWORK, Box, make_forward

LINEAR = Box(
    "linear",
    make_forward("linear", "N: 32, D: 100, H: 27", "X: [N, D]; W: [D, H]; b: [H]", "Y", "Y = X @ W + b\n"),
    ("dX", "dW", "db"),
    "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n",
)


@pytest.mark.in_turn
@pytest.mark.parametrize("box", [*BOXES, *MORE, NETWORK, LINEAR], ids=lambda box: box.name)
def test_every_solution_passes_in_the_jail(jailed, box):
    verdict = jailed.check(box.task(grade="value"), box.solution)

    assert verdict.passed, verdict


def test_a_mistake_is_named_in_the_jail(jailed):
    verdict = jailed.check(LINEAR.task(), LINEAR.solution.replace("sum(0)", "mean(0)"))

    assert [one.code for one in verdict.names] == [None, None, "db:mean"]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("while True:\n    pass", "timeout"),
        ("l = []\nwhile True:\n    l.append(torch.ones(1000000))", "memory"),
        ("x = torch.zeros(1).expand(10**12).clone()", "memory"),
        ("import socket\nsocket.socket()", "denied"),
        ("import ctypes\nctypes.string_at(0)", "crashed"),
        ("import os\nos._exit(0)", "crashed"),
        ("raise SystemExit", "error"),
        ("def f(n):\n    return f(n + 1)\nf(0)", "error"),
        ("dX = eval('(' * 9000)", "error"),
    ],
)
def test_a_run_that_is_stopped_says_why_and_the_next_one_works(jailed, code, outcome):
    # A run that meets another limit gets a minute to reach it, however busy the machine is.
    verdict = jailed.check(LINEAR.task(seconds=1.0 if outcome == "timeout" else 60.0), code, gate=False)

    assert verdict.outcome == outcome, verdict
    assert verdict.message
    assert not verdict.passed
    assert jailed.check(LINEAR.task(), LINEAR.solution).passed


@pytest.mark.parametrize(
    "printing", ["print(dY)", "print(i, 'of', N, 'rows', dY[i % N, 0].item())", "print('x' * 10_000)"]
)
def test_a_flood_of_print_is_told_as_one_and_not_as_a_loop_without_end(jailed, printing):
    code = f"{LINEAR.solution}for i in range(100_000):\n    {printing}\n"
    # A minute to print so much, however busy the machine is.
    verdict = jailed.check(LINEAR.task(seconds=60.0), code)
    run = jailed.run(LINEAR.task(seconds=60.0), code)

    assert (verdict.outcome, verdict.line) == ("error", 5)
    assert verdict.message.startswith("By this line more than 200,000 characters were printed")
    assert [one.verdict for one in verdict.names] == ["right"] * 3
    assert (run.outcome, run.message) == ("error", verdict.message)
    assert len(run.printed) >= 20_000


def test_a_flood_is_told_as_one_and_not_as_a_list_that_grows(jailed):
    code = "import os\nblock = bytes(1 << 20)\nwhile True:\n    os.write(3, block)"

    verdict = jailed.check(LINEAR.task(seconds=60.0), code, gate=False)

    assert verdict.outcome == "memory"
    assert "sent back more than a run may" in verdict.message
    assert "list" not in verdict.message


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("db = dY.sum(0).half()", "db:dtype", "`db` holds `float16` numbers"),
        ("db = torch.zeros(1).expand(10**6, 10**6)", "db:shape", "`db` has shape `(1000000, 1000000)`"),
        ("db = torch.empty(H, device='meta')", "db:not-a-tensor", "not a plain tensor"),
        ("db = torch.nn.Parameter(dY.sum(0))", "db:not-a-tensor", "not a plain tensor"),
        ("db = 10**400", "db:not-a-tensor", "Python `int`"),
        ("db = dY.sum(0)[:0]", "db:shape", "`db` has shape `(0,)`"),
    ],
)
def test_a_value_that_is_no_gradient_is_named_for_what_it_is(jailed, line, code, said):
    verdict = jailed.check(LINEAR.task(), LINEAR.solution.replace("db = dY.sum(0)", line), gate=False)

    assert verdict.outcome == "graded"
    dX, _, db = verdict.names
    assert dX.verdict == "right"
    assert db.code == code
    assert said in db.message


@pytest.mark.parametrize("code", ["raise ValueError('\\ud800')", "raise ValueError('\U0001f600 \\uDFFF')"])
def test_an_error_text_can_always_be_written_on_a_page(jailed, code):
    verdict = jailed.check(LINEAR.task(), code)

    assert verdict.outcome == "error"
    assert verdict.message.encode().endswith(b"?")
    assert jailed.run(LINEAR.task(), code).message.encode().endswith(b"?")


def test_a_forged_report_does_not_pass(jailed):
    code = (
        "import gc, json\n"
        "for one in gc.get_objects():\n"
        "    if type(one).__name__ == 'FrameWriter':\n"
        "        one.text('report', json.dumps({'v': {}, 'a': {}, 'b': {}, 'true': {}}))\n"
        "        for run in ('v', 'a', 'b', 'true'):\n"
        "            one.tensor(run + '/dX', torch.zeros(32, 100))\n"
    )
    verdict = jailed.check(LINEAR.task(), code, gate=False)

    assert not verdict.passed


@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("gate", [True, False])
def test_a_damaged_submission_always_gets_a_verdict(jailed, gate, data):
    box = data.draw(st.sampled_from([LINEAR, NETWORK, *BOXES]))
    source = box.solution
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, min(start + 12, len(source))))
    code = source[:start] + data.draw(st.text(max_size=4)) + source[end:]

    verdict = jailed.check(box.task(seconds=10.0), code, gate=gate)

    assert isinstance(verdict, Verdict)
    assert verdict.outcome not in {"fault", "busy", "denied"}, (verdict, code)
    assert verdict.outcome == "graded" or verdict.message
