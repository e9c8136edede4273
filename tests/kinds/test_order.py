"""Orders of lines: what counts as right is what runs and gives the same numbers; what does not is told its line."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.content.blocks import NamedStep, SourceLocation
from app.content.directives.named_steps import stretch_of_lines
from app.content.program.dependence import drawn_order, needs_of, shuffled, sources_of
from app.kinds.order.block import OrderQuestion
from app.kinds.order.mark import as_values, places_in
from app.kinds.registry import mark_quiz

DIAMOND = """dd = c
dc = d
dc += dd
da = dc * b
da += dd
db = dc * a
"""


def asked(source: str) -> OrderQuestion:
    lines = sources_of(source)
    shown = shuffled(needs_of(lines), "seed")
    assert shown is not None
    return OrderQuestion(place=SourceLocation("a.md", 1), name="q", lines=lines, shown=shown)


def test_a_line_too_early_is_named_with_its_step():
    quiz = replace(asked("dh = dy\ndx = dh * h"), stretches=("the gain", "the spread"))

    message = str(answered(quiz, "dx = dh * h", "dh = dy").message.striptags())

    assert message.startswith("Line 1 (the spread) comes too early.")


def test_a_line_that_prepares_is_part_of_the_next_step_with_a_name():
    steps = (NamedStep("layer 2", ("dh", "dW")), NamedStep("layer 1", ("dx",)))
    lines = ("dh = dy @ W.T", "k = h.T", "dW = k @ dy", "dh += 0", "z = dh * 2", "dx = z", "print(dx)")

    assert stretch_of_lines(steps, lines) == (*["layer 2"] * 4, *["layer 1"] * 2, "")


def answered(quiz: OrderQuestion, *lines: str):
    return mark_quiz(quiz, as_values(quiz, [quiz.lines.index(line) for line in lines]), {})


def said(source: str, *lines: str) -> str:
    feedback = answered(asked(source), *lines)
    assert feedback.correct is False
    return str(feedback.message.striptags())


@st.composite
def programs(draw):
    """Straight lines over `x0`, `x1`, …: each name is made, and perhaps paid into, before anything reads it."""
    names, lines = ["k"], []
    for number in range(draw(st.integers(2, 4))):
        name, factors = f"x{number}", st.floats(1.1, 1.9)
        lines.append(f"{name} = {draw(factors)!r} * {draw(st.sampled_from(names))}")
        shares = draw(st.lists(st.tuples(factors, st.sampled_from(names)), max_size=2, unique_by=lambda one: one[0]))
        lines += [f"{name} += {factor!r} * {read}" for factor, read in shares]
        if draw(st.booleans()):
            lines.append(f"{name} = {name} / 3.7")
        names.append(name)
    return "\n".join(lines)


def outcome(lines):
    scope = {"k": 1.2345}
    try:
        exec("\n".join(lines), scope)
    except NameError:
        return None
    return {name: pytest.approx(value, rel=1e-9) for name, value in scope.items() if name[0] in "kx"}


@given(programs(), st.randoms(use_true_random=False))
def test_an_order_is_right_exactly_if_it_runs_and_gives_the_same(source, draw):
    lines = list(sources_of(source))
    needs = needs_of(lines)
    wanted = outcome(lines)
    order = list(range(len(lines)))
    for _ in range(20):
        draw.shuffle(order)
        tried = [drawn_order(needs, str(draw.random())), order]
        for one in tried:
            quiz = OrderQuestion(
                place=SourceLocation("a.md", 1), name="q", lines=tuple(lines), shown=tuple(range(len(lines)))
            )
            right = mark_quiz(quiz, as_values(quiz, one), {}).correct

            assert right is (outcome([lines[line] for line in one]) == wanted)


def test_every_topological_order_of_a_diamond_passes_and_no_other():
    quiz = asked(DIAMOND)

    passing = [
        order
        for order in itertools.permutations(range(6))
        if mark_quiz(quiz, as_values(quiz, order), {}).correct is True
    ]

    assert (0, 1, 2, 3, 4, 5) in passing
    assert (1, 0, 2, 5, 3, 4) in passing
    assert all(order.index(3) > order.index(2) and order.index(4) > order.index(3) for order in passing)
    assert len(passing) == 6


def test_the_first_line_that_reads_an_unfinished_gradient_is_named():
    told = said(DIAMOND, "dc = d", "da = dc * b", "dd = c", "dc += dd", "da += dd", "db = dc * a")

    assert told == (
        "Line 2 comes too early. da = dc * b reads dc before it is finished: dc += dd still has a share to pay in."
    )


@pytest.mark.parametrize(
    ("source", "lines", "why"),
    [
        ("a = k\nb = a", ("b = a", "a = k"), "b = a reads a, and no line has written it yet."),
        ("a = k\na *= 2", ("a *= 2", "a = k"), "a *= 2 changes a, and a = k has to come before."),
        ("a = k\na[0] = 2", ("a[0] = 2", "a = k"), "a[0] = 2 changes a, and a = k has to come before."),
        ("a = k\na += 1", ("a += 1", "a = k"), "a += 1 changes a, and a = k has to come before."),
        ("a = k\nb = a\na = 2", ("a = 2", "a = k", "b = a"), "a = 2 changes a, and a = k has to come before."),
    ],
)
def test_why_the_first_line_comes_too_early(source, lines, why):
    assert said(source, *lines) == f"Line 1 comes too early. {why}"


def test_a_line_that_writes_anew_waits_for_those_that_read():
    told = said("a = k\nb = a\na *= 2", "a = k", "a *= 2", "b = a")

    assert told == "Line 2 comes too early. a *= 2 writes a again, and b = a still has to read it."


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([], "6 lines have no place yet"),
        (["1", "1", "2", "2", "3", "3", "4", "4", "5", "5", "6", ""], "1 line has no place yet"),
        (["1", "1", "2", "1", "3", "3", "4", "4", "5", "5", "6", "6"], "More than one line has the place 1"),
        (["1", "one"], "6 lines have no place yet"),
    ],
)
def test_places_that_are_missing_or_twice_are_neither_right_nor_wrong(values, why):
    feedback = mark_quiz(asked(DIAMOND), values, {})

    assert feedback.correct is None
    assert why in feedback.message


@given(st.lists(st.text(max_size=4), max_size=20))
def test_any_texts_are_an_answer(values):
    assert mark_quiz(asked(DIAMOND), values, {}).message


@pytest.mark.parametrize("seed", range(8))
def test_the_page_never_shows_an_order_that_is_right(seed):
    needs = needs_of(sources_of(DIAMOND))

    shown = shuffled(needs, str(seed))

    assert shown is not None
    assert (
        answered(OrderQuestion(place=SourceLocation("a", 1), name="q", lines=sources_of(DIAMOND), shown=shown))
        is not None
    )
    assert any(shown.index(need.before) > shown.index(line) for line, several in enumerate(needs) for need in several)


def test_places_may_leave_gaps():
    quiz = asked(DIAMOND)
    values = as_values(quiz, range(6))
    values[1::2] = [str(int(place) * 10) for place in values[1::2]]

    assert mark_quiz(quiz, values, {}).correct


def test_shares_may_be_paid_in_in_any_order():
    first, second = "dC.index_add_(0, ix, u)", "dC.index_add_(0, iy, v)"
    quiz = asked(f"dC = zeros\n{first}\n{second}\ny = dC")

    assert answered(quiz, "dC = zeros", second, first, "y = dC").correct


@pytest.mark.parametrize("place", ["1000", "-1", "1.0", "x", ""])
def test_what_is_no_place_is_none(place):
    quiz = OrderQuestion(
        place=SourceLocation("a.md", 1),
        name="q",
        lines=sources_of(DIAMOND),
        shown=tuple(range(len(sources_of(DIAMOND)))),
    )

    assert places_in(quiz, ["1", place, "2", "999"]) == {1: 999}
