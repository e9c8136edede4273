"""Checks that learners write, and bugs that they hunt, through the engine and the real jail."""

from pathlib import Path

import pytest

from app.course.parse import parse_lesson
from app.engine.grade.engine import Engine
from app.engine.task import task_of
from app.grading.judge.hunt_verdict import with_line

PATH = Path(__file__).parents[1] / "checks.md"
LESSON, ERRORS = parse_lesson(PATH.read_text(encoding="utf-8"), PATH.name)
assert LESSON is not None, ERRORS
TASKS = {one.name: task_of(LESSON, one) for one in LESSON.exercises}
SOLUTION = LESSON.exercise("cmp").solution.source
MENDED = LESSON.exercise("bessel").solution.source
GIVEN = LESSON.exercise("bessel").starter.source


@pytest.mark.parametrize("name", ["cmp", "gradients"])
def test_the_solution_of_a_checker_passes(jailed, name):
    verdict = jailed.check(TASKS[name], LESSON.exercise(name).solution.source)

    assert verdict.passed, verdict
    assert {one.word for one in verdict.names} == {"accepted, rightly", "refused, rightly"}


WRONG_CHECKS = [
    ("return True", ["mistake-1:accepted", "mistake-2:accepted", "mistake-3:accepted"], "Your check accepts NaN."),
    ("return False", ["correct-1:refused", "correct-2:refused"], "They are equal."),
    ("return bool((mine == theirs).all())", ["correct-2:refused", "mistake-2:accepted"], "last digit"),
    ("return not bool(((mine - theirs).abs() > 1e-5).any())", ["mistake-1:accepted", "mistake-2:accepted"], "NaN"),
    ("return mine.shape == theirs.shape and bool((mine - theirs).nansum().abs() <= 0.3)",
     ["mistake-1:accepted", "mistake-3:accepted"], "NaN"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "codes", "said"), WRONG_CHECKS, ids=[one[0] for one in WRONG_CHECKS])
def test_a_wrong_check_is_told_what_it_overlooks(jailed, body, codes, said):
    verdict = jailed.check(TASKS["cmp"], f"def cmp(mine, theirs):\n    {body}\n")

    wrong = [one for one in verdict.names if one.verdict == "wrong"]
    assert (verdict.outcome, verdict.passed) == ("graded", False)
    assert [one.code for one in wrong] == codes
    assert said in wrong[0].message


def test_a_check_that_counts_its_calls_cannot_pass(jailed):
    code = "calls = []\ndef cmp(mine, theirs):\n    calls.append(1)\n    return len(calls) <= 2\n"

    # The order is drawn for every run: one in ten is the author's own.
    assert not all(jailed.check(TASKS["cmp"], code).passed for _ in range(12))


NO_ANSWERS = [
    ("pass", "returned nothing"),
    ("return mine - theirs == 0 if mine.shape == theirs.shape else False", "tensor of shape (2, 2)"),
    ("return (mine - theirs).abs().max() + 0.5", "the number 0.5"),
    ("return math.nan", "the number nan"),
    ("return 10 ** 9000", "the number beyond"),
    ("return 'yes'", "a str"),
    ("return torch.zeros(1).expand(10 ** 12)", "tensor of shape (1000000000000,)"),
    ("return mine.view(7)", "stopped with an error"),
]


def test_an_error_on_every_case_is_told_once_at_its_line(jailed):
    verdict = jailed.check(TASKS["cmp"], "def cmp(mine, theirs):\n    return mine.nosuch\n", gate=False)

    assert (verdict.outcome, verdict.names, verdict.line) == ("error", (), 2)
    assert "stopped on every case" in verdict.message


def test_a_case_that_is_misjudged_is_shown_and_called_what_it_is(jailed):
    verdict = jailed.check(TASKS["cmp"], "def cmp(mine, theirs):\n    return True\n")

    wrong = [one for one in verdict.names if one.verdict == "wrong"]
    assert [one.name for one in wrong] == ["wrong case 1", "wrong case 2", "wrong case 3"]
    assert "mine = " in dict(wrong[0].facts)["The case"]


def test_a_mistake_accepted_for_every_right_case_is_told_first(jailed):
    solution = SOLUTION.replace("def cmp", "def right")
    code = f"{solution}\ndef cmp(mine, theirs):\n    return not right(mine, theirs)\n"

    verdict = jailed.check(TASKS["cmp"], code)

    codes = [one.code.rpartition(":")[2] for one in verdict.names if one.verdict == "wrong"]
    assert {*codes} >= {"accepted", "refused"}
    assert codes == sorted(codes, key=lambda code: code != "accepted")


@pytest.mark.parametrize(("body", "said"), NO_ANSWERS, ids=[one[0] for one in NO_ANSWERS])
def test_what_is_no_answer_is_said_to_be_none(jailed, body, said):
    verdict = jailed.check(TASKS["cmp"], f"def cmp(mine, theirs):\n    {body}\n", gate=False)

    first = next(one for one in verdict.names if one.verdict == "wrong")
    assert said in " ".join(one.message for one in verdict.names)
    assert first.word == "neither accepted nor refused"
    assert not verdict.passed


@pytest.mark.parametrize(
    "body", ["return 1 if ok else 0", "return torch.tensor(ok)", "return torch.tensor([float(ok)])"]
)
def test_a_truth_value_may_come_as_a_number_or_a_tensor(jailed, body):
    solution = SOLUTION.replace("def cmp", "def right")
    code = f"{solution}\ndef cmp(mine, theirs):\n    ok = right(mine, theirs)\n    {body}\n"

    assert jailed.check(TASKS["cmp"], code).passed


@pytest.mark.parametrize(
    ("code", "outcome", "said"),
    [
        ("def cmp(mine, theirs):\n    return ____\n", "graded", "blank"),
        ("", "graded", "Nothing called `cmp`"),
        ("cmp = 3\n", "graded", "`cmp` is a number and cannot be called"),
        ("def cmp(mine, theirs)\n    return True\n", "error", ""),
        ("x = 1 / 0\n", "error", "division by zero"),
        ("import os\n", "refused", "Nothing needs to be imported"),
        ("def cmp(mine, theirs):\n    while True:\n        pass\n", "timeout", "stopped after 1 s"),
        ("def cmp(mine, theirs):\n    return torch.zeros(10 ** 12).sum() == 0\n", "memory", "memory"),
    ],
)
def test_a_check_that_does_not_come_to_an_answer_says_why(jailed, code, outcome, said):
    verdict = jailed.check(TASKS["cmp"], code)

    told = " ".join([verdict.message, *(one.message for one in verdict.names)])
    assert (verdict.outcome, verdict.passed) == (outcome, False)
    assert said in told
    assert all(one.verdict == "not-yet" for one in verdict.names)


def test_what_the_jail_stops_is_denied_and_the_next_check_works(jailed):
    code = "def cmp(mine, theirs):\n    import socket\n    return socket.socket()\n"

    assert jailed.check(TASKS["cmp"], code, gate=False).outcome == "denied"
    assert jailed.check(TASKS["cmp"], SOLUTION).passed


def test_answers_that_are_forged_do_not_pass(jailed):
    code = (
        "import gc, json\n"
        "for one in gc.get_objects():\n"
        "    if type(one).__name__ == 'FrameWriter':\n"
        "        one.text('report', json.dumps({f'c{i}': {} for i in range(5)}))\n"
        "        for i in range(5):\n"
        "            one.tensor(f'c{i}/answer', torch.tensor(i < 2))\n"
        "def cmp(mine, theirs):\n    return True\n"
    )

    assert not any(jailed.check(TASKS["cmp"], code, gate=False).passed for _ in range(3))


def test_an_error_in_a_check_names_its_line(jailed):
    verdict = jailed.check(TASKS["cmp"], "def cmp(mine, theirs):\n    size = mine.max()\n    return mine.view(7)\n")

    assert verdict.names[0].line == 3


def test_a_case_that_does_not_run_is_the_authors_fault(jailed):
    verdict = jailed.check(TASKS["broken"], "def cmp(mine, theirs):\n    return True\n")

    assert verdict.outcome == "fault"
    assert "IndexError" in verdict.message


def test_neither_expected_answers_nor_the_authors_words_go_into_the_jail():
    class Watching:
        def run(self, job):
            sent.append(str(job.header))
            raise InterruptedError

    sent = []
    Engine(Watching(), None).check(TASKS["cmp"], SOLUTION)

    assert "linspace" in sent[0]
    for word in ("correct", "mistake", "accepts", "equal", "right"):
        assert word not in sent[0]


def test_what_the_first_misjudged_case_prints_is_shown(jailed):
    code = "print('top')\ndef cmp(mine, theirs):\n    print(tuple(mine.shape))\n    return True\n"

    assert jailed.check(TASKS["cmp"], code).printed == "top\n(12,)\n"


def test_a_run_of_a_check_tries_no_case(jailed):
    run = jailed.run(TASKS["cmp"], "def cmp(mine, theirs):\n    return True\nx = torch.ones(2)\nprint(cmp(x, x))\n")

    assert run.printed == "True\n"
    assert [(one.name, one.shape, one.text) for one in run.shown] == [
        ("cmp", (), "a function"),
        ("x", (2,), ""),  # its numbers are shown; torch prints what stands on a line of its own
    ]


def test_the_same_text_gets_the_same_verdict_in_any_order(jailed):
    code = "def cmp(mine, theirs):\n    return mine.shape == theirs.shape\n"

    first, *others = ([one.code for one in jailed.check(TASKS["cmp"], code).names] for _ in range(5))
    assert all(one == first for one in others)


# Bug hunts.


def hunted(jailed, code, line=None, name="bessel"):
    return jailed.check(TASKS[name], code if line is None else with_line(code, line))


def test_the_mended_line_and_its_number_pass(jailed):
    verdict = hunted(jailed, MENDED, 4)

    assert verdict.passed, verdict
    assert [(one.name, one.verdict) for one in verdict.names] == [
        ("line", "right"),
        ("dx", "right"),
        ("other lines", "right"),
    ]
    assert verdict.hidden_sizes == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (1, "Scale and shift know nothing of `n`."),
        (2, "Line 2 is right as it stands."),
        (7, "There is no line 7."),
        (None, "Mark the line"),
    ],
)
def test_nothing_is_said_of_a_wrong_result_before_the_line_is_found(jailed, line, said):
    verdict = hunted(jailed, MENDED.replace("dm / n", "dm / (n + 1)"), line)

    (only,) = verdict.names
    assert said in only.message
    assert not verdict.passed


@pytest.mark.parametrize(
    ("line", "before"), [(1, "Scale and shift know nothing of `n`."), (2, "Line 2 is right as it stands."), (None, "")]
)
def test_a_line_that_was_mended_and_not_marked_is_told_so(jailed, line, before):
    verdict = hunted(jailed, MENDED, line)

    *innocent, mended = verdict.names
    assert [one.key for one in innocent] == ["" if line == 1 else f"line:innocent:{line}"] * (line is not None)
    assert mended.message.startswith("What you changed cures it: line 4 was the wrong one. Mark that line")
    assert " ".join(one.message for one in innocent).startswith(before)
    assert len(innocent) == (line is not None)
    assert not verdict.passed


def test_a_line_that_took_the_place_of_the_program_is_told_so(jailed):
    verdict = hunted(jailed, MENDED.splitlines()[3], 4)

    assert [(one.name, one.verdict) for one in verdict.names] == [("line", "right"), ("mending", "not-yet")]
    assert verdict.names[1].message.startswith("The box holds a single line now, and the program had")


def test_the_given_code_gets_no_diagnosis(jailed):
    verdict = hunted(jailed, "# where is it?\n" + GIVEN, 4)

    assert [(one.name, one.verdict) for one in verdict.names] == [("line", "right"), ("mending", "not-yet")]


def test_a_declared_wrong_mend_hears_its_message(jailed):
    verdict = hunted(jailed, MENDED.replace("dm / n", "dm / (n - 1)"), 4)

    assert verdict.names[1].message == "The mean divides by n in both conventions."
    assert verdict.names[1].code == "dx:declared-1"


@pytest.mark.parametrize(
    ("code", "diagnosis", "said"),
    [
        (MENDED.replace("dy * g", "g * dy"), "changed", "Line 1 changed as well"),
        (MENDED.replace("dy * g", "g * dy").replace("(-du * r)", "-(du * r)"), "changed", "Lines 1 and 3"),
        ("q = 1\n" + MENDED, "added", "added or moved elsewhere"),
        (GIVEN.replace("dm = ", "dv = dv * n / (n - 1)\ndm = "), "made-up", "still stands as it was"),
        (GIVEN + MENDED.splitlines()[3] + "\n", "made-up", "still stands as it was"),
    ],
)
def test_a_right_result_with_other_changes_is_told_so_kindly(jailed, code, diagnosis, said):
    verdict = hunted(jailed, code, 4)

    assert [one.verdict for one in verdict.names] == ["right", "right", "wrong"]
    assert verdict.names[2].code == f"other lines:{diagnosis}"
    assert said in verdict.names[2].message
    assert not verdict.passed


CURED = GIVEN.replace(".sum(0, keepdim=True)\ndm", ".sum(0, keepdim=True) * n / (n - 1)\ndm")


@pytest.mark.parametrize("line", [2, 4])
def test_a_cure_at_another_line_is_accepted_with_the_wrong_line_named(jailed, line):
    verdict = hunted(jailed, CURED, line)

    assert verdict.passed
    assert [(one.name, one.verdict) for one in verdict.names] == [("line", "right-other-road"), ("dx", "right")]
    assert verdict.names[0].message.endswith("The line at which it went wrong is line 4.")
    assert verdict.names[0].word == "line 2 cures it too"


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (CURED, 1),
        (CURED, None),
        (CURED.replace("n - 1", "n - 2"), 2),
        (CURED + "dx = dx * 1\n", 2),
        (CURED.replace("dy * g", "g * dy"), 2),
        (CURED.replace("* n", "* dy @ n"), 2),
    ],
)
def test_what_is_no_cure_leaves_the_suspected_line_innocent(jailed, code, line):
    verdict = hunted(jailed, code, line)

    assert not verdict.passed
    assert (verdict.outcome, len(verdict.names)) == ("graded", 1)
    assert verdict.names[0].verdict in {"wrong", "not-yet"}


def test_spaces_comments_and_split_statements_are_no_other_change(jailed):
    lines = MENDED.splitlines()
    code = "\n\n".join(["# found it", *lines[:3], "spread = dv * 2 * (x - m) / (n-1)", "dx = du * r + spread + dm / n"])

    assert hunted(jailed, code, 4).passed


def test_a_lookup_is_mended_with_or_without_a_loop(jailed):
    loop = (
        "dC = torch.zeros_like(C)\nfor k in range(n):\n    for j in range(block):\n        dC[Xb[k, j]] += demb[k, j]\n"
    )

    assert hunted(jailed, LESSON.exercise("scatter").solution.source, 2, "scatter").passed
    assert hunted(jailed, loop, 2, "scatter").passed


@pytest.mark.parametrize(
    ("code", "outcome"), [("dx = (\n", "error"), ("dx = dx @ q\n", "error"), ("import os\n", "refused")]
)
def test_a_mend_that_does_not_run_says_so(jailed, code, outcome):
    verdict = hunted(jailed, code, 4)

    assert verdict.outcome == outcome
    assert verdict.message
    assert verdict.names[0].verdict == "right"
    assert not verdict.passed


def test_a_hunt_runs_without_a_verdict(jailed):
    run = jailed.run(TASKS["bessel"], GIVEN)

    assert [one.name for one in run.shown] == ["du", "dv", "dm", "dx"]
