"""Signs that an exercise needs its author: planted faults come out on top, and each sign has its threshold."""

import random
from dataclasses import replace

import pytest

from app.insight.item_counts import HintCounts, ItemCounts, MistakeCounts, NextTries, count_items
from app.insight.needs import SIGNS, Judged, needs_of
from app.insight.people import meetings_of
from tests.insight.simulated import EXERCISES, LESSONS, Fault, simulated

FAULTS: tuple[Fault, ...] = ("false key", "misleading hint", "twice as hard")


def ranked(seed: int, faults: dict[int, Fault]) -> list[int]:
    """Places of a simulated class, the neediest first."""
    histories = simulated(seed, faults)
    items = count_items(histories, meetings_of(histories))
    weights = {}
    for item in items:
        lesson = [other for other in items if other.place // EXERCISES == item.place // EXERCISES]
        judged = Judged(item=item, lesson=lesson, unrecognised=0, by_answer=True)
        weights[item.place] = sum(need.weight for need in needs_of(judged))
    return sorted(weights, key=lambda place: -weights[place])


def planted(seed: int) -> dict[int, Fault]:
    draw = random.Random(seed)
    lessons = draw.sample(range(LESSONS), len(FAULTS))
    return {
        lesson * EXERCISES + draw.randrange(EXERCISES): fault for lesson, fault in zip(lessons, FAULTS, strict=True)
    }


def test_nine_of_ten_planted_faults_come_out_on_top() -> None:
    on_top: dict[Fault, int] = dict.fromkeys(FAULTS, 0)
    for seed in range(10):
        faults = planted(seed)
        top = ranked(seed, faults)[: len(faults)]
        for place, fault in faults.items():
            on_top[fault] += place in top

    assert sum(on_top.values()) >= 27, on_top


ITEM = ItemCounts(
    place=0, edition=0, seen=120, tried=100, right=95, first=70, in_few=90, after_hint=5, after_solution=2, left=1,
    tries=150, wrong=55, median_tries=1.0, most_tries=3.0, work_minutes=2.0, start_minutes=1.0, discrimination=0.4,
    compared=100, unhelped=NextTries(tries=40, left=35, right=25),
    hints=(HintCounts(number=1, people=15, after=NextTries(tries=15, right=9)),),
    mistakes=(MistakeCounts(mistake=0, people=25, tries=40, after=NextTries(tries=30, left=25, right=15)),),
)  # fmt: skip
LESSON = [replace(ITEM, place=place) for place in range(1, 4)]


def signs(item: ItemCounts, *, unrecognised: int = 0, by_answer: bool = True) -> set[str]:
    judged = Judged(item=item, lesson=[item, *LESSON], unrecognised=unrecognised, by_answer=by_answer)
    return {need.sign for need in needs_of(judged)}


def test_an_exercise_that_does_its_work_has_no_sign() -> None:
    assert signs(ITEM) == set()


@pytest.mark.parametrize(
    ("sign", "change", "not_yet"),
    [
        ("discrimination", {"discrimination": 0.09}, {"discrimination": 0.09, "compared": 29}),
        ("few-right", {"in_few": 49}, {"in_few": 50}),
        ("hard", {"first": 42}, {"first": 44}),
        ("left", {"left": 5}, {"left": 3}),
        ("no-work", {"first": 98}, {"first": 97}),
        (
            "hint",
            {"hints": (HintCounts(number=1, people=15, after=NextTries(tries=15, right=4)),)},
            {"hints": (HintCounts(number=1, people=15, after=NextTries(tries=15, right=5)),)},
        ),
        (
            "sentence",
            {"mistakes": (replace(ITEM.mistakes[0], after=NextTries(tries=30, left=30, right=9)),)},
            {"mistakes": (replace(ITEM.mistakes[0], after=NextTries(tries=30, left=30, right=10)),)},
        ),
    ],
    ids=str,
)
def test_a_sign_is_there_from_its_threshold_on(
    sign: str, change: dict[str, object], not_yet: dict[str, object]
) -> None:
    assert sign in signs(replace(ITEM, **change))
    assert sign not in signs(replace(ITEM, **not_yet))


def test_what_nobody_has_a_sentence_for_is_a_sign_above_a_tenth() -> None:
    assert "unrecognised" in signs(ITEM, unrecognised=6)
    assert "unrecognised" not in signs(ITEM, unrecognised=5)


def test_at_a_box_a_sentence_works_where_its_mistake_is_gone() -> None:
    stays = replace(ITEM, mistakes=(replace(ITEM.mistakes[0], after=NextTries(tries=30, left=9, right=0)),))
    gone = replace(ITEM, mistakes=(replace(ITEM.mistakes[0], after=NextTries(tries=30, left=25, right=0)),))

    assert "sentence" in signs(stays, by_answer=False)
    assert "sentence" not in signs(gone, by_answer=False)
    assert "sentence" in signs(gone, by_answer=True)


def test_every_sign_has_words_and_a_case_here() -> None:
    tried = {"discrimination", "few-right", "hard", "left", "no-work", "hint", "sentence", "unrecognised"}

    assert set(SIGNS) == tried
