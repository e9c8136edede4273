"""Training runs as a learner meets them: with and without a script, alone and beside others, through restarts."""

import asyncio
import json
import re
import sqlite3
import threading
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import Markup
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from app.engine.grader import Readiness
from app.engine.train.trainer import Trainer
from app.grading.judge.verdict import NameVerdict, Verdict
from app.store import progress
from app.store.database import now
from app.store.progress import LessonState
from app.store.tables import Progress
from app.store.trainings import FORGOTTEN, SILENCE
from app.web.application import create_app
from app.web.middleware.reports import configure_logs
from app.web.middleware.visitor import RateLimit
from app.web.routes import pages
from app.web.views import training_view
from app.web.views.training_view import train_view
from tests.engine.train.load import COURSE, SOLUTION
from tests.grading.boxes.load import OpenJail
from tests.waiting import until
from tests.web.conftest import BROWSER

pytestmark = [pytest.mark.alone, pytest.mark.jobs]

WRONG = SOLUTION.replace("- dhpreact.sum(0) ", "")
CRASHING = SOLUTION.replace("db2 = ", 'db2 = {}["<script>"] + ')
PAGE = "/lessons/names"
RUN = f"{PAGE}/train/run"
HTMX = {"hx-request": "true", "sec-fetch-site": "same-origin"}

COMPLETE = re.compile(r'<section class="complete".*?</section>', re.DOTALL)
NEVER_RAN = "dW2 = W2.grad\n"


class TrainingGrader:
    """Checks by looking at the text; trains outside of the jail, and only while *free* is set."""

    def __init__(self, names: Path | None = None) -> None:
        self.readiness = Readiness(state="ready")
        self.free = threading.Event()
        self.free.set()
        self._trainer = Trainer(OpenJail(), names)

    async def check(self, _task, code):
        if code == NEVER_RAN:
            return Verdict(outcome="refused", message="`grad` would let torch do it.", line=1)
        right = code.strip() == SOLUTION.strip()
        wrong = NameVerdict(name="dhprebn", verdict="wrong", code="dhprebn:share-missing")
        return Verdict(outcome="graded", passed=right, names=() if right else (wrong,), hidden_sizes=2)

    async def train(self, stretch):
        while not self.free.is_set():
            await asyncio.sleep(0.01)
        return await asyncio.to_thread(self._trainer.run, stretch)


@pytest.fixture
def grader():
    return TrainingGrader()


@pytest.fixture
def app(settings, grader):
    return create_app(settings, COURSE, grader)


def served(app, cookies=None):
    return TestClient(app, headers=BROWSER, cookies=cookies)


def check(client, code):
    page = client.get(PAGE)
    revision = re.search(r'id="gradients-revision" value="(\d+)"', page.text)[1]
    client.post(f"{PAGE}/code/gradients/check", data={"code": code, "revision": revision})


def start(client, preset="short", headers=None, **fields):
    return client.post(f"{RUN}/start", data={"preset": preset, **fields}, headers=headers or {})


def after_first(monkeypatch, runs, fire):
    """Have *fire* called once a watcher of *runs* was shown a first moment."""
    watch = runs.watch

    async def watched(*place):
        async for snapshot in watch(*place):
            yield snapshot
            fire()

    monkeypatch.setattr(runs, "watch", watched)


def phase(text):
    return re.search(r'class="run" data-phase="(\w+)"', text)[1]


def ended(client):
    until(lambda: "data-events" not in client.get(PAGE).text)
    return client.get(PAGE).text


def test_without_code_there_is_nothing_to_train_with(client):
    page = client.get(PAGE).text

    assert 'Check <a href="/lessons/names#gradients">your code on this page</a> first' in page
    assert "/train/run/start" not in page


def test_a_run_whose_beginning_was_not_written_down_can_be_started_again(client, app, monkeypatch):
    check(client, SOLUTION)
    database = app.state.site.database
    write = database.write

    @asynccontextmanager
    async def full(**options):
        async with write(**options) as db:
            yield db
            raise OperationalError("COMMIT", None, sqlite3.OperationalError("database or disk is full"))

    with monkeypatch.context() as disk:
        disk.setattr(database, "write", full)
        refused = start(client)

    assert refused.status_code == 503
    assert app.state.site.runs.under_way == 0
    start(client)
    assert phase(ended(client)) == "finished"


def test_every_checked_text_may_train_and_the_newest_right_one_is_chosen(client):
    for code in (WRONG, SOLUTION, CRASHING):
        check(client, code)

    page = client.get(PAGE).text

    labels = re.findall(r"<option value=\"\d+\"( selected)?>([^<]*)<", page)
    assert labels == [
        (" selected", "Check 2: all right, the latest"),
        ("", "Check 3: dhprebn is wrong"),
        ("", "Check 1: dhprebn is wrong"),
    ]
    assert "60 steps, 555 numbers that learn" in page
    assert "Loss to expect: training 2 to 4, test 0 to 0.5" in page


def test_a_plain_form_starts_a_run_that_goes_on_and_counts_as_solved(client, page):
    check(client, SOLUTION)

    answer = start(client)

    assert answer.history[0].status_code == 303
    assert answer.history[0].headers["location"] == f"{PAGE}#run"
    text = ended(client)
    assert phase(text) == "finished"
    assert "At every step the loss is that of autograd" in text
    shown = page(text)
    assert shown.attributes["run"]["data-solved"] == "true"
    assert shown.text("run-headline") == "All 60 steps are done."
    assert re.search(r"<th scope=\"row\">training</th><td>28,892</td><td>\d\.\d{4}</td>", text)
    assert "2 to 4: inside" in text
    assert "0 to 0.5: outside" in text
    assert len(re.findall(r"<td>equal (?:to the last bit|up to rounding, at most \S+ apart)</td>", text)) == 7


def test_a_run_that_ended_after_reading_counts_as_solved_at_once(client, app):
    check(client, SOLUTION)
    start(client)
    ended(client)
    site = app.state.site
    lesson = site.course.lesson("names")

    view = client.portal.call(train_view, site, lesson, lesson.exercise("run"), LessonState(), 1)

    assert view.solved


def test_a_page_counts_a_run_that_ended_while_it_was_read(client, monkeypatch):
    check(client, SOLUTION)
    start(client)
    counted = COMPLETE.search(ended(client))[0]
    read = pages._state

    async def before_it_ended(*of):
        state = await read(*of)
        return replace(state, progress={name: row for name, row in state.progress.items() if name != "run"})

    monkeypatch.setattr(pages, "_state", before_it_ended)

    assert COMPLETE.search(client.get(PAGE).text)[0] == counted


def test_to_train_is_what_comes_next_until_it_was_done(client):
    check(client, SOLUTION)
    begin = re.compile(r'data-action="start" data-primary>Train<')

    assert begin.search(client.get(PAGE).text)
    start(client)
    assert not begin.search(ended(client))


def test_a_run_that_has_changed_since_it_was_solved_says_so(client, app):
    site, lesson = app.state.site, app.state.site.course.lesson("names")
    train = lesson.exercise("run")

    async def seen(train):
        async with site.database.read() as db:
            state = await progress.lesson_state(db, 1, lesson.name, train.name)
        return train.name in state.solved, (await train_view(site, lesson, train, state, 1)).changed

    check(client, SOLUTION)
    start(client)
    until(lambda: client.portal.call(seen, train)[0])

    assert client.portal.call(seen, train) == (True, False)
    assert client.portal.call(seen, replace(train, presets=train.presets[:1])) == (True, True)


def test_what_the_author_says_to_a_right_run_stands_below_it(client, app):
    check(client, SOLUTION)
    lesson = app.state.site.course.lesson("names")
    train = replace(lesson.exercise("run"), right=Markup("Now sample."))

    def shown(solved):
        state = LessonState(progress={"run": Progress(exercise="run", hints=0, solved_at=now() if solved else None)})
        return app.state.site.pages.text(
            "_train_panel.html", view=client.portal.call(train_view, app.state.site, lesson, train, state, 1)
        )

    assert "Now sample." not in shown(False)
    assert "Now sample." in shown(True)


def test_the_script_gets_the_panel_with_a_stop_and_a_stream(client, grader):
    check(client, SOLUTION)
    grader.free.clear()

    answer = start(client, headers=HTMX)

    assert answer.status_code == 200
    assert answer.text.lstrip().startswith('<div class="train" id="run-train"')
    assert f'data-events="{RUN}/events"' in answer.text
    assert f'action="{RUN}/stop"' in answer.text
    assert 'hx-swap-oob="innerHTML:#run-status">Waiting for a grader.' in answer.text
    grader.free.set()


def test_events_tell_the_run_until_its_end(client, app, grader, monkeypatch):
    check(client, SOLUTION)
    grader.free.clear()
    start(client)
    after_first(monkeypatch, app.state.site.runs, grader.free.set)

    answer = client.get(f"{RUN}/events")

    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [event for event in answer.text.split("\n\n") if event.startswith("event:")]
    assert events[0].startswith("event: run\n")
    assert phase(events[0]) == "waiting"
    assert events[-1].startswith("event: end\n")
    assert phase(events[-1]) == "finished"
    assert 'data-solved="true"' in events[-1]
    assert all(line.startswith(("event: ", "data: ")) for event in events for line in event.split("\n"))


def test_the_attempts_of_a_learner_are_not_read_for_every_event_of_a_run(client, app, monkeypatch):
    check(client, SOLUTION)
    start(client)
    ended(client)
    runs, read = app.state.site.runs, []
    attempts_at = training_view.progress.attempts_at

    async def moments(*place):
        last = await runs.look(*place)
        for step in range(30):
            yield replace(last, phase="training", step=step)
        yield last

    async def counted(*place):
        read.append(place)
        return await attempts_at(*place)

    monkeypatch.setattr(runs, "watch", moments)
    monkeypatch.setattr(training_view.progress, "attempts_at", counted)
    answer = client.get(f"{RUN}/events")

    assert [int(step) for step in re.findall(r"event: run\b.*?Step (\d+) of", answer.text, re.DOTALL)] == [*range(30)]
    assert answer.text.count("event: end") == 1
    assert len(read) == 2


def test_head_does_not_watch_a_run(client, grader):
    check(client, SOLUTION)
    grader.free.clear()
    start(client)

    answer = client.head(f"{RUN}/events")

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert not answer.content
    grader.free.set()


def test_a_page_that_is_opened_again_shows_the_run_where_it_is(client, grader):
    check(client, SOLUTION)
    grader.free.clear()
    start(client)

    text = client.get(PAGE).text

    assert phase(text) == "waiting"
    assert "data-events" in text
    assert client.get(RUN).history[0].headers["location"] == f"{PAGE}#run"
    grader.free.set()
    assert phase(ended(client)) == "finished"


def test_a_second_run_of_the_same_learner_waits(client, grader):
    check(client, SOLUTION)
    grader.free.clear()
    start(client)

    plain, scripted = start(client), start(client, headers=HTMX)

    assert plain.status_code == 409
    assert "under way" in plain.text
    assert "A training run of yours is under way." in scripted.text
    grader.free.set()


def test_stop_ends_the_run_and_another_may_begin(client, grader):
    check(client, SOLUTION)
    grader.free.clear()
    start(client, preset="wide")
    threading.Timer(0.2, grader.free.set).start()

    answer = client.post(f"{RUN}/stop")

    text = answer.text if "data-events" not in answer.text else ended(client)
    assert phase(text) == "stopped"
    assert "of 300." in text
    assert start(client).status_code == 200
    assert phase(ended(client)) == "finished"


def test_a_wrong_version_trains_and_is_seen_to_differ_but_solves_nothing(client, page):
    check(client, WRONG)

    start(client)

    text = ended(client)
    assert phase(text) == "finished"
    assert "these gradients are not the same" in text
    assert page(text).attributes["run"]["data-solved"] == "false"


def test_an_earlier_attempt_is_replayed(client, page):
    check(client, WRONG)
    check(client, SOLUTION)
    earlier = re.findall(r"<option value=\"(\d+)\"", client.get(PAGE).text)[1]

    start(client, attempt=earlier)

    text = ended(client)
    assert "these gradients are not the same" in text
    assert "Trained with Check 1: dhprebn is wrong." in text
    assert page(text).attributes["run"]["data-solved"] == "false"


@pytest.mark.parametrize("how", ["wrong", "attempt"])
def test_a_wrong_version_that_trained_is_not_chosen_for_the_next_run(client, how):
    for code in (SOLUTION, WRONG):
        check(client, code)
    right, wrong = re.findall(r"<option value=\"(\d+)\"", client.get(PAGE).text)

    start(client, **{"attempt": right, how: wrong})
    live = client.get(PAGE).text
    text = ended(client)

    for page in (live, text):
        assert re.findall(r'<option value="(\d+)" selected>', page) == [right]
        assert "Trained with Check 2: dhprebn is wrong." in page


def test_a_button_trains_with_the_newest_wrong_version(client):
    for code in (WRONG, SOLUTION):
        check(client, code)
    before = client.get(PAGE).text
    right, wrong = re.findall(r"<option value=\"(\d+)\"", before)

    assert f'id="run-wrong" name="wrong" value="{wrong}"' in before
    start(client, attempt=right, wrong=wrong)

    assert "these gradients are not the same" in ended(client)


def test_a_text_that_never_ran_is_not_listed_and_is_no_wrong_version(client):
    for code in (WRONG, SOLUTION, NEVER_RAN):
        check(client, code)

    text = client.get(PAGE).text

    assert re.findall(r"<option value=\"\d+\"[^>]*>([^<]*)<", text) == [
        "Check 2: all right, the latest",
        "Check 1: dhprebn is wrong",
    ]
    assert re.search(r'name="wrong" value="\d+"[^>]*title="([^"]*)"', text)[1] == "Check 1: dhprebn is wrong"


def test_the_run_with_right_gradients_stays_what_was_achieved(client):
    for code in (SOLUTION, WRONG):
        check(client, code)
    right, wrong = re.findall(r"<option value=\"(\d+)\"", client.get(PAGE).text)
    start(client, attempt=right)
    ended(client)

    start(client, wrong=wrong)
    text = ended(client)

    achieved = client.get("/finish").text
    assert "In the trained model your gradients are still those of torch." in achieved
    assert "The gradients of this run were not those of torch." not in achieved
    assert "Your last run with right gradients" in text


def test_no_such_button_where_nothing_was_wrong_or_only_unfinished(client):
    check(client, SOLUTION)
    check(client, SOLUTION.replace("db2 = dlogits.sum(0)", "db2 = ____"))

    assert 'id="run-wrong"' not in client.get(PAGE).text


def test_code_that_fails_is_told_with_its_line_and_never_as_markup(client):
    check(client, CRASHING)

    start(client)

    text = ended(client)
    assert phase(text) == "failed"
    assert "Ended at step 0, in line 3 of your code:" in text
    assert "<script>&#34;" not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize("fields", [{"preset": "endless"}, {"preset": "short", "attempt": "999999"}])
def test_a_run_that_there_is_not_is_refused(client, fields):
    check(client, SOLUTION)

    answer = client.post(f"{RUN}/start", data=fields)

    assert answer.status_code == 409
    assert "There is no such run" in answer.text


def test_attempts_and_runs_of_others_cannot_be_trained_with(client, other):
    check(client, SOLUTION)
    start(client)
    mine = re.search(r"<option value=\"(\d+)\"", client.get(PAGE).text)[1]
    check(other, WRONG)

    assert start(other, attempt=mine).status_code == 409
    assert other.get(f"{RUN}/events").status_code == 404
    assert "data-phase" not in other.get(PAGE).text


@pytest.mark.parametrize("path", ["/train/gradients/start", "/train/nothing/start"])
def test_what_is_no_training_run_is_not_found(client, path):
    assert client.post(PAGE + path, data={"preset": "short"}).status_code == 404


def test_a_run_may_not_be_started_from_another_site(client):
    answer = client.post(f"{RUN}/start", data={"preset": "short"}, headers={"sec-fetch-site": "cross-site"})

    assert answer.status_code == 403


def test_a_run_is_watched_in_a_few_places_and_no_more(client, app, grader):
    check(client, SOLUTION)
    grader.free.clear()
    start(client)
    runs = app.state.site.runs
    (learner,) = runs._live
    places = [runs.watching(learner, "") for _ in range(6)]
    for place in places:
        place.__enter__()

    assert client.get(f"{RUN}/events").status_code == 429

    for place in places:
        place.__exit__(None, None, None)
    grader.free.set()
    assert "event: end" in client.get(f"{RUN}/events").text


def test_streams_end_when_the_server_stops(client, app, grader, monkeypatch):
    check(client, SOLUTION)
    grader.free.clear()
    start(client)
    runs = app.state.site.runs
    after_first(monkeypatch, runs, runs.end_streams)

    answer = client.get(f"{RUN}/events")

    assert "event: run" in answer.text
    assert "event: end" not in answer.text


def test_a_server_that_has_stopped_begins_no_run(client, app):
    check(client, SOLUTION)
    client.portal.call(app.state.site.runs.close)

    assert start(client, headers=HTMX).status_code == 429


def test_a_run_that_is_left_computes_no_further(client, app, grader, monkeypatch):
    began, left = threading.Event(), threading.Event()

    async def train(_stretch):
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    monkeypatch.setattr(grader, "train", train)
    check(client, SOLUTION)
    start(client)
    until(began.is_set)
    client.portal.call(app.state.site.runs.close)

    until(left.is_set)


def test_the_outcome_of_a_run_stays_while_another_goes_on_or_stops(client, grader):
    check(client, SOLUTION)
    start(client)
    first = re.search(r'<th scope="row">test</th><td>[^<]*</td><td>([^<]*)<', ended(client))[1]
    grader.free.clear()

    live = start(client, preset="wide", headers=HTMX).text
    threading.Timer(0.2, grader.free.set).start()
    client.post(f"{RUN}/stop")
    text = ended(client)

    assert phase(text) == "stopped"
    for shown in (live, text, client.get("/finish").text):
        assert f"{float(first):.3f} (test)" in shown


def test_a_run_goes_on_after_a_restart_and_the_log_says_which(settings, grader, capsys):
    with served(create_app(settings, COURSE, grader)) as client:
        check(client, SOLUTION)
        grader.free.clear()
        start(client)
        cookies = client.cookies

    configure_logs(plain=False)
    with served(create_app(settings, COURSE, TrainingGrader()), cookies) as client:
        text = ended(client)
        assert phase(text) == "finished"
        assert "At every step the loss is that of autograd" in text
    configure_logs(plain=True)

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    (taken,) = (line for line in lines if line["event"] == "training-taken-over")
    assert (taken["lesson"], taken["exercise"]) == ("names", "run")


def test_a_killed_server_is_noticed_by_its_silence_and_its_run_goes_on(monkeypatch, settings, grader):
    app = create_app(settings, COURSE, grader)
    with served(app) as client:
        check(client, SOLUTION)
        grader.free.clear()
        start(client)
        cookies = client.cookies
        (driven,) = app.state.site.runs._live.values()
        driven._record = nothing  # a killed process writes nothing down

    other = create_app(settings, COURSE, TrainingGrader())
    with served(other, cookies) as client:
        text = client.get(PAGE).text
        assert phase(text) == "waiting"
        assert start(client).status_code == 409
        later = now() + SILENCE
        monkeypatch.setattr("app.store.trainings.now", lambda: later)
        client.portal.call(other.state.site.runs.take_over)
        assert phase(ended(client)) == "finished"


def test_a_run_whose_state_cannot_be_read_is_told_as_ended(settings, grader):
    with served(create_app(settings, COURSE, grader)) as client:
        check(client, SOLUTION)
        grader.free.clear()
        start(client)
        cookies = client.cookies
    with closing(sqlite3.connect(settings.data_dir / "backhand.db")) as db, db:
        assert db.execute("UPDATE training_run SET checkpoint_json = '{}'").rowcount == 1

    with served(create_app(settings, COURSE, TrainingGrader()), cookies) as client:
        until(lambda: phase(client.get(PAGE).text) == "lost")
        assert start(client).status_code == 200


def test_a_run_that_nobody_went_on_with_is_told_as_what_it_is(monkeypatch, settings, grader):
    with served(create_app(settings, COURSE, grader)) as client:
        check(client, SOLUTION)
        grader.free.clear()
        start(client)
        cookies = client.cookies

    later = now() + FORGOTTEN
    monkeypatch.setattr("app.store.trainings.now", lambda: later)
    with served(create_app(settings, COURSE, TrainingGrader()), cookies) as client:
        text = client.get(PAGE).text
        assert phase(text) == "lost"
        assert "The server ended while this run was going, so it ended at step 0." in text
        start(client)
        assert phase(ended(client)) == "finished"


def test_a_run_that_is_left_is_stopped_by_any_server(settings, grader):
    with served(create_app(settings, COURSE, grader)) as client:
        check(client, SOLUTION)
        grader.free.clear()
        start(client)
        cookies = client.cookies

    app = create_app(settings, COURSE, TrainingGrader())
    app.state.site.runs.take_over = nothing
    with served(app, cookies) as client:
        assert phase(client.get(PAGE).text) == "waiting"
        assert phase(client.post(f"{RUN}/stop").text) == "stopped"
        assert phase(client.get(PAGE).text) == "stopped"


async def nothing(*_, **__):
    return "go on"


def test_names_that_cannot_be_read_are_told_before_anything_runs(settings, tmp_path):
    broken = settings.model_copy(update={"names": tmp_path / "nothing.txt"})
    with served(create_app(broken, COURSE, TrainingGrader())) as client:
        check(client, SOLUTION)

        answer = start(client, headers=HTMX)

        assert "The names to train on cannot be used on this server" in answer.text
        assert "data-phase" not in answer.text


def test_the_hint_of_a_run_opens(client):
    check(client, SOLUTION)

    answer = client.post(f"{RUN}/hint")

    assert "Press the button." in answer.text


def test_many_learners_train_beside_each_other(client, grader):
    grader.free.clear()
    sessions = []
    for _ in range(4):
        client.cookies.clear()
        check(client, SOLUTION)
        assert start(client).status_code == 200
        sessions.append(dict(client.cookies))
    assert len({one["session"] for one in sessions}) == 4
    grader.free.set()

    for one in sessions:
        client.cookies.clear()
        client.cookies.update(one)
        assert phase(ended(client)) == "finished"


def test_a_lesson_whose_box_is_not_shown_says_so(settings, grader):
    lesson = COURSE.lessons[0]
    blocks = tuple(
        replace(one, uses="elsewhere#box") if getattr(one, "name", "") == "run" else one for one in lesson.blocks
    )
    unit = replace(COURSE.units[0], lessons=(replace(lesson, blocks=blocks),))
    with TestClient(create_app(settings, replace(COURSE, units=(unit,)), grader)) as client:
        assert "cannot be shown just now" in client.get(PAGE).text


@pytest.fixture
def spent(app, client):
    """A learner with code to train with, who has asked for as much as a minute allows."""
    check(client, SOLUTION)
    app.state.site.checks._allowance = RateLimit(1)
    app.state.site.checks.spend(1)
    return client


def test_a_start_counts_as_a_check_and_is_put_off_in_the_panel(spent, page):
    answer = start(spent, headers=HTMX)

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "60")
    assert page(answer.text).attributes["run-train"]["data-said"].startswith("You made more than 1 checks")
    assert "data-events" not in spent.get(PAGE).text


def test_a_plain_start_that_is_put_off_is_a_page_that_leads_back(spent):
    answer = start(spent)

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "60")
    assert f'href="{PAGE}#run"' in answer.text


def test_more_runs_than_the_server_takes_are_put_off(client, monkeypatch):
    monkeypatch.setattr("app.web.training_runs.MOST_RUNS", 0)
    check(client, SOLUTION)
    answer = start(client, headers=HTMX)

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "60")
    assert "Too many training runs" in answer.text


def test_where_no_code_is_run_no_training_begins_and_nobody_is_blamed(app, grader):
    with served(app) as client:
        check(client, SOLUTION)
        grader.readiness = Readiness(state="refused", reason="seccomp is missing.")
        answer = start(client, headers=HTMX)

        assert (answer.status_code, answer.headers["retry-after"]) == (429, "30")
        assert "this says nothing about yours. It is saved." in answer.text
        assert 'class="run"' not in client.get(PAGE).text
        grader.readiness = Readiness(state="ready")
        assert start(client, headers=HTMX).status_code == 200
