"""What is drawn besides practice: questions as a lesson begins, a try before a unit."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.practice.draw import named_items
from app.practice.occasions import FORM_SLOTS, READY_FORMS, RECALL_FORMS, lesson_by_family
from app.practice.pool import columns_of
from app.practice.practice_words import family_words
from app.store import cards, practice_items, tables
from app.store.database import now
from app.store.tables import ServedItem
from tests.courses import LESSONS
from tests.web.routes.practising import Learner

FOLDER = LESSONS
EARLIER, LATER = "/lessons/the-matrix-product", "/lessons/copies-add-up"
OFFER = "two questions on earlier lessons"
UNIT = "/units/character-model"


def recall(learner: Learner, lesson: str = LATER, **form: str) -> str:
    address = f"/practice/recall/{lesson.rpartition('/')[2]}"
    return str(learner.client.post(address, data=form).url.path)


def served(learner: Learner) -> list[ServedItem]:
    """What the newest learner was given."""

    async def given(db: AsyncSession) -> list[ServedItem]:
        return await cards.given_to(db, await newest(db))

    return learner.query(given)


async def newest(db: AsyncSession) -> int:
    return await db.scalar(select(func.max(tables.Learner.id)))


@pytest.fixture
def newcomer(learner: Learner) -> Learner:
    """Somebody who came just now and has begun an earlier lesson."""
    name = learner.site.course.at["the-matrix-product"].exercises[0].name
    learner.client.post(f"{EARLIER}/quiz/{name}", data={"answer": "1"})
    return learner


@pytest.fixture
def reader(newcomer: Learner) -> Learner:
    """The same, a day later."""

    async def move_back(db: AsyncSession) -> None:
        came = update(tables.Learner).where(tables.Learner.id == await newest(db))
        await db.execute(came.values(created_at=now() - timedelta(days=1)))

    newcomer.change(move_back)
    return newcomer


def test_a_lesson_recalls_nothing_for_who_opened_no_earlier_one(learner):
    assert OFFER not in learner.text(LATER)
    assert recall(learner) == LATER


def test_on_the_first_day_nothing_is_recalled(newcomer):
    assert OFFER not in newcomer.text(LATER)


def test_a_lesson_begins_with_two_questions_on_earlier_lessons(reader):
    assert OFFER in reader.text(LATER)

    name = reader.site.course.at["the-matrix-product"].name
    taught = reader.site.practice.curriculum.operations_of([name])

    at, forms = recall(reader), []
    while at != LATER:
        row = reader.row(at)
        forms.append(row.form.partition("-")[0])
        assert "Before Copies add up" in reader.text(at)
        assert set(json.loads(row.operations_json)) <= taught
        reader.solve(at)
        at = reader.next()

    assert len(forms) == len(RECALL_FORMS)
    assert OFFER not in reader.text(LATER)


def test_questions_that_are_skipped_are_not_asked_again(reader):
    assert recall(reader, skip="1") == LATER

    assert OFFER not in reader.text(LATER)
    assert served(reader) == []


def test_a_lesson_that_has_begun_asks_no_more(reader):
    assert OFFER in reader.text(LATER)

    reader.client.post(f"{LATER}/quiz/db-axes", data={"answer": "0"})

    assert OFFER not in reader.text(LATER)


def test_a_unit_without_much_before_it_is_not_tried(learner):
    assert "Ready?" not in learner.text("/units/scalars")
    assert learner.client.post("/practice/ready/scalars").status_code == 404


def test_what_is_red_before_a_unit_names_the_lesson_that_teaches_it(learner):
    assert "Three drawn exercises" in learner.text(UNIT)

    at = learner.client.post("/practice/ready/character-model").url.path
    learner.text(at)
    at = learner.next(skip=at.rpartition("/")[2])
    while at != UNIT:
        learner.text(at)
        learner.solve(at)
        at = learner.next()

    families = [item.family for item in served(learner)]
    text = learner.text(UNIT)
    units = learner.site.course.units
    teachers = lesson_by_family(lesson for unit in units[:3] for lesson in unit.lessons)
    assert len(set(families)) == len(READY_FORMS)
    assert families[READY_FORMS.index("shapes")] == "broadcast"
    assert f"{family_words(families[0])}: left; taught by the lesson {teachers[families[0]].title}" in text
    assert text.count("right at once") == 2
    assert "Nothing is locked" in text


def test_what_was_tried_before_a_unit_is_not_taken_for_known(learner):
    learner.client.get("/units/character-model")
    at = learner.client.post("/practice/ready/character-model").url.path
    learner.text(at)
    learner.solve(at)

    async def known(db: AsyncSession) -> tuple[object, ...]:
        me = await newest(db)
        return await cards.operations_met(db, me), await cards.cards_of(db, me)

    assert learner.query(known) == (frozenset(), {})
    assert [item.right_at_once for item in served(learner)] == [True]


def take(learner: Learner, purpose: str, *, right: int) -> None:
    """Take a whole form: so many are solved at once, and the others left."""
    response = learner.client.post(f"/practice/measure/{purpose}")
    at, taken = response.url.path, 0
    while at.startswith("/practice/"):
        learner.text(at)
        if taken < right:
            learner.solve(at)
        skip = {} if taken < right else {"skip": at.rpartition("/")[2]}
        at, taken = learner.next(**skip), taken + 1
    assert taken == len(FORM_SLOTS)


def test_a_form_before_and_its_parallel_after_are_as_hard_as_each_other(learner):
    # A program with a name has few points for its level: the SiLU has 5 on the second one.
    for program in named_items(2):
        learner.change(lambda db, program=program: practice_items.store_item(db, columns_of(program)))
    take(learner, "before", right=1)
    take(learner, "after", right=len(FORM_SLOTS))

    rows = served(learner)
    items = [learner.row(f"/practice/{row.item_id}") for row in rows]
    before, after = items[: len(FORM_SLOTS)], items[len(FORM_SLOTS) :]
    for slot, first, second in zip(FORM_SLOTS, before, after, strict=True):
        assert first.forward != second.forward
        assert first.level == second.level == slot.level
        assert abs(first.points - second.points) <= 1
        assert slot.points[0] <= first.points <= slot.points[1]
    assert [row.family for row in rows] == [slot.family for slot in FORM_SLOTS] * 2
    assert "1 of 6 were right at once" in learner.text("/units/tensors")
    assert "6 of 6 were right at once; before Tensors it was 1 of 6" in learner.text("/units/collapse")


def test_the_form_after_waits_for_the_one_before(learner):
    assert "Before and after" not in learner.text("/units/collapse")
    assert learner.client.post("/practice/measure/after").status_code == 404


def test_a_form_goes_on_where_it_was_left_and_is_given_once(learner, clock):
    first = learner.client.post("/practice/measure/before").url.path
    learner.text(first)
    clock.forward(days=1)
    assert learner.client.post("/practice/measure/before").url.path == first
    learner.solve(first)
    assert "Go on: 1 of 6 done" in learner.text("/units/tensors")

    clock.forward(days=1)
    at = learner.client.post("/practice/measure/before").url.path
    while at != "/units/tensors":
        at = learner.next(skip=at.rpartition("/")[2])

    assert len(served(learner)) == len(FORM_SLOTS)
    assert learner.client.post("/practice/measure/before").url.path == "/units/tensors"


def test_practice_gives_no_item_that_is_open_on_another_occasion(learner):
    learner.client.get("/lessons/the-matrix-product")
    measured = learner.client.post("/practice/measure/before").url.path

    practised = learner.next(begin="1")

    assert practised.startswith("/practice/")
    assert practised != measured
    assert learner.client.post("/practice/measure/before").url.path == measured


def test_instructors_see_what_enough_of_a_class_gained(learner, room, group, ada, settings):
    for number in range(settings.shared_by):
        assert "Right at once" not in ada.get(f"/classes/{group.id}").text
        learner.client = room.browser(f"Learner {number}")
        room.join(group, f"Learner {number}")
        take(learner, "before", right=1)
        take(learner, "after", right=4)

    text = ada.get(f"/classes/{group.id}").text
    assert f"{settings.shared_by} learners took both forms of six. Right at once: 1.0 of 6 before, 4.0 after" in text
    assert "they see what the class gained on average" in learner.client.get(f"/classes/{group.id}").text


def test_who_writes_the_whole_at_once_may_leave_its_steps_out(learner, grader):
    assert grader
    address = "/lessons/from-the-loss-to-the-logits"
    lesson = learner.site.course.at["from-the-loss-to-the-logits"]
    whole = lesson.exercise("loss-to-logits-all")
    head = "Write all 8 gradients at once. Once that is right, you may leave its steps out."
    assert head in learner.text(address)

    learner.check(address, whole.name, whole.solution.source)

    text = learner.text(address)
    assert head not in text
    assert "you may leave them out: go on after it" in text
    assert f'href="{address}#complete">go on after it' in learner.client.get(address).text


def test_who_took_the_steps_is_offered_no_way_past_them(learner):
    address = "/lessons/from-the-loss-to-the-logits"
    lesson = learner.site.course.at["from-the-loss-to-the-logits"]
    for name in (*lesson.exercise("loss-to-logits-all").past, "loss-to-logits-all"):
        learner.check(address, name, lesson.exercise(name).solution.source)

    assert "leave" not in learner.text(address)
