"""What is wrong with a line that is to be found, or stands beside the right one."""

import asyncio
import re
from collections import Counter

import pytest

from app.check.mutants import mutants_of
from app.content.blocks import Bug
from app.kinds.choice.block import ChoiceQuestion
from app.practice.item import GeneratedItem
from app.practice.operations import OPERATIONS
from app.practice.planted import AVERAGED, OTHER_GRADIENT, SIGNS, TOLD, _misread, chosen, hunted, told
from app.practice.proof import curated_items, wrong_lines
from tests.graders import SharedGraders

ITEMS = [*curated_items(1)[:12], *curated_items(2)[:12], *curated_items(3)[:6]]


def family_of(item: GeneratedItem) -> str:
    return OPERATIONS[item.by[item.key]].family


@pytest.mark.parametrize("planted", [hunted, chosen])
def test_one_kind_of_slip_is_planted_as_often_as_another(planted) -> None:
    kinds = Counter(found[0] for item in ITEMS if (found := planted(item, family_of(item), "")))

    assert len(kinds) >= 8
    assert kinds["sign"] < len(ITEMS) / 3


@pytest.mark.parametrize("planted", [hunted, chosen])
def test_a_kind_of_slip_is_not_planted_twice_in_a_row(planted) -> None:
    for item in ITEMS:
        first = planted(item, family_of(item), "")
        assert first is not None
        again = planted(item, family_of(item), "", avoided=first[0])
        assert again is not None
        assert again[0] != first[0]


def test_a_slip_is_planted_in_a_line_of_the_family_of_its_card() -> None:
    items = [*curated_items(2), *curated_items(3)[:40]]
    mixed = [item for item in items if {"broadcast", "reduction"} <= {OPERATIONS[by].family for by in item.by}]
    planted = [(item, found[1]) for item in mixed if (found := hunted(item, "broadcast", "mean"))]
    assert len(planted) > 5

    for item, fragment in planted:
        bug = item.lesson_of(fragment).exercises[0]
        assert isinstance(bug, Bug)
        assert OPERATIONS[item.by[bug.line - 1]].family == "broadcast"


def test_who_chose_the_wrong_line_reads_what_is_wrong_with_it() -> None:
    planted = [(item, *(chosen(item, family_of(item), "sign") or ("", ""))) for item in ITEMS]
    signs = [(item, fragment) for item, kind, fragment in planted if kind == "sign"]
    assert len(signs) > len(ITEMS) / 2

    for item, fragment in signs:
        question = item.lesson_of(fragment).exercises[0]
        assert isinstance(question, ChoiceQuestion)
        (wrong,) = (option for option in question.options if not option.right)

        assert "sign" in str(wrong.feedback) or "subtracted" in str(wrong.feedback)


def test_every_edit_of_a_line_has_a_sentence_of_its_own() -> None:
    edits = {mutant.edit for item in ITEMS for mutant in mutants_of(item.solution, frozenset(item.require))}

    assert edits - {"left out an update"} <= TOLD.keys()
    assert set(SIGNS) <= TOLD.keys()


def test_a_slip_of_an_operation_is_told_in_the_words_of_its_card() -> None:
    assert {told(mutant) for item in ITEMS for mutant in wrong_lines(item) if mutant.edit == "minus-missing"} == {
        "The slip in that line: a minus left out."
    }


def test_a_line_that_reads_another_gradient_is_told_which() -> None:
    planted = [mutant for item in ITEMS for mutant in _misread(item) if mutant.edit.startswith(OTHER_GRADIENT)]
    assert planted

    for mutant in planted:
        read = mutant.edit.rpartition(" ")[2]
        assert told(mutant) == f"This line reads `{read}`, the gradient of another tensor."
        assert re.search(rf"= .*\b{read}\b", mutant.code.splitlines()[mutant.line - 1])


@pytest.mark.in_turn(turns=2)
@pytest.mark.parametrize("edit", [OTHER_GRADIENT, AVERAGED])
def test_a_line_that_was_misread_is_refused(graders: SharedGraders, edit: str) -> None:
    planted = [(item, mutant) for item in ITEMS for mutant in _misread(item) if mutant.edit.startswith(edit)][::5]
    assert len(planted) > 5

    for item, mutant in planted:
        assert not asyncio.run(graders.check(item.task, mutant.code)).passed, mutant.code
