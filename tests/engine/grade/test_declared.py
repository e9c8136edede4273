"""A mistake that the author declared is recognised by its tensor, however it is written."""

from markupsafe import Markup

from app.content.blocks import Code, DeclaredMistake
from tests.grading.boxes.load import PLACE, Box, make_forward

LINEAR = Box(
    "linear",
    make_forward("linear", "N: 6, D: 4, H: 3", "X: [N, D]; W: [D, H]; b: [H]", "Y", "Y = X @ W + b\n"),
    ("dX", "dW", "db"),
    "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n",
)


def mistake(message, source):
    return DeclaredMistake(
        place=PLACE, message=message, html=Markup(message), code=Code(place=PLACE, source=source, line=1)
    )


MISTAKES = (
    mistake("Sum the rows.", "db = dY.mean(0)"),
    mistake("Inner sizes.", "dW = X @ dY"),
    mistake("Twice.", "dW = 2 * X.T @ dY"),
)


def check(engine, line, replacement):
    lines = LINEAR.solution.splitlines()
    lines[line - 1] = replacement
    return engine.check(LINEAR.task(mistakes=MISTAKES), "\n".join(lines))


def test_the_authors_message_is_given_for_the_same_tensor(engine):
    verdict = check(engine, 3, "db = torch.ones(N) @ dY / N")

    assert (verdict.names[2].code, verdict.names[2].message) == ("db:declared-1", "Sum the rows.")


def test_a_second_mistake_is_told_apart(engine):
    verdict = check(engine, 2, "dW = X.T @ dY + X.T @ dY")

    assert (verdict.names[1].code, verdict.names[1].message) == ("dW:declared-3", "Twice.")


def test_a_declared_mistake_that_raises_is_recognised_by_its_error(engine):
    verdict = check(engine, 2, "dW = X @ dY")

    assert (verdict.outcome, verdict.line, verdict.message) == ("error", 2, "Inner sizes.")


def test_a_line_that_keeps_nothing_is_told_before_the_authors_message(engine):
    verdict = check(engine, 2, "dW = 2 * X.T @ dY\ndW / 2")

    assert verdict.names[1].message == "Line 3, `dW / 2`, changes nothing: what it gives is kept under no name. Twice."


def test_a_rounded_division_is_told_before_the_authors_message(engine):
    lost = mistake("A half is lost.", "dx = dy * x * 0")
    half = Box("half", make_forward("half", "N: 6", "x: [N]", "y", "y = x / 2"), ("dx",), "dx = dy / 2")

    verdict = engine.check(half.task(mistakes=(lost,)), "dx = dy * (1 // 2)")

    assert verdict.names[0].code == "dx:floored", verdict.names[0].message


def test_another_mistake_keeps_its_own_diagnosis(engine):
    verdict = check(engine, 3, "db = -dY.sum(0)")

    assert verdict.names[2].code == "db:sign"


def test_a_right_submission_runs_no_mistake(engine):
    verdict = engine.check(LINEAR.task(mistakes=MISTAKES), LINEAR.solution)

    assert verdict.passed
    assert all(one.code is None for one in verdict.names)
