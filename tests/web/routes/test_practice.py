"""Practice as somebody meets it in a browser without scripts, on days that are made up."""

import json
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import pairwise

import pytest
from fastapi import FastAPI
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.grading.diagnosis import sentences
from app.grading.diagnosis.evidence import Diagnosis
from app.grading.judge.line_shapes import ground_of_program, infer_line_shapes
from app.grading.judge.verdict import OTHER_ROAD, NameVerdict, Verdict
from app.practice import pool, scheduler
from app.practice.derived_hints import explain_lines
from app.practice.draw import FORKED, LENGTHS, generate_item
from app.practice.item_lessons import LEVELS, TITLES, form_of
from app.practice.operations import HEAP, OPERATIONS
from app.practice.planted import hunted
from app.practice.proof import curated_items
from app.practice.session_plans import ItemRequest
from app.practice.sessions import Practice
from app.practice.taught import families_of
from app.store import board, cards, practice_items, tables
from app.store.tables import Card, PracticeItem
from app.web.views.slips_view import recent_mistakes
from tests.turns import PAGES
from tests.web.conftest import WRONG
from tests.web.routes.practising import MONDAY, Learner, Stock

LESSON = "/lessons/linear"


def answer_with(answer: object) -> Callable[..., Awaitable[object]]:
    async def answered(*_: object) -> object:
        return answer

    return answered


def test_a_newcomer_is_told_where_to_begin(client):
    page = client.get("/practice").text

    assert "Begin with" in page
    assert "/lessons/" in page


def test_six_exercises_are_a_sitting_and_the_rest_comes_back_another_day(learner, clock):
    learner.client.get(LESSON)

    at, titles = learner.next(begin="1"), []
    while at != "/practice":
        learner.solve(at)
        titles.append(learner.lesson(at).title)
        clock.forward(minutes=1)
        at = learner.next()

    text = learner.text("/practice")
    assert titles[:2] == ["A worked example", "One line is missing"]
    assert titles[2] in {"Write the backward pass", "Three lines are missing"}
    assert len(titles) == 6
    assert "6 exercises done: 6 right at once. What you solved" in text
    assert "The next comes back in 2 days." in text
    assert "Practised in" not in text, "one week is no rhythm"


def test_a_sitting_ends_with_what_it_came_to_and_says_its_time_is_over(learner, clock):
    learner.client.get(LESSON)
    at = learner.next(begin="1")
    for actions in ((), ("hint",), (*["hint"] * 3, "solution")):
        name = learner.lesson(at).exercises[0].name
        for action in actions:
            learner.client.post(f"{at}/code/{name}/{action}", data={"code": "", "revision": "0"})
        learner.solve(at)
        left = at = learner.next()
    learner.next(skip=left.rpartition("/")[2])
    clock.forward(minutes=11)

    assert learner.next() == "/practice"

    ways = "1 right at once, 1 with a hint, 1 looked up. 1 was left"
    assert f"Ten minutes are over: 3 exercises done: {ways}." in learner.text("/practice")


@pytest.mark.parametrize("form", ["write", "which"])
def test_an_exercise_that_is_solved_after_it_was_left_counts(learner, monkeypatch, form):
    monkeypatch.setattr("app.practice.sessions.scheduler.form_at", lambda *_: form)
    learner.client.get(LESSON)
    left = learner.next(begin="1")
    at = learner.next(skip=left.rpartition("/")[2])

    learner.solve(left)

    assert "2 of 6" in learner.text(at)


def test_no_hint_is_called_free_where_one_counts(learner, monkeypatch):
    monkeypatch.setattr("app.practice.sessions.scheduler.form_at", lambda *_: "write")
    learner.client.get(LESSON)
    at = learner.next(begin="1")

    learner.check(at, learner.lesson(at).exercises[0].name, "error")

    assert "Hint 1 of 3 is available." in learner.text(at)
    assert "Hints are free" not in learner.text(at)


@pytest.mark.parametrize(("first", "right"), [("refused", True), ("de += ", True), ("error", False), (WRONG, False)])
def test_a_text_that_was_not_run_is_no_first_answer(learner, monkeypatch, first, right):
    monkeypatch.setattr("app.practice.sessions.scheduler.form_at", lambda *_: "write")
    learner.client.get(LESSON)
    at = learner.next(begin="1")
    learner.check(at, learner.lesson(at).exercises[0].name, first)
    learner.solve(at)

    async def right_at_once(db: AsyncSession) -> list[bool | None]:
        me = await db.scalar(select(func.max(tables.Learner.id)))
        return [item.right_at_once for item in await cards.given_to(db, me)]

    assert learner.query(right_at_once) == [right]


def test_operations_of_which_there_is_no_exercise_do_not_use_up_the_tries(learner, monkeypatch):
    practice = learner.site.practice
    found, make, asked = practice._found, practice._stock.make, []

    async def no_other(db: AsyncSession, me: int, wish: ItemRequest, *more: object) -> PracticeItem | None:
        return await found(db, me, wish, *more) if wish.about[0] == "matmul" else None

    async def made(level: int, family: str, *more: object) -> bool:
        asked.append(family)
        return family == "matmul" and await make(level, family, *more)

    monkeypatch.setattr(practice, "_found", no_other)
    monkeypatch.setattr(practice._stock, "make", made)
    monkeypatch.setattr(practice, "operations_known", answer_with({"tanh", "exp", "relu", "embedding", "matmul"}))
    learner.client.get(LESSON)

    assert "matmul" in learner.row(learner.next(begin="1")).operations_json
    assert asked[:4] == ["activation", "exponential", "gate", "index"]


@pytest.mark.alone
@pytest.mark.parametrize("copied", [False, True])
def test_a_sitting_ends_with_the_slips_that_are_gone_and_names_no_debts(learner, clock, copied):
    learner.check(LESSON, "linear-backward", WRONG)
    at = learner.next(begin="1")
    if copied:
        name = learner.lesson(at).exercises[0].name
        for action in (*["hint"] * 3, "solution"):
            learner.client.post(f"{at}/code/{name}/{action}", data={"code": "", "revision": "0"})

    while at != "/practice":
        learner.solve(at)
        clock.forward(minutes=2)
        at = learner.next()

    text = learner.text("/practice")
    assert ("1 slip gone" in text, "the transpose of the right answer, gone" in text) == (not copied, not copied)
    assert "Due now" not in text
    due = {(card.family, card.slip): card.due_at for card in learner.shown()}["matmul", "transposed"]
    assert (due.date() - MONDAY.date()).days == (1 if copied else 2)


@pytest.mark.alone
@pytest.mark.parametrize("again", [False, True])
def test_a_slip_that_is_made_again_in_a_round_is_not_gone(learner, clock, again):
    learner.check(LESSON, "linear-backward", WRONG)
    at = learner.next(begin="1")
    while at != "/practice":
        learner.solve(at)
        clock.forward(minutes=2)
        at = learner.next()

    async def rate(db: AsyncSession) -> None:
        """As for a slip at any other exercise of the round."""
        card = next(iter(await db.scalars(select(Card).where(Card.slip == "transposed"))))
        await cards.add_review(db, card, scheduler.AGAIN, MONDAY + timedelta(minutes=3), 1)

    if again:
        learner.change(rate)

    assert ("transpose of the right answer, gone" in learner.text("/practice")) == (not again)


def test_a_round_asks_in_every_form_who_has_written_it_before(learner, clock):
    learner.check(LESSON, "linear-backward", "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n")
    clock.forward(days=1)

    at, forms = learner.next(begin="1"), []
    while at != "/practice":
        forms.append(form_of(learner.row(at)))
        learner.solve(at)
        clock.forward(minutes=1)
        at = learner.next()

    assert sorted(forms) == sorted(scheduler.ROUND)


def test_a_planted_slip_is_never_of_one_kind_twice_in_a_row(learner, monkeypatch):
    monkeypatch.setattr("app.practice.sessions.scheduler.form_in_round", lambda turn, _: ("which", "bug")[turn % 2])
    learner.check(LESSON, "linear-backward", "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n")

    at, kinds = learner.next(begin="1"), []
    while at != "/practice":
        kinds.append(learner.row(at).form.partition("-")[2])
        learner.solve(at)
        at = learner.next()

    assert len(kinds) == scheduler.MOST_ITEMS
    assert all(first != second for first, second in pairwise(kinds)), kinds


@pytest.mark.alone
def test_three_lines_of_a_long_pass_are_written_and_only_they_are_rated(learner, monkeypatch):
    long = next(item for item in curated_items(3) if len(families_of(item.by)) > 4)
    monkeypatch.setattr(Practice, "operations_known", answer_with(frozenset(long.needs)))
    monkeypatch.setattr("app.practice.sessions.scheduler.form_at", lambda *_: "write")
    learner.change(lambda db: practice_items.store_item(db, pool.columns_of(long)))

    at = learner.next(begin="1")
    row, box = learner.row(at), learner.lesson(at).exercises[0]
    given = box.starter.source.splitlines()
    left_open = [line for line, text in enumerate(long.lines) if given[line] != text]
    learner.solve(at)
    learner.next()

    assert (row.forward, len(left_open)) == (long.forward, 3)
    rated = {card.family for card in learner.cards() if card.met}
    assert rated == families_of(long.by[line] for line in left_open) < families_of(long.by)


def test_ten_minutes_are_a_sitting(learner, clock):
    learner.client.get(LESSON)
    learner.solve(learner.next(begin="1"))

    clock.forward(minutes=11)

    assert learner.next() == "/practice"
    assert learner.next(begin="1") != "/practice"


def test_a_right_line_after_which_one_is_missing_is_not_struck_through(learner, monkeypatch):
    monkeypatch.setattr("app.practice.card_updates.LEFT_OUT", "transposed")
    learner.check(LESSON, "linear-backward", WRONG)

    assert "dX = W @ dY and no other share, on" in learner.text("/practice")
    assert "<del>" not in learner.client.get("/practice").text


def test_of_several_lines_none_is_struck_through_for_what_is_missing(learner, monkeypatch):
    monkeypatch.setattr("app.practice.card_updates.MISSING", {"transposed"})
    learner.check(LESSON, "linear-backward", f"{WRONG}dX *= 2\n")

    text = learner.text("/practice")
    assert "Matrix products: the transpose of the right answer" in text
    assert "dX" not in text


@pytest.mark.alone
def test_a_slip_in_a_lesson_is_due_in_practice(learner):
    learner.check(LESSON, "linear-backward", WRONG)

    text = learner.text("/practice")
    assert "Matrix products: the transpose of the right answer" in text
    assert "dX = W @ dY you wrote it on" in text
    assert "<del><code>dX = W @ dY</code></del>" in learner.client.get("/practice").text
    assert "Bug of the day" in text
    at = learner.next(begin="1")
    assert "matmul" in learner.row(at).operations_json
    assert any("transposed" in OPERATIONS[one].shows for one in json.loads(learner.row(at).operations_json))


@pytest.mark.alone
def test_pages_that_show_practice_write_nothing(learner, clock, monkeypatch):
    learner.check(LESSON, "linear-backward", WRONG)
    clock.forward(days=3)
    monkeypatch.setattr(learner.site.database, "write", None)

    shown = [learner.text(page) for page in ("/practice", "/practice/map", "/practice")]

    assert "the transpose of the right answer" in shown[1]
    assert shown[0] == shown[2]
    assert not learner.cards()
    monkeypatch.undo()


@pytest.mark.alone
def test_a_slip_comes_back_on_time_however_often_practice_is_opened(learner, clock):
    learner.check(LESSON, "linear-backward", WRONG)
    (first,) = learner.shown()
    clock.forward(hours=5)
    learner.next(begin="1")

    written = next(one for one in learner.cards() if one.slip == "transposed")

    assert (written.opened_at, written.due_at) == (first.opened_at, first.due_at)


@pytest.mark.alone
def test_a_slip_brings_the_same_card_back_tomorrow_and_a_solution_later(learner, clock):
    learner.check(LESSON, "linear-backward", WRONG)
    at = learner.next(begin="1")
    learner.solve(at)
    learner.next()
    (solved,) = [one for one in learner.cards() if one.slip == "transposed"]

    assert solved.due_at - clock.now >= timedelta(days=2)
    clock.now = solved.due_at
    at = learner.next(begin="1")
    learner.solve(at, slip=True)
    learner.next()

    slipped = [one for one in learner.cards() if one.slip == "transposed"]
    assert min(one.due_at for one in slipped) - clock.now <= timedelta(days=2)


def test_two_tabs_that_finish_one_item_count_once(learner):
    learner.client.get(LESSON)
    at = learner.next(begin="1")
    assert learner.next() == at

    learner.solve(at)
    first, second = learner.next(skip=at.rpartition("/")[2]), learner.next(skip=at.rpartition("/")[2])

    assert first == second != at
    assert learner.text(first).count("2 of 6") == 1


def test_five_more_of_a_lesson_are_about_that_lesson(learner):
    assert "Five more like these" in learner.text(LESSON)

    at, addresses = learner.next(lesson="linear"), []
    while at != "/practice":
        learner.solve(at)
        addresses.append(at)
        at = learner.next()

    assert len(addresses) == 5
    assert "5 exercises done" in learner.text("/practice")
    assert f"Back to {learner.site.course.at['linear'].title}" in learner.text("/practice")


def test_nothing_is_given_that_no_opened_lesson_taught(learner):
    for _ in range(3):
        assert learner.next(begin="1") == "/practice"

    learner.client.get(LESSON)
    assert set(json.loads(learner.row(learner.next(begin="1")).operations_json)) <= {
        "matmul",
        "matmul-left",
        "bias",
        "add",
    }


def test_a_program_with_heaps_of_matrices_waits_for_a_lesson_that_has_some(learner):
    learner.client.get(LESSON)

    kept = learner.query(lambda db: learner.site.practice.operations_known(db, 1))

    assert "matmul" in kept
    assert HEAP not in kept


def test_what_was_practised_stays_known_when_another_lesson_is_opened(learner):
    learner.client.get(LESSON)
    at = learner.next(begin="1")

    learner.client.get("/lessons/reading")

    assert "Matrix products" in learner.text("/practice/map")
    assert learner.next() == at


def test_an_item_is_shown_to_those_who_were_given_it(learner, other):
    learner.client.get(LESSON)
    other.get(LESSON)
    at = learner.next(begin="1")

    assert learner.client.get(at).status_code == 200
    assert other.get(at).status_code == 404
    assert other.get("/practice/²").status_code == 404


def test_an_item_stays_what_it_was_when_the_generator_goes_on(learner, monkeypatch):
    learner.client.get(LESSON)
    at = learner.next(begin="1")
    before = learner.lesson(at).source
    learner.site.practice.items._lessons._values.clear()

    monkeypatch.setattr("app.practice.sessions.VERSION", 99)

    assert learner.next() == at
    assert learner.lesson(at).source == before


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.alone
@pytest.mark.parametrize("form", list(TITLES))
def test_no_page_of_an_item_names_its_seed(learner, monkeypatch, form):
    monkeypatch.setattr(pool, "curated_items", lambda _: ())  # whose seeds are small numbers, such as stand on any page
    monkeypatch.setattr("app.practice.sessions.scheduler.form_at", lambda *_: form)
    learner.client.get(LESSON)

    at = learner.next(begin="1")
    seed = str(learner.row(at).seed)
    (name, *_) = (one.name for one in learner.lesson(at).exercises)
    said = [learner.client.get(at).text, learner.client.get("/practice").text]
    kind = learner.solve(at, slip=True)
    said.append(learner.client.get(at).text)
    said.append(learner.client.get("/me/export.zip").content.decode("latin-1"))

    assert form_of(learner.row(at)) == form, kind
    assert len(seed) > 4
    assert [one for one in (name, *said) if seed in one] == []


def test_an_item_that_names_its_seed_is_finished_and_given_to_nobody_else(learner, other):
    learner.client.get(LESSON)
    at = learner.next(begin="1")
    number = int(at.rpartition("/")[2])

    async def as_before(db: AsyncSession) -> None:
        row = await db.get_one(PracticeItem, number)
        name = re.search(r"practice-[0-9a-f]{8}", row.fragment)
        assert name is not None
        row.version, row.fragment = 3, row.fragment.replace(name[0], f"practice-{row.level}-{row.seed}")

    learner.change(as_before)
    learner.site.practice.items._lessons._values.clear()
    row = learner.row(at)
    named = f"practice-{row.level}-{row.seed}"
    Learner(other, learner.site).client.get(LESSON)

    assert named in learner.client.get(at).text
    assert Learner(other, learner.site).next(begin="1") != at
    assert learner.next() == at
    learner.solve(at)
    assert learner.next() not in (at, "/practice")


@pytest.mark.alone
def test_where_nothing_can_be_drawn_that_is_said(learner, monkeypatch):
    learner.client.get(LESSON)
    monkeypatch.setattr(learner.site.practice, "_stock", Stock(there=False))

    text = learner.client.post("/practice/next", data={"begin": "1"}).text
    assert "No fresh exercise could be drawn just now." in text


def test_a_drill_counts_what_was_solved_within_three_minutes(learner, clock):
    learner.client.get(LESSON)
    at = learner.next(drill="matmul")
    for _ in range(3):
        learner.solve(at)
        clock.forward(minutes=1.2)
        at = learner.next()

    assert at == "/practice/drill/matmul"
    assert "3 solved within three minutes." in learner.text(at)
    assert "best 3" in learner.text("/practice/map")


def test_a_set_that_was_begun_is_offered_beside_a_new_session(learner):
    learner.client.get(LESSON)
    learner.solve(learner.next(lesson="linear"))
    at = learner.next()

    assert "Continue what you began Five more like these: 1 of 5 done." in learner.text("/practice")
    assert learner.next() == at
    learner.next(begin="1")
    assert "Continue what you began" not in learner.text("/practice")


def test_an_earlier_exercise_has_no_clock_of_the_drill(learner, clock):
    learner.check(LESSON, "linear-backward", WRONG)
    earlier = learner.next(begin="1")
    clock.forward(minutes=1)
    at = learner.next(drill="matmul")

    assert "left when this page opened" in learner.text(at)
    assert "left when this page opened" not in learner.text(earlier)


def test_what_a_drill_would_end_is_said_before(learner):
    learner.client.get(LESSON)
    ends = "The session that you began, 0 of 6 done, ends with it."
    assert "ends with it" not in learner.text("/practice/drill/matmul")
    learner.next(begin="1")

    assert ends in learner.text("/practice/drill/matmul")
    learner.next(drill="matmul")
    assert "ends with it" not in learner.text("/practice/drill/matmul")
    assert "The session that you began ends with it." in learner.text("/practice/drill/broadcast")


def test_what_the_hunt_of_a_day_would_end_is_said_beside_it(learner):
    learner.check(LESSON, "linear-backward", WRONG)
    assert "ends with it" not in learner.text("/practice")
    learner.next(begin="1")

    assert "Find it and fix it. The session that you began, 0 of 6 done, ends with it." in learner.text("/practice")
    learner.next(bug="1")
    assert "ends with it" not in learner.text("/practice")


def test_a_drill_that_is_left_goes_on_where_it_began_and_is_no_sitting(learner, clock):
    learner.client.get(LESSON)
    at = learner.next(drill="matmul")
    clock.forward(seconds=50)

    assert "2:10 left when this page opened. 0 solved." in learner.text(at)
    assert "Go on" not in learner.text("/practice")
    assert "Go on" in learner.text("/practice/drill/matmul")
    learner.solve(at)
    clock.forward(minutes=3)
    assert "exercise done" not in learner.text("/practice")


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("item", curated_items(1)[:20], ids=lambda item: item.name)
def test_a_bug_to_hunt_is_one_that_shapes_do_not_tell(item):
    _, fragment = hunted(item, OPERATIONS[item.operations[0]].family, "") or ("", "")
    (bug,) = item.lesson_of(fragment).exercises

    told = infer_line_shapes(bug.starter.source, ground_of_program(item.program, [f"d{item.program.output}"])).lines

    assert not any(one.collides or one.fits is False for one in told)


def test_a_bug_to_hunt_is_written_with_transposes_of_matrices():
    items = [one for one in curated_items(1) if "matmul" in one.operations][:10]

    hunts = [hunted(one, "matmul", "transposed") for one in items]

    assert all(".T" in one[1] and ".mT" not in one[1] for one in hunts if one)


@pytest.mark.parametrize("item", curated_items(1)[6:22], ids=lambda item: item.name)
def test_who_took_the_wrong_sign_hunts_a_wrong_sign(item):
    kind, fragment = hunted(item, OPERATIONS[item.operations[0]].family, "sign") or ("", "")
    assert kind == "sign"
    (bug,) = item.lesson_of(fragment).exercises

    wrong = set(bug.starter.source.splitlines()) - set(item.solution.splitlines())

    assert [line.partition(" = ")[2].startswith("-") for line in wrong] == [True]


def test_the_map_says_of_what_lessons_taught_that_it_was_met(learner):
    learner.client.get(LESSON)

    text = learner.text("/practice/map")

    assert "Matrix products : met in lessons, not practised yet" in text.replace("products:", "products :")
    assert "not met" not in text


def test_the_map_says_of_what_was_only_completed_that_it_was_practised(learner, monkeypatch):
    monkeypatch.setattr("app.practice.sessions.scheduler.form_in_round", lambda *_: "fade")
    learner.check(LESSON, "linear-backward", WRONG)
    learner.solve(learner.next(begin="1"))

    text = learner.text("/practice/map")

    assert "Matrix products: practised, not yet from memory" in text


def test_the_map_says_how_well_something_is_remembered(learner, monkeypatch, clock):
    monkeypatch.setattr("app.practice.sessions.scheduler.form_in_round", lambda *_: "write")
    learner.check(LESSON, "linear-backward", WRONG)
    learner.solve(learner.next(begin="1"))

    assert "Matrix products: fresh, comes back in" in learner.text("/practice/map")
    clock.forward(days=100)
    assert "Matrix products: due the transpose of the right answer (due)" in learner.text("/practice/map")


def test_somebody_who_leaves_an_exercise_is_asked_in_another_way(learner):
    learner.client.get(LESSON)
    at, titles = learner.next(begin="1"), []
    for _ in range(6):
        titles.append(learner.lesson(at).title)
        at = learner.next(skip=at.rpartition("/")[2])

    assert all(one != other for one, other in pairwise(titles))


def test_practice_is_no_place_to_continue_the_course(learner):
    learner.check(LESSON, "linear-backward", WRONG)
    learner.solve(learner.next(begin="1"))

    assert "/lessons/linear#" in learner.client.get("/").text


def test_nobody_is_given_exercises_without_end(learner, clock, monkeypatch):
    monkeypatch.setattr(cards, "MOST_A_DAY", 2)
    learner.client.get(LESSON)
    for _ in range(2):
        learner.solve(learner.next(begin="1"))

    refused = learner.client.post("/practice/next", data={"begin": "1"})
    assert (refused.status_code, "Go on tomorrow" in refused.text) == (429, True)
    clock.forward(days=1, minutes=1)
    assert learner.next(begin="1") != "/practice"


def test_practice_given_to_a_class_is_counted_without_its_texts(learner, room, group, bob, ada):
    room.assign(group, "practice/set-matmul", points=5.0)
    room.browser("Cleo")
    room.join(group, "Cleo")
    pupil = Learner(bob, learner.site)
    pupil.client.get(LESSON)
    assert "Practice: Matrix products" in pupil.text(f"/classes/{group.id}")

    at = pupil.next(given="matmul")
    for _ in range(2):
        pupil.solve(at, slip=True)
        at = pupil.next()

    assert "2 of 5 are done." in pupil.text("/practice/set/matmul")
    book = ada.get(f"/classes/{group.id}/gradebook.json").json()
    assert {one["name"]: one["points"] for one in book["learners"]} == {"Bob": 2, "Cleo": 0}
    assert bob.get("/practice/set/nothing").status_code == 404


def test_a_level_is_called_by_what_it_asks_for(app: FastAPI) -> None:
    words = dict(enumerate(["two", "three", "four", "five", "six", "seven", "eight"], start=2))

    for level, (fewest, most) in LENGTHS.items():
        assert (
            app.state.site.practice.curriculum.sets[f"level-{level}"].title
            == f"Practice: level {level} ({LEVELS[level]})"
        )
        assert re.findall("|".join(words.values()), LEVELS[level]) == [words[fewest], words[most]]
        assert ("no fork" in LEVELS[level]) == (FORKED[level][1] == 0)
        assert ("several forks" in LEVELS[level]) == (FORKED[level][0] > 1)


def test_instructors_see_slips_of_assigned_practice_and_no_text(learner, group, bob, ada):
    pupil = Learner(bob, learner.site)
    pupil.client.get(LESSON)
    ada.post(f"/classes/{group.id}/assignments", data={"lesson": "practice/set-matmul"})
    slips, instructor = f"/classes/{group.id}/slips", Learner(ada, learner.site)

    pupil.solve(pupil.next(begin="1"), slip=True)
    pupil.next()
    assert "the transpose of the right answer" not in instructor.text(slips)

    at = pupil.next(given="matmul")
    for _ in range(3):  # a worked example and a line that is left open come first
        pupil.solve(at, slip=True)
        at = pupil.next()

    assert re.search("practice .*the transpose of the right answer", instructor.text(slips))
    made = learner.query(lambda db: recent_mistakes(db, learner.site.assigned, group.id, MONDAY - timedelta(days=1)))
    assert [one.said for one in made] == ["the transpose of the right answer"]
    # Everybody is drawn other names: with the gradient in it, people who made one slip would be counted as many.
    assert [one.code for one in learner.query(lambda db: board.slip_counts(db, group.id))] == ["d:transposed"]
    assert "Practice: Matrix products" in instructor.text(f"/classes/{group.id}/gradebook")
    assert "Nothing is assigned" not in instructor.text(f"/classes/{group.id}/board")
    for page in ("", "/board", "/slips", "/gradebook", "/lessons"):
        text = ada.get(f"/classes/{group.id}{page}").text
        assert WRONG.strip() not in text, page
        assert "practice/set-matmul/" not in text, page


def written(learner: Learner, **form: str) -> str:
    """The address of an item that is to be written."""
    at = learner.next(**form)
    while form_of(learner.row(at)) != "write":
        learner.solve(at)
        at = learner.next()
    return at


def test_after_a_wrong_check_hints_are_about_the_diagnosed_line(learner, grader, monkeypatch):
    learner.client.get(LESSON)
    at = written(learner, begin="1")
    name = learner.lesson(at).exercises[0].name
    lines = {line.split()[0]: line for line in learner.row(at).solution.splitlines() if "+=" not in line}
    for gradient in lines:
        wrong = NameVerdict(name=gradient, verdict="wrong", code=f"{gradient}:sign", message="Signs.", line=1)
        monkeypatch.setattr(grader, "outcome", Verdict(outcome="graded", names=(wrong,), hidden_sizes=2))
        learner.check(at, name, f"{gradient} = 1")
        learner.client.post(f"{at}/code/{name}/hint")

        assert f"The rule behind {gradient}." in learner.text(at).replace(" .", "."), gradient
        # Of the hints that are shown now, and not of those that the item came with.
        assert re.search(rf"Hint \d of \d+ is about {gradient}\b", learner.text(at)), gradient


def test_a_check_that_finds_another_line_brings_hints_of_its_own(learner, grader, clock, monkeypatch):
    learner.client.get(LESSON)
    at = written(learner, begin="1")
    name, row = learner.lesson(at).exercises[0].name, learner.row(at)
    first, *_, last = dict.fromkeys(line.split()[0] for line in row.solution.splitlines())
    given = len(learner.lesson(at).exercises[0].hints)
    for _ in range(given):
        learner.client.post(f"{at}/code/{name}/hint")
    clock.forward(seconds=20)
    faults = [NameVerdict(name=first, verdict="right"), NameVerdict(name=last, verdict="not-yet")]
    monkeypatch.setattr(grader, "outcome", Verdict(outcome="graded", names=tuple(faults), hidden_sizes=2))

    clock.forward(seconds=20)
    form = {"code": f"{last} = ____", "revision": "0"}
    said = learner.client.post(f"{at}/code/{name}/check", data=form, headers={"hx-request": "true"}).text

    button = re.search(rf'<button[^>]*id="{name}-hint"[^>]*>(.*?)</button>', said)
    assert button is not None
    assert button[1].startswith(f"Hint {given + 1} of ")
    assert 'hx-swap-oob="true"' in button[0]
    total = button[1].rpartition(" ")[2]
    assert int(total) > given
    assert re.findall(r"<summary>Hint (\d+) of (\d+)", said) == [(str(number), total) for number in range(1, given + 1)]
    learner.client.post(f"{at}/code/{name}/hint")
    assert f"Hint {given + 1} of " in learner.text(at)


def test_the_solution_of_an_item_is_told_line_by_line_once_it_is_opened(learner):
    learner.client.get(LESSON)
    at = written(learner, begin="1")
    row, name = learner.row(at), learner.lesson(at).exercises[0].name
    said = [
        re.sub("`(.*?)`", "<code>\\1</code>", one)
        for one in explain_lines(row.solution.splitlines(), json.loads(row.line_operations_json))
    ]
    for _ in learner.lesson(at).exercises[0].hints:
        learner.client.post(f"{at}/code/{name}/hint")
    assert "explained" not in learner.client.get(at).text

    learner.client.post(f"{at}/code/{name}/solution", data={"code": "", "revision": "0"})

    told = learner.client.get(at).text.partition('class="explained"')[2].partition("</ol>")[0]
    assert re.findall("<li>(.*?)</li>", told) == said


NO_SLIPS = (
    Diagnosis(code=f"dX:{OTHER_ROAD}", message="The values are right."),
    sentences.stopped_line("dX", "name", 1, "`q` is not defined."),
    sentences.not_a_tensor("dX", "float"),
    sentences.wrong_dtype("dX", "int64", right=False),
    sentences.unfit_value("dX", "dtype torch.float16, shape (2,)"),
    sentences.unfit_value("dX", "sparse tensor"),
    sentences.only_here("dX"),
    sentences.wrong_here("dX"),
    sentences.stops_elsewhere("dX", 1, "IndexError", {27: "V"}),
    Diagnosis(code="dX:unrecognised", message="The values differ."),
    Diagnosis(code="dX:shape", message="The shape differs."),
)


@pytest.mark.alone
def test_an_error_and_all_else_that_is_no_slip_at_a_rule_opens_no_card(learner, grader, monkeypatch):
    for number, said in enumerate((*NO_SLIPS, Diagnosis(code="dX:mean", message="An average."))):
        name = NameVerdict(name="dX", verdict="wrong", code=said.code, message=said.message, line=1)
        monkeypatch.setattr(grader, "outcome", Verdict(outcome="graded", names=(name,), hidden_sizes=2))
        learner.check(LESSON, "linear-backward", f"dX = {number}")

        assert [one.slip for one in learner.shown()] == (["mean"] if said.code == "dX:mean" else []), said.code


@pytest.mark.alone
def test_a_mistake_only_the_lesson_has_words_for_is_of_its_family(learner, grader, monkeypatch):
    name = NameVerdict(name="dX", verdict="wrong", code="dX:declared-2", message="Two.", line=1)
    monkeypatch.setattr(grader, "outcome", Verdict(outcome="graded", names=(name,), hidden_sizes=2))
    learner.check(LESSON, "linear-backward", "dX = 1")

    assert [(one.family, one.slip) for one in learner.shown()] == [("matmul", "")]


def test_practice_that_a_class_is_given_again_begins_anew(learner, group, bob, ada):
    pupil = Learner(bob, learner.site)
    pupil.client.get(LESSON)
    assignments = f"/classes/{group.id}/assignments"
    ada.post(assignments, data={"lesson": "practice/set-matmul"})
    at = pupil.next(given="matmul")
    pupil.solve(at)

    ada.post(assignments, data={"lesson": "practice/set-matmul"})

    assert "Practice: Matrix products, round 2" in pupil.text(f"/classes/{group.id}")
    assert "0 of 5 are done." in pupil.text("/practice/set/matmul-2")
    assert "1 of 5 are done." in pupil.text("/practice/set/matmul")
    for _ in range(25):
        ada.post(assignments, data={"lesson": "practice/set-matmul"})
    assert "Practice: Matrix products, round 27" in pupil.text(f"/classes/{group.id}")
    assert pupil.next(given="matmul-27") not in (at, "/practice")
    assert pupil.client.get("/practice/set/matmul-1").status_code == 404
    offered = re.findall(r'<option value="(practice/[^"]*)"', ada.get(assignments).text)
    assert "practice/set-matmul" in offered
    assert "practice/set-matmul-2" not in offered


def test_an_exercise_of_a_class_set_is_not_given_again_where_it_counts_not(learner, room, group, bob):
    room.assign(group, "practice/set-matmul")
    pupil = Learner(bob, learner.site)
    pupil.client.get(LESSON)
    pupil.solve(pupil.next(given="matmul"))
    given = pupil.next()

    own = pupil.next(begin="1")

    assert own not in (given, "/practice")
    assert pupil.next() == own
    assert "1 of 5 are done." in pupil.text("/practice/set/matmul")


def test_ten_minutes_of_a_family_can_be_given_and_count_by_the_minute(learner, group, bob, ada, clock):
    pupil = Learner(bob, learner.site)
    pupil.client.get(LESSON)
    ada.post(f"/classes/{group.id}/assignments", data={"lesson": "practice/set-minutes-matmul"})
    assert "Practice: ten minutes of matrix products" in pupil.text(f"/classes/{group.id}")

    at = pupil.next(given="minutes-matmul")
    for minutes in (2.5, 1.6, 40):  # who goes away for long has practised for five minutes at most
        clock.forward(minutes=minutes)
        pupil.solve(at)
        at = pupil.next()

    assert "9 of 10 minutes are done" in pupil.text("/practice/set/minutes-matmul")
    at = pupil.next(given="minutes-matmul")
    clock.forward(minutes=4)
    pupil.solve(at)
    assert "10 of 10 minutes are done" in pupil.text("/practice/set/minutes-matmul")
    book = ada.get(f"/classes/{group.id}/gradebook.json").json()
    assert [one["points"] for one in book["learners"]] == [10]


def test_the_best_of_a_drill_is_kept_also_of_who_does_not_go_on(learner, clock):
    learner.client.get(LESSON)
    at = learner.next(drill="matmul")
    learner.solve(at)
    clock.forward(days=3)

    assert "best 1" in learner.text("/practice/map")


@pytest.mark.alone
def test_while_an_item_is_open_the_next_one_for_its_cards_is_drawn(learner, monkeypatch):
    learner.check(LESSON, "linear-backward", WRONG)
    learner.next(begin="1")
    stock = Stock()
    monkeypatch.setattr(learner.site.practice, "_stock", stock)

    async def prepared() -> None:
        async with learner.site.database.write() as db:
            for seed in range(3):
                await practice_items.store_item(db, pool.columns_of(generate_item(1, seed, within=("matmul", "bias"))))

    learner.client.portal.call(prepared)
    learner.next(skip=learner.next().rpartition("/")[2])

    assert stock.waited == []
    assert stock.expected[-1] != stock.expected[0]
    assert ("broadcast", "") in stock.expected


@pytest.mark.alone
def test_what_is_due_is_drawn_where_only_something_else_is_at_hand(learner):
    learner.client.get(LESSON)
    due = scheduler.new_card("broadcast", "mean", MONDAY)

    async def prepared() -> None:
        async with learner.site.database.write() as db:
            for seed in range(3):
                await practice_items.store_item(db, pool.columns_of(generate_item(1, seed, within=("matmul",))))
            db.add(
                Card(
                    learner_id=1,
                    family=due.family,
                    slip=due.slip,
                    met=0,
                    opened_at=MONDAY,
                    state_json=due.state,
                    due_at=MONDAY,
                )
            )

    learner.client.portal.call(prepared)
    at = learner.next(begin="1")

    assert [one.family for one in learner.query(lambda db: cards.given_to(db, 1))] == ["broadcast"]
    assert "bias" in learner.row(at).operations_json


def test_an_item_that_no_version_can_read_any_more_is_left(learner):
    learner.client.get(LESSON)
    at = learner.next(begin="1")
    number = int(at.rpartition("/")[2])

    whole = learner.row(at).fragment

    def written_as(fragment: str) -> None:
        stored = update(PracticeItem).where(PracticeItem.id == number).values(fragment=fragment)
        learner.change(lambda db: db.execute(stored))
        learner.site.practice.items._lessons._values.clear()

    written_as(":::{gone} x")
    try:
        assert learner.client.get(at).status_code == 404
        assert learner.next() not in (at, "/practice")
    finally:
        written_as(whole)  # others are given this item


def test_a_slip_of_a_month_ago_that_is_no_slip_any_more_is_told(learner, clock, monkeypatch):
    monkeypatch.setattr("app.practice.sessions.scheduler.form_in_round", lambda *_: "write")
    learner.check(LESSON, "linear-backward", WRONG)
    learner.text("/practice")
    assert "could not a month ago" not in learner.text("/practice/map")

    clock.forward(days=40)
    learner.solve(learner.next(begin="1"))

    assert "Matrix products: no longer the transpose of the right answer" in learner.text("/practice/map")


def test_what_is_at_hand_and_was_not_taught_is_left_at_hand(learner):
    both = ("matmul", "tanh")
    drawn = next(one for seed in range(99) if set(both) <= set((one := generate_item(1, seed, "", both)).operations))

    async def keep() -> None:
        async with learner.site.database.write() as db:
            await practice_items.store_item(db, pool.columns_of(drawn))

    learner.client.portal.call(keep)
    learner.client.get(LESSON)

    assert learner.row(learner.next(drill="matmul")).seed != drawn.seed


def test_a_slip_at_an_item_is_held_against_its_card_once(learner, monkeypatch):
    monkeypatch.setattr("app.practice.sessions.scheduler.form_in_round", lambda *_: "write")
    learner.check(LESSON, "linear-backward", WRONG)
    at = learner.next(begin="1")
    for _ in range(2):
        learner.check(at, learner.lesson(at).exercises[0].name, WRONG)
        learner.text("/practice")
    learner.solve(at)
    learner.next()

    met = {(one.family, one.slip): one.met for one in learner.cards()}
    assert met["matmul", "transposed"] == 1


async def filed_once(db: AsyncSession, learner: Learner, address: str) -> None:
    """What an earlier version wrote for a right answer by another road: a card, and an item that was given for it."""
    card = (await db.scalars(select(Card))).first()
    await db.execute(
        update(Card).where(Card.id == card.id).values(slip=OTHER_ROAD, due_at=learner.site.practice.clock())
    )
    item = int(address.rpartition("/")[2])
    given = tables.ServedItem.item_id == item
    await db.execute(update(tables.ServedItem).where(given).values(family=card.family, slip=OTHER_ROAD))


@pytest.mark.alone
def test_another_road_once_filed_as_a_slip_is_not_shown_or_asked_for(learner, clock):
    learner.client.get(LESSON)
    at = learner.next(begin="1")
    while not learner.cards():
        learner.solve(at)
        at = learner.next()

    async def file() -> None:
        async with learner.site.database.write() as db:
            await filed_once(db, learner, at)

    learner.client.portal.call(file)
    learner.solve(at)
    learner.next()
    clock.forward(days=30)

    assert "other road" not in learner.text("/practice") + learner.text("/practice/map")
    assert OTHER_ROAD not in {one.slip for one in learner.shown()}


@pytest.mark.alone
def test_another_road_is_kept_as_no_mistake(learner, grader, monkeypatch):
    for number, code in enumerate((OTHER_ROAD, "mean")):
        name = NameVerdict(name="dX", verdict="wrong", code=f"dX:{code}", message="Look again.", line=1)
        monkeypatch.setattr(grader, "outcome", Verdict(outcome="graded", names=(name,), hidden_sizes=2))
        learner.check(LESSON, "linear-backward", f"dX = {number}")

    async def codes(db: AsyncSession) -> list[str | None]:
        return list(await db.scalars(select(tables.Attempt.code).order_by(tables.Attempt.id)))

    assert learner.query(codes) == [None, "dX:mean"]
