"""One exercise asked in several ways: every way is a fragment that `check` proves."""

import asyncio
import html
import re
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from app.check.bounded_grader import RetryingGrader
from app.check.mutants import mutants_of
from app.content.blocks import Bug, Grad, Prose, Reveal, Sheet
from app.course.prove import prove_lessons
from app.engine.json_columns import to_json_column
from app.grading.judge.verdict import NameVerdict, Verdict
from app.kinds.axes.block import AxesQuestion
from app.kinds.choice.block import ChoiceQuestion
from app.kinds.order.block import OrderQuestion
from app.kinds.shape.block import ShapeQuestion
from app.practice import forms
from app.practice.derived_hints import ADDED, faults_met, principle
from app.practice.draw import generate_item, named_items
from app.practice.item import JUDGED, GeneratedItem
from app.practice.item_lessons import PracticeItems, asks_for, render_form
from app.practice.operations import OPERATIONS
from app.practice.pool import columns_of
from app.practice.proof import curated_items
from app.practice.sessions import _choose
from app.store.cards import Candidate
from app.store.tables import Attempt, PracticeItem
from tests.graders import SharedGraders

THEN = datetime(2026, 3, 2, tzinfo=UTC)
ITEMS = [generate_item(1, 5), generate_item(2, 4, "mean"), generate_item(2, 9, "overwritten")]


def hunts(item: GeneratedItem) -> list[str]:
    found = (forms.bug_hunt(item, one) for one in mutants_of(item.solution, frozenset(item.require)))
    return [one for one in found if one]


def chosen(item: GeneratedItem) -> list[str]:
    found = (
        forms.which_of_two(item, mutant, "A slip.") for mutant in mutants_of(item.solution, frozenset(item.require))
    )
    return [text for text in found if text]


def one_open(item: GeneratedItem, line: int) -> str:
    return forms.completion_exercise(item, range(line, line + 1), line)


def three_open(item: GeneratedItem, line: int) -> str:
    return forms.completion_exercise(item, forms.lines_around(item, line, 3), line)


def asked(item: GeneratedItem) -> list[str]:
    every = [
        item.fragment,
        forms.worked_form(item),
        one_open(item, item.key),
        *([three_open(item, item.key)] if len(item.lines) > 3 else []),
        forms.shapes_and_axes(item),
        forms.order_form(item),
    ]
    return [one for one in every if one] + hunts(item)[::7] + chosen(item)[::7]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_every_form_passes_check(item: GeneratedItem, graders: SharedGraders) -> None:
    lessons = [item.lesson_of(one) for one in asked(item)]

    assert asyncio.run(prove_lessons(lessons, RetryingGrader(graders), mutate=False)) == ()


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_who_works_backward_is_told_what_arrives(item: GeneratedItem) -> None:
    backward = [item.fragment, one_open(item, item.key), forms.order_form(item) or "", *hunts(item)[:1]]

    assert all(f"`d{item.program.output}` is given." in one for one in backward if one)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_every_line_can_be_the_open_one_and_the_others_are_given(item: GeneratedItem) -> None:
    for at, line in enumerate(item.lines):
        box = item.lesson_of(one_open(item, at)).exercises[0]

        assert isinstance(box, Grad)
        given = box.starter.source.splitlines()
        assert [one for one, other in zip(given, item.lines, strict=True) if one != other] == [given[at]]
        assert given[at].endswith("= ____")
        assert line not in given


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_a_hunt_knows_the_line_that_was_changed(item: GeneratedItem) -> None:
    for fragment in hunts(item):
        bug = item.lesson_of(fragment).exercises[0]

        assert isinstance(bug, Bug)
        given = bug.starter.source.splitlines()
        assert given[bug.line - 1] != item.lines[bug.line - 1]
        assert bug.solution.source == item.solution


def test_an_update_that_was_left_out_is_no_line_to_be_found() -> None:
    item = ITEMS[2]
    assert item.wanted == "overwritten"
    left_out = [one for one in mutants_of(item.solution, frozenset(item.require)) if one.edit == "left out an update"]

    assert left_out
    assert [forms.bug_hunt(item, one) for one in left_out] == [None] * len(left_out)


@pytest.mark.parametrize("item", ITEMS[1:], ids=lambda item: item.name)
def test_sums_are_asked_for_where_a_broadcast_is_undone_and_nowhere_else(item: GeneratedItem) -> None:
    sheet = next(one for one in item.lesson_of(forms.shapes_and_axes(item)).blocks if isinstance(one, Sheet))
    asked = [one for one in sheet.rows if isinstance(one, AxesQuestion)]

    assert all(item.shapes[one.of[1:]] != item.shapes[one.source[1:]] for one in asked)
    assert asked or not any(".sum(" in line and "+=" not in line for line in item.lines)


def test_of_a_tensor_that_is_read_twice_no_sum_is_asked_for() -> None:
    twice = [
        item for item in curated_items(2)[:60] if re.search(r"(d\w+) = \w+\.sum\(.*\n(.*\n)*\1 \+=", item.solution)
    ]
    assert twice

    for item in twice:
        added = {line.split()[0] for line in item.lines if "+=" in line}
        sheet = next(one for one in item.lesson_of(forms.shapes_and_axes(item)).blocks if isinstance(one, Sheet))
        assert not added & {one.of for one in sheet.rows if isinstance(one, AxesQuestion)}


def test_questions_on_a_program_have_a_hint_and_say_how_to_answer() -> None:
    item = ITEMS[1]
    sheet = next(one for one in item.lesson_of(forms.shapes_and_axes(item)).blocks if isinstance(one, Sheet))
    questions = [*sheet.rows, item.lesson_of(chosen(item)[0]).exercises[0]]
    order = item.lesson_of(forms.order_form(item) or "").exercises[0]

    assert all(one.hints for one in (*questions, order))
    assert f"{item.shapes[item.program.inputs[0].name]}</code>, or <code" in str(sheet.prompt)


@pytest.mark.parametrize("item", [*ITEMS, *curated_items(3)[:20]], ids=lambda item: item.name)
def test_no_shape_that_is_asked_for_stands_on_the_page(item: GeneratedItem) -> None:
    sheet = next(one for one in item.lesson_of(forms.shapes_and_axes(item)).blocks if isinstance(one, Sheet))
    asked = [row.of for row in sheet.rows if isinstance(row, ShapeQuestion) and row.of]

    assert asked
    assert not {f"d{one.name}" for one in item.program.inputs} & {*asked}
    assert all(f"<code>{name}</code> is" not in str(sheet.prompt) for name in asked)
    shapes = [item.shapes[name[1:]] for name in asked]
    assert len({*shapes}) == len(shapes) or (len({*shapes}), len(shapes)) == (1, 2)


def test_shapes_without_a_sum_are_not_called_shapes_and_sums() -> None:
    titles = {}
    for item in curated_items(1)[:12]:
        fragment = forms.shapes_and_axes(item)
        row = PracticeItem(**columns_of(item) | {"id": 1, "form": "shapes", "fragment": fragment})
        lesson = PracticeItems().lesson(row)
        assert lesson is not None
        titles[any(isinstance(one, AxesQuestion) for one in lesson.exercises)] = lesson.title

    assert titles == {True: "Shapes and sums", False: "Shapes"}


def test_where_sums_are_asked_for_a_program_with_one_is_chosen() -> None:
    plain, summed = Candidate(1, frozenset({"matmul"}), 5.0, named=True), Candidate(2, frozenset({"bias"}), 5.0)

    assert {_choose([plain, summed], "shapes").id for _ in range(20)} == {2}
    assert _choose([plain], "shapes").id == 1


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("item", [*ITEMS, *named_items(3)], ids=lambda item: item.name)
def test_the_hint_of_two_lines_says_what_is_undone_and_not_the_rule_below(item: GeneratedItem) -> None:
    for fragment in chosen(item):
        lesson = item.lesson_of(fragment)
        (hint,) = lesson.exercises[0].hints
        (rule,) = (block for block in lesson.blocks if isinstance(block, Reveal))
        text = html.unescape(re.sub("<[^>]*>", "", str(hint.html)))

        assert str(hint.html) not in "".join(str(block.html) for block in rule.blocks if isinstance(block, Prose))
        to, line = re.findall("The missing line is about (\\w+) in (.*?)\\. There", text)[0]
        assert line in item.program.source.splitlines()
        assert re.search(rf"\b{to}\b", line.partition("=")[2])
        given = fragment.partition("```python")[2].partition("```")[0]
        assert next(one for one in item.lines if one not in given).startswith(f"d{to} ")


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_an_example_asks_for_one_principle_among_others(item: GeneratedItem) -> None:
    question = item.lesson_of(forms.worked_form(item)).exercises[0]

    assert isinstance(question, ChoiceQuestion)
    assert [one.right for one in question.options].count(True) == 1
    assert len({str(one.html) for one in question.options}) == forms.OPTIONS


def sentences(principle: str) -> set[str]:
    return {sentence.strip(" .").partition(":")[0] for sentence in principle.split(". ")}


@pytest.mark.parametrize("level", [1, 2, 3])
def test_no_wrong_option_of_an_example_is_true_of_its_program(level: int) -> None:
    for item in [*(generate_item(level, seed) for seed in range(1, 40)), *curated_items(level)]:
        options = forms.worked_form(item).partition("- [")[2].split("\n- [")
        (right,) = (option[3:] for option in options if option.startswith("x"))
        wrong = [option[3:].partition("\n")[0] for option in options if not option.startswith("x")]
        used = sentences(right.partition("\n")[0]).union(*(sentences(principle("", name)) for name in item.by))

        assert len(wrong) == forms.OPTIONS - 1
        assert not [option for option in wrong if sentences(option) & used]


def test_no_option_of_an_example_takes_a_sum_and_a_summed_entry_apart() -> None:
    added = [item for item in curated_items(2) if {"add", "sum"} & {*item.by}]
    told = {name: principle("", name) for name in ("add", "sum")}

    assert added
    for item in added:
        wrong = forms.worked_form(item).split("- [ ] ")[1:]
        assert not [option for option in wrong if option.startswith(tuple(told.values()))]


def test_no_option_of_an_example_says_that_a_share_is_added() -> None:
    keyed = [item for item in curated_items(2) if "+=" in item.lines[item.key]]
    assert keyed

    assert not [item for item in keyed if ADDED in forms.worked_form(item).partition("- [")[2].partition("Line by")[0]]


def test_lines_are_put_in_order_from_another_one() -> None:
    fragment = forms.order_form(ITEMS[1])

    assert fragment
    question = ITEMS[1].lesson_of(fragment).exercises[0]
    assert isinstance(question, OrderQuestion)
    assert question.lines == ITEMS[1].lines
    assert question.shown != tuple(range(len(question.lines)))


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_a_box_says_how_its_lines_are_judged(item: GeneratedItem) -> None:
    assert all(JUDGED in one for one in (item.fragment, one_open(item, item.key)))


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_of_two_lines_one_is_of_the_solution_and_the_other_is_not(item: GeneratedItem) -> None:
    for fragment in chosen(item):
        question = item.lesson_of(fragment).exercises[0]

        assert isinstance(question, ChoiceQuestion)
        (right,) = (str(option.html) for option in question.options if option.right)
        (wrong,) = (str(option.html) for option in question.options if not option.right)
        texts = [html.unescape(re.sub("<[^>]*>", "", text)).strip() for text in (right, wrong)]
        assert texts[0] in item.lines
        assert texts[1] not in item.lines
        assert texts[0] not in fragment.partition("```python")[2].partition("```")[0]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_three_lines_are_open_with_the_wanted_one_and_the_rest_is_given(item: GeneratedItem) -> None:
    for at in range(len(item.lines)) if len(item.lines) > 3 else ():
        box = item.lesson_of(three_open(item, at)).exercises[0]

        assert isinstance(box, Grad)
        given = box.starter.source.splitlines()
        left_open = [rank for rank, (line, other) in enumerate(zip(given, item.lines, strict=True)) if line != other]
        assert len(left_open) == 3
        assert at in left_open
        assert [given[rank].endswith("= ____") for rank in left_open] == [True] * 3
        assert "Three lines are left open." in str(box.prompt)


def test_an_exercise_here_has_more_than_three_lines() -> None:
    assert any(len(item.lines) > 3 for item in ITEMS)


def asks(item: GeneratedItem, form: str, at: str, family: str, slip: str) -> bool:
    """Whether *slip* can be made at *item*, as it is rendered in *form* for another reason: for *at*."""
    own_form, fragment = render_form(item, form, *at.split("/")) or ("write", item.fragment)
    row = PracticeItem(**columns_of(item) | {"id": 1, "form": own_form, "fragment": fragment})
    lesson = PracticeItems().lesson(row)
    assert lesson is not None
    return asks_for(row, lesson, family, slip)


def test_a_line_that_can_show_the_slip_of_a_card_is_open_where_there_is_one():
    items = [item for item in curated_items(3) if "softmax" in item.operations and len(set(item.by)) > 3]
    assert len(items) > 3
    assert all(asks(item, "write", "softmax/average-missing", "softmax", "average-missing") for item in items)


def test_lines_that_cannot_show_a_slip_do_not_ask_for_it():
    (silu,) = (item for item in named_items(2) if item.operations == ("sigmoid", "mul"))

    assert asks(silu, "fade", "activation/half-rule", "activation", "half-rule")
    assert asks(silu, "fade", "activation/", "activation", "unheard-of")
    assert not asks(silu, "fade", "activation/", "norm", "factor")
    assert not asks(silu, "fade", "activation/", "activation", "square-missing")


@pytest.mark.parametrize("count", [3, pytest.param(9, marks=pytest.mark.prove)])
def test_a_hunt_asks_for_the_slip_that_is_planted_and_no_other(count: int) -> None:
    drawn = (item for item in curated_items(2) if render_form(item, "bug", "broadcast", "mean"))
    items = [*islice(drawn, count)]
    planted = [item for item in items if asks(item, "bug", "broadcast/mean", "broadcast", "mean")]

    assert len(planted) > count // 3
    assert not any(asks(item, "bug", "broadcast/mean", "broadcast", "wrong-axis") for item in planted)
    assert not any(asks(item, "bug", "broadcast/", "fork", "overwritten") for item in items)


def test_hints_after_a_wrong_line_are_about_a_line_that_is_open():
    # Of this program one gradient has two lines, the first of which is given.
    (silu,) = (item for item in named_items(2) if item.operations == ("sigmoid", "mul"))
    asked = render_form(silu, "fade", "activation", "")
    assert asked is not None
    row = PracticeItem(**columns_of(silu) | {"id": 1, "form": asked[0], "fragment": asked[1]})
    line = int(asked[0].partition("-")[2])
    name = silu.lines[line].split()[0]
    assert [text.split()[0] for text in silu.lines].index(name) < line

    lesson = PracticeItems().lesson(row, [f"{name}:unrecognised"])

    assert lesson is not None
    assert [hint.html for hint in lesson.exercises[0].hints] == [hint.html for hint in silu.hints_at(line)]


def three_missing() -> tuple[GeneratedItem, PracticeItem, list[str]]:
    """Item, its row with three lines open, and what these write: three gradients."""
    for item in curated_items(2):
        form, fragment = render_form(item, "write", OPERATIONS[item.by[-1]].family, "") or ("", "")
        if form.startswith("write-"):
            first = int(form.partition("-")[2])
            names = [line.split()[0] for line in item.lines[first : first + 3]]
            rules = {principle(*each) for each in zip(item.lines[first:], item.by[first:], strict=True)}
            if first and len({*names, item.lines[first - 1].split()[0]}) == 4 and len(rules) == 3:
                return item, PracticeItem(**columns_of(item) | {"id": 1, "form": form, "fragment": fragment}), names
    raise AssertionError("no such item")


def test_hints_follow_the_first_line_not_right_yet_and_open_ones_stay():
    item, row, names = three_missing()
    first = int(row.form.partition("-")[2])
    ladders = [item.hints_at(first + at) for at in range(3)]

    def hints(*faults: str) -> tuple[str, ...]:
        lesson = PracticeItems().lesson(row, faults)
        assert lesson is not None
        return tuple(str(hint.html) for hint in lesson.exercises[0].hints)

    told = [tuple(str(hint.html) for hint in ladder) for ladder in ladders]
    assert hints("") == told[0]
    assert hints("", f"{names[1]}:sign") == (told[0][0], *told[1])
    assert hints(*[""] * 3, f"{names[0]}:mean", f"{names[2]}:") == (*told[0], *told[2])
    assert hints(f"{names[1]}:", f"{names[0]}:", f"{names[1]}:") == (told[1][0], told[0][0], *told[1][1:])


def test_hints_for_another_line_by_the_same_rule_do_not_tell_it_again():
    item = generate_item(1, 102, within=("matmul",))
    form, fragment = render_form(item, "write", "matmul", "") or ("", "")
    row = PracticeItem(**columns_of(item) | {"id": 1, "form": form, "fragment": fragment})
    first, second = (line.split()[0] for line in item.lines[:2])
    lesson = PracticeItems().lesson(row, [f"{first}:", f"{second}:"])

    assert lesson is not None
    hints = [str(hint.html) for hint in lesson.exercises[0].hints]
    assert hints == [str(hint.html) for hint in (item.hints_at(0)[0], *item.hints_at(1)[1:])]


def test_a_hint_belongs_to_what_the_last_check_before_it_found():
    def check(at: int, *names: tuple[str, str]) -> Attempt:
        rows = tuple(NameVerdict(name=name, verdict=standing, code=None) for name, standing in names)
        verdict = to_json_column(Verdict(outcome="graded", names=rows))
        return Attempt(created_at=THEN + timedelta(minutes=at), verdict_json=verdict, code=None)

    checks = [
        check(1, ("dp", "wrong"), ("dX", "follows")),
        check(3, ("dp", "right"), ("dX", "not-yet")),
        check(4),  # it stopped: nothing was judged
        check(6, ("dp", "right"), ("dX", "right")),
    ]

    assert faults_met([], []) == ("",)
    opened = [THEN + timedelta(minutes=at) for at in (0, 2, 5)]
    assert faults_met(checks, opened) == ("", "dp:", "dX:", "dX:")
