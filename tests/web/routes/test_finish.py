"""The closing page says what was made, and nothing that was not."""

import asyncio
import re
from dataclasses import replace

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.content.blocks import Course, Grad
from app.engine.json_columns import decoded_verdict, to_json_column
from app.engine.train.snapshot import GradientComparison, Point, SampledNames, Snapshot, SplitLoss
from app.grading.judge.verdict import NameVerdict, Verdict
from app.store import learners, progress, trainings
from app.store.database import now
from app.web.application import renames_of
from app.web.views import lamps
from app.web.views.run_view import FinishedRun
from tests.courses import LESSONS, course_in

COURSE = course_in(LESSONS)
EXAM = ("first-layer-and-exam", "exam")
RUN = Snapshot(
    phase="finished",
    steps=2000,
    step=2000,
    judged=(SplitLoss(part="test", rows=10, own=2.4123, reference=2.4123),),
    sampled=(SampledNames(step=2000, names=("kaleith", "quinnar")),),
    compared=(GradientComparison(name="C", shape=(27, 10), exact=False, approx=True, maxdiff=1e-8),),
)


@pytest.fixture(scope="module")
def course() -> Course:
    return COURSE


@pytest.fixture
def learner(app: FastAPI, client: TestClient) -> int:
    """Somebody who has opened a lesson, and is the learner of *client*."""
    client.get("/lessons/the-machine")

    async def known() -> int:
        async with app.state.site.database.read() as db:
            found = await learners.find_session_learner(db, client.cookies["session"])
        assert found is not None
        return found.learner

    return asyncio.run(known())


@pytest.fixture
def write(app: FastAPI, learner: int):
    """Writes into the database: `write(function, *arguments)` calls it with the session and the learner."""

    def call(function, *arguments, **options):
        async def run():
            async with app.state.site.database.write() as db:
                return await function(db, learner, *arguments, **options)

        return asyncio.run(run())

    return call


def solve(write, *pairs: tuple[str, str]) -> None:
    async def all_at_once(db, learner: int) -> None:
        for lesson, exercise in pairs:
            await progress.mark_solved(db, learner, lesson, exercise)

    write(all_at_once)


def everything() -> list[tuple[str, str]]:
    return [(lesson.name, one.name) for lesson in COURSE.lessons for one in lesson.exercises]


def test_who_has_done_nothing_has_made_nothing(client: TestClient) -> None:
    text = client.get("/finish").text

    assert "Nothing is made yet" in text
    assert "0 of 26 are right" in text
    assert 'data-done="true"' not in text
    assert "/finish" not in client.get("/").text


def test_a_gradient_counts_once_its_box_is_solved(client: TestClient, write) -> None:
    solve(write, ("loss-to-logits", "dlogprobs"))

    text = client.get("/finish").text

    assert "What you have made so far" in text
    assert "1 of 26 is right" in text
    assert "Exam passed" not in text
    assert 'href="/finish"' in client.get("/").text


def test_gradients_that_were_right_in_the_exam_count(client: TestClient, write) -> None:
    names = (NameVerdict(name="dC", verdict="right"), NameVerdict(name="db1", verdict="wrong"))
    verdict = to_json_column(Verdict(outcome="graded", names=names))
    write(
        progress.record_attempt, *EXAM, progress.NewAttempt(kind="code", text="dC = 1", verdict=verdict, correct=False)
    )

    assert "1 of 26 is right" in client.get("/finish").text
    assert "Right so far: 1 of the 26" in client.get("/lessons/the-machine").text
    solve(write, ("the-machine", "shapes-loss"))
    assert "26 gradients, and you have written 1 of them" in client.get("/").text


def test_a_slip_in_a_later_check_of_the_exam_puts_out_no_lamp(client: TestClient, write) -> None:
    for number, verdict in enumerate(("right", "wrong")):
        names = (NameVerdict(name="dC", verdict=verdict), NameVerdict(name="db1", verdict="follows"))
        stored = to_json_column(Verdict(outcome="graded", names=names))
        attempt = progress.NewAttempt(kind="code", text=f"dC = {number}", verdict=stored, correct=False)
        write(progress.record_attempt, *EXAM, attempt)

    assert "Right so far: 1 of the 26" in client.get("/lessons/the-machine").text


def test_the_verdict_of_a_check_of_the_exam_is_read_once_for_lamps(client: TestClient, write, monkeypatch) -> None:
    decoded = []
    monkeypatch.setattr(lamps, "decoded_verdict", lambda text: decoded.append(text) or decoded_verdict(text))
    names = (NameVerdict(name="dC", verdict="right"),)
    stored = to_json_column(Verdict(outcome="graded", names=names))
    for number in range(3):
        attempt = progress.NewAttempt(kind="code", text=f"dC = {number}", verdict=stored, correct=False)
        write(progress.record_attempt, *EXAM, attempt)
        assert "Right so far: 1 of the 26" in client.get("/lessons/the-machine").text

    assert len(decoded) == 3


def test_lamps_of_a_passed_exam_read_no_check_of_it(client: TestClient, write, monkeypatch) -> None:
    decoded = []
    monkeypatch.setattr(lamps, "decoded_verdict", lambda text: decoded.append(text) or decoded_verdict(text))
    stored = to_json_column(Verdict(outcome="graded", names=(NameVerdict(name="dC", verdict="wrong"),)))
    attempt = progress.NewAttempt(kind="code", text="dC = 1", verdict=stored, correct=False)
    write(progress.record_attempt, *EXAM, attempt)
    solve(write, EXAM)

    assert "Right so far: 26 of the 26" in client.get("/lessons/the-machine").text
    assert not decoded


def test_what_the_exam_asks_for_is_in_hand_once_it_is_passed(client: TestClient, write) -> None:
    told = "A gradient for a lookup in which"
    assert f"Done: </span>{told}" not in client.get("/finish").text
    solve(write, EXAM)

    assert f"Done: </span>{told}" in client.get("/finish").text
    assert "Still open: </span>The <a" in client.get("/finish").text, "shapes are in no exam"


def test_the_exam_has_a_badge_with_its_day(client: TestClient, write) -> None:
    solve(write, EXAM)

    text = client.get("/finish").text

    assert "Exam passed" in text
    assert str(now().year) in text
    assert text.count('<li data-done="true"><a') == 26


def test_the_exam_shows_its_badge_where_it_was_passed_and_not_before(client: TestClient) -> None:
    page = "/lessons/first-layer-and-exam"
    lesson = COURSE.lesson("first-layer-and-exam")
    assert lesson is not None
    exam = lesson.exercise("exam")
    assert isinstance(exam, Grad)
    assert "Exam passed" not in client.get(page).text

    for code, badges in (("dC = 1\n", 0), (exam.solution.source, 1)):
        revision = re.search(r'id="exam-revision" value="(\d+)"', client.get(page).text)
        assert revision is not None
        answer = client.post(f"{page}/code/exam/check", data={"code": code, "revision": revision[1]})

        assert answer.text.count("Exam passed") == badges
    assert "All 26 gradients in one box, without a hint." in client.get(page).text


def test_a_deliverable_is_ticked_when_all_it_links_to_is_done(client: TestClient, write) -> None:
    solve(write, ("fused-batch-norm", "fused-bn"))
    assert "Still open: </span>Batch normalisation backwards" in client.get("/units/collapse").text

    solve(write, ("fused-batch-norm", "biased-bn"))
    assert "Done: </span>Batch normalisation backwards" in client.get("/units/collapse").text
    assert "Done: </span>Batch normalisation backwards" in client.get("/finish").text


def test_a_run_that_a_later_one_has_replaced_is_not_denied(client: TestClient, write) -> None:
    solve(write, ("training", "run"))

    assert "was replaced by one that has not gone to its end" in client.get("/finish").text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "In the trained model your gradients are still those of torch."),
        (
            {"compared": (GradientComparison(name="C", shape=(27, 10), exact=False, approx=False, maxdiff=1.0),)},
            "The gradients of this run were not those of torch.",
        ),
        ({"compared": ()}, "2,000 steps"),
        ({"phase": "stopped"}, "No training run has gone to its end yet."),
    ],
)
def test_a_training_run_is_shown_as_it_was(client: TestClient, write, changes, said: str) -> None:
    run = Snapshot(**{name: getattr(RUN, name) for name in RUN.__slots__} | changes)
    begun = trainings.NewTrainingRun(
        lesson="training",
        exercise="run",
        preset="short",
        attempt_id=None,
        passing=True,
        run=to_json_column(run),
        owner="o",
        checkpoint="h",
    )
    write(trainings.begin_training, begun)
    end(write, run)

    text = client.get("/finish").text

    assert said in text
    assert ("2.412 (test)" in text) == ("kaleith" in text) == ("stopped" not in changes.values())
    assert ("Kaleith</span>&nbsp;<span" in text) == ("kaleith" in text), "no line begins with the dot between two"


def test_a_finished_run_outlives_one_that_is_stopped(client: TestClient, write) -> None:
    begun = trainings.NewTrainingRun(
        lesson="training",
        exercise="run",
        preset="short",
        attempt_id=None,
        passing=True,
        run="",
        owner="o",
        checkpoint="h",
    )
    stopped = replace(RUN, phase="stopped", step=40, judged=(), sampled=(), compared=())
    for run in (RUN, stopped):
        write(trainings.begin_training, replace(begun, run=to_json_column(run)))
        end(write, run)

    shown = [client.get(path).text for path in ("/finish", "/lessons/training")]

    for text in shown:
        assert "2.412 (test)" in text
        assert "kaleith" in text
    assert "Stopped at step 40 of 2,000." in shown[1]
    assert "Your last run with right gradients" in shown[1]


def test_the_last_finished_run_is_the_one_that_is_shown(client: TestClient, write) -> None:
    begun = trainings.NewTrainingRun(
        lesson="training",
        exercise="run",
        preset="short",
        attempt_id=None,
        passing=True,
        run="",
        owner="o",
        checkpoint="h",
    )
    later = replace(RUN, judged=(SplitLoss(part="test", rows=10, own=2.3001, reference=2.3001),))
    for run in (RUN, later):
        write(trainings.begin_training, replace(begun, run=to_json_column(run)))
        end(write, run)

    assert "2.300 (test)" in client.get("/finish").text
    assert "Your last run with right gradients" not in client.get("/lessons/training").text


def end(write, run: Snapshot) -> None:
    finished = run.phase == "finished"
    write(
        trainings.record_training, "training", "run", to_json_column(run), owner="o", live=run.live, finished=finished
    )


def test_a_finished_course_ends_there(client: TestClient, write) -> None:
    solve(write, *everything())

    assert "See what you have made" in client.get("/").text
    text = client.get("/finish").text
    assert "You have been all the way back" in text
    assert "Still open" not in text.replace("Still open: ", "")
    assert 'data-done="false"' not in text


def test_every_unit_page_can_be_read_by_who_has_done_all(client: TestClient, write) -> None:
    solve(write, *everything())

    for unit in COURSE.units:
        text = client.get(f"/units/{unit.slug}").text
        assert "exercises done" in text
        assert "Go on with" not in text


def test_what_a_lesson_builds_on_is_a_soft_gate(client: TestClient, write) -> None:
    text = client.get("/lessons/the-machine").text
    assert "Nothing is locked" in text
    assert "0 of" in text

    lesson = COURSE.lesson("a-comparison-you-can-trust")
    assert lesson is not None
    solve(write, *((lesson.name, one.name) for one in lesson.exercises))
    text = client.get("/lessons/the-machine").text
    assert "(done)" in text
    assert "if you know that already" not in text


def test_a_finished_run_shows_its_curve_and_its_names_in_large(client: TestClient, write) -> None:
    run = replace(
        RUN, numbers=4137, points=(Point(step=1, own=3.3, reference=3.3), Point(step=2000, own=2.4, reference=2.4))
    )
    begun = trainings.NewTrainingRun(
        lesson="training",
        exercise="run",
        preset="short",
        attempt_id=None,
        passing=True,
        run="",
        owner="o",
        checkpoint="h",
    )
    write(trainings.begin_training, replace(begun, run=to_json_column(run)))
    end(write, run)

    text = client.get("/finish").text

    named = text.partition('class="invented"')[2].partition("</figure>")[0]
    assert re.findall(r"<span>(\w+)</span>", named) == ["Kaleith", "Quinnar"]
    assert 'in <a href="/lessons/training#run">Training without backward()</a>, of 4,137 numbers.' in named
    assert "Loss over 2,000 steps, from 3.30 to 2.40" in text


LAMP = '<li data-done="{}"><a href="{}"><code>{}</code>'


@pytest.mark.parametrize(
    "slug", [lesson.slug for lesson in next(one for one in COURSE.units if one.slug == "character-model").lessons]
)
def test_every_lesson_of_the_unit_with_the_exam_shows_its_lamps(client: TestClient, write, slug: str) -> None:
    solve(write, ("loss-to-logits", "dprobs"), ("linear-layer-and-tanh", "nothing"))

    text = client.get(f"/lessons/{slug}").text
    lamps = text.partition('class="lamps"')[2].partition("</nav>")[0]

    assert lamps.count("<li ") == 26
    assert LAMP.format("true", "/lessons/from-the-loss-to-the-logits#dprobs", "dprobs") in lamps
    assert LAMP.format("false", "/lessons/first-layer-and-exam#scatter", "dC") in lamps
    assert "Right so far: 1 of the 26 gradients" in lamps


def test_a_check_that_passes_lights_the_lamp_on_the_page(client: TestClient) -> None:
    box = next(one for lesson in COURSE.lessons for one in lesson.exercises if one.name == "dprobs")
    assert isinstance(box, Grad)

    answer = client.post(
        "/lessons/from-the-loss-to-the-logits/code/dprobs/check",
        data={"code": box.solution.source, "revision": 0},
        headers={"hx-request": "true"},
    ).text

    lamps = answer.partition('id="lamps"')[2].partition("</nav>")[0]
    assert 'hx-swap-oob="true"' in lamps
    assert LAMP.format("true", "/lessons/from-the-loss-to-the-logits#dprobs", "dprobs") in lamps
    assert lamps.count('data-done="true"') == 1


def test_a_round_of_the_exam_lights_all_of_its_lamps(client: TestClient, write) -> None:
    solve(write, ("first-layer-and-exam", "exam-middle"))

    assert "Right so far: 13 of the 26 gradients" in client.get("/lessons/the-machine").text


def test_three_failed_exams_show_where_its_lines_are_practised(client: TestClient) -> None:
    box = "/lessons/first-layer-and-exam/code/exam/check"
    said = [
        "Stuck on one line?" in client.post(box, data={"code": f"dC = {at}", "revision": 0}).text for at in range(4)
    ]

    assert said == [False, False, True, True]


def test_the_map_of_the_machine_waits_for_all_of_its_shapes(client: TestClient, write) -> None:
    rows = COURSE.at["the-machine"].sheets["shapes"].rows
    picture = "The 20 statements as a graph"
    solve(write, *(("the-machine", row.name) for row in rows[1:]))
    before = client.get("/lessons/the-machine").text
    solve(write, ("the-machine", rows[0].name))

    assert picture not in before
    assert picture in client.get("/lessons/the-machine").text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("the-machine", "reading-a-comparison"), ("comparison", "which-scale")),
        (("loss-to-logits", "axes-counts-sum-inv"), ("loss-to-logits", "shares-of-a-column")),
        (("batch-norm-in-pieces", "axes-bnmeani"), ("batch-norm-in-pieces", "shares-of-a-gain")),
    ],
)
def test_what_was_stored_moves_along_in_the_character_model(old: tuple[str, str], new: tuple[str, str]) -> None:
    assert renames_of(COURSE)[progress.ResumePoint(*old)] == progress.ResumePoint(*new)


def test_other_lessons_have_no_lamps(client: TestClient) -> None:
    assert 'class="lamps"' not in client.get("/lessons/training").text


def test_a_unit_says_how_long_it_takes_and_what_comes_of_it(client: TestClient) -> None:
    text = client.get("/units/character-model").text

    assert "About 3 h 40 min" in text
    assert "What you will have made" in text
    assert 'href="/units/collapse"' in text
    assert 'href="/units/tensors"' in text
    assert "Begin with A comparison you can trust" in text


def test_after_the_exam_every_page_names_the_same_next_step(client: TestClient, write) -> None:
    client.post("/lessons/first-layer-and-exam/code/exam/check", data={"code": "dC = 1", "revision": 0})
    solve(write, EXAM, (EXAM[0], "kept-by-the-exam"))

    def pages() -> tuple[str, str, str]:
        return (client.get("/").text, client.get("/units/character-model").text, client.get("/units/collapse").text)

    def following(text: str) -> list[str]:
        return re.findall(r'data-state="next">.*?<a href="([^"]+)"', text, re.DOTALL)

    index, own, later = pages()
    assert 'href="/lessons/first-layer-and-exam#machine-run">Continue where you left off' in index
    assert 'data-primary href="/lessons/first-layer-and-exam#machine-run">Go on with' in own
    assert following(index) == following(own) == ["/lessons/first-layer-and-exam"]
    assert 'href="/lessons/softmax-and-cross-entropy-in-one-line">Begin with' in later
    assert 'You are at <a href="/lessons/first-layer-and-exam#machine-run">' in later
    assert 'class="button" data-primary' not in later

    solve(write, (EXAM[0], "machine-run"))  # what the exam leads past is open, and is not next
    index, own, later = pages()
    (href,) = following(index)
    assert href == "/lessons/softmax-and-cross-entropy-in-one-line"
    assert f'href="{href}">Go on with the next lesson' in index
    assert f'data-primary href="{href}">Begin with' in later
    assert following(own) == []
    assert f'You are at <a href="{href}">' in own


def test_the_names_that_read_best_are_set_large() -> None:
    names = ("hlvithimish", "th", "kaleith", "qrx", "amara", "marin", "kaleith", "", "fllelfrim", "selina")
    run = FinishedRun(replace(RUN, sampled=(SampledNames(step=2000, names=names),)), (0.1, 0.01))

    assert set(run.best) == {"amara", "marin", "selina", "kaleith"}
    assert run.names[0] == "hlvithimish"


def test_a_name_of_the_list_is_not_called_invented() -> None:
    names = ("amara", "selina", "delia")
    run = FinishedRun(
        replace(RUN, sampled=(SampledNames(step=2000, names=names),)), (0.1, 0.01), known=frozenset({"delia"})
    )

    assert set(run.best) == set(run.names) == {"amara", "selina"}


def test_home_asks_to_train_until_the_gradients_have_trained_a_model(client: TestClient, write) -> None:
    exam = COURSE.lesson(EXAM[0])
    unit = next(one for one in COURSE.units if exam in one.lessons)
    solve(write, *((one.name, exercise.name) for one in unit.lessons for exercise in one.all_of(Grad)))
    train = re.search(r'<a href="/lessons/([\w-]+)#([\w-]+)">Train a model with them', client.get("/").text)
    assert train is not None

    solve(write, (COURSE.at[train[1]].name, train[2]))

    home = client.get("/").text
    assert "Train a model with them" not in home
    assert 'They have trained a model: <a href="/finish">what it made</a>.' in home
