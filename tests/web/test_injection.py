"""Text that wants to be more than text: as markup, as a header, as a line of the log, as somebody else's session.

Whatever a learner writes, or their code prints, names or fails with, is shown as text in every view that shows it.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from html import unescape
from itertools import product
from urllib.parse import quote

import nbformat
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.engine.grader import Nudge, RunResult
from app.engine.json_columns import to_json_column
from app.engine.train.snapshot import GradientComparison, Point, SampledNames, Snapshot
from app.grading.judge.run_reports import ShownValue
from app.grading.judge.verdict import Differences, NameVerdict, Verdict, Worst
from app.settings import Settings
from app.store import learners, trainings
from app.store.database import Database
from app.store.trainings import NewTrainingRun
from app.web.application import create_app
from app.web.middleware.reports import configure_logs
from app.web.middleware.security import FROM_PLATFORMS
from tests.engine.train.load import COURSE as TRAINING
from tests.turns import PAGES
from tests.web.asking import CANARY, Ask, Elements, asking, headers_of, path_of, routes_of, sound
from tests.web.conftest import BROWSER, FakeGrader

LESSON = "/lessons/linear"
BOX = f"{LESSON}/code/linear-backward"
HTMX = {"hx-request": "true"}
PAYLOADS = {
    "element": f"<{CANARY} onclick=window.x=1>",
    "attribute": f'" {CANARY}=1 onmouseover="window.x=1',
    "single quote": f"' {CANARY}=1 onfocus='window.x=1' autofocus='",
    "script": "</script><script>window.x=1</script>",
    "textarea": f"</textarea></pre></code></title><{CANARY}>",
    "svg": f"</text></svg><svg onload=window.x=1><{CANARY}/></svg>",
    "math": f"<math><mtext></form><form><mglyph><style></math><img src=x onerror=window.x=1><{CANARY}>",
    "address": "javascript:window.x=1//",
    "comment": f"--><{CANARY}><!--",
    "entity": f"&lt;{CANARY}&gt;&#60;{CANARY}&#62;&quot;",
    "template": "{{ 7*7 }}{% raw %}${7*7}",
    "code marks": f"`<{CANARY}>`[a](javascript:window.x=1)<https://x>$\\href{{javascript:window.x=1}}{{x}}$",
    "htmx": f'" hx-get="/x" hx-trigger="load" {CANARY}="',
    "bytes": f"\x00\x08\x1b[31m\x7f\u202e\ufeff <{CANARY}>",
    "line ends": f"\r\n\r\n<{CANARY}>\u2028<{CANARY}>",
}
AT_ONCE = "\n".join(PAYLOADS.values())
"""Each is text or none is: what looks at every element finds any of them. Alone, they fit into shorter fields."""
SHORT = ("element", "attribute", "script", "template", "line ends")
payloads = pytest.mark.parametrize(
    "payload",
    [
        pytest.param(AT_ONCE, id="all at once"),
        *(
            pytest.param(one, id=name, marks=() if name in SHORT else pytest.mark.prove)
            for name, one in PAYLOADS.items()
        ),
    ],
)


class Hostile(FakeGrader):
    """Says back what it was given, wherever a grader may say something."""

    async def check(self, task, code) -> Verdict:
        evil = code.strip()
        rows = tuple(
            NameVerdict(
                name=name,
                verdict="wrong",
                code=f"{name}:{evil}"[:150],
                message=evil,
                note=evil,
                word=evil,
                exact=False,
                approx=False,
                maxdiff=1.0,
                line=1,
                worst=(Worst(index=(1, 2), yours=float("nan"), off=float("nan"), ratio=None),),
                differences=Differences(rows=("a.?", "Lb."), largest=float("inf"), shape=(2, 3), pattern=evil),
            )
            for name in (task.grad.require[0], evil)
        )
        outcome = "error" if "error" in evil else "graded"
        return Verdict(outcome=outcome, names=rows, message=evil, line=1, column=1, printed=evil, hidden_sizes=1)

    async def run(self, _task, code) -> RunResult:
        shown = ShownValue(name=code, shape=(3, 2), dtype=code, text=code)
        return RunResult(outcome="graded", shown=(shown,), printed=code, message=code)

    async def nudge(self, _task, code, name, entry) -> Nudge:
        said = f"{code}{name}{entry}"
        return Nudge(outcome="graded", name=said, entry=(1,), loss=said, own=None, message=said, note=said)


@pytest.fixture
def grader() -> FakeGrader:
    return Hostile()


def foreign(response) -> list[str]:
    assert response.status_code < 500
    return Elements(response.text).foreign


def sent(client: TestClient, action: str, code: str, **more: object):
    return client.post(f"{BOX}/{action}", data={"code": code, "revision": 0, **more}, headers=HTMX)


@pytest.mark.in_turn(turns=4, places=PAGES)
@payloads
def test_what_a_submission_says_is_text_in_every_view(client: TestClient, payload: str) -> None:
    views = [
        sent(client, "check", payload),
        sent(client, "check", f"{payload} error"),
        sent(client, "run", payload),
        sent(client, "nudge", payload, nudge=payload[:100], **{f"entry-{payload[:100]}": payload}),
        client.post(f"{BOX}/nudge", data={"code": payload, "revision": 0, "nudge": payload[:100]}),
        sent(client, "history", payload),
        sent(client, "restore", f"{payload} again", at=0),
        sent(client, "reset", payload, confirm="yes"),
        sent(client, "solution", payload),
        sent(client, "hint", payload),
        client.get(LESSON),
        client.get(f"{BOX}/history"),
        *(client.get(f"{BOX}/history", params={"at": at}, headers=HTMX) for at in (1, 2, 3)),
    ]

    assert [foreign(view) for view in views] == [[]] * len(views)
    assert CANARY in views[0].text or CANARY not in payload, "the payload must be shown to prove anything"


@pytest.mark.in_turn(turns=4, places=PAGES)
@payloads
def test_an_answer_is_text_wherever_it_is_repeated(client: TestClient, payload: str) -> None:
    data = {"answer": [payload, payload], "left": payload, "right": payload, "left_transposed": payload}
    for quiz in ("dw-shape", "half", "pick", "both", "db-axes", "dw-product"):
        answered = client.post(f"{LESSON}/quiz/{quiz}", data=data, headers=HTMX)

        assert foreign(answered) == [], quiz
    assert foreign(client.get(LESSON)) == []


@pytest.mark.in_turn(turns=4, places=PAGES)
@payloads
def test_an_address_is_text_on_the_page_that_it_leads_to(client: TestClient, payload: str) -> None:
    shown = quote(payload, safe="")
    for path in (f"/{shown}", f"/lessons/{shown}", f"{LESSON}/quiz/{shown}", f"/units/{shown}"):
        for headers in ({}, HTMX):
            assert foreign(client.get(path, headers=headers)) == []
    for name in ("ask", "emptied", "at", "blank"):
        assert foreign(client.get(LESSON, params={name: payload.encode("utf-8", "replace")})) == []


@payloads
def test_what_a_browser_says_of_itself_is_not_repeated(app: FastAPI, client: TestClient, payload: str) -> None:
    assert client
    raw = payload.encode("utf-8", "replace").replace(b"\r\n", b"%0d%0a").replace(b"\0", b"")
    names = (b"user-agent", b"referer", b"hx-target", b"hx-current-url", b"hx-prompt", b"accept-language")
    cookies = [(b"cookie", b"theme=" + raw + b"; session=" + raw)]
    with asking(app) as asker:
        for path in ("/", LESSON, "/nope"):
            answer = asker(Ask("GET", path, (*((name, raw) for name in names), *cookies)))
            sound(answer)
            assert CANARY not in answer.text


@pytest.mark.in_turn(turns=4, places=PAGES)
@payloads
def test_in_an_exported_lesson_a_submission_stays_where_it_belongs(client: TestClient, payload: str) -> None:
    sent(client, "draft", f"# {payload}")
    client.post(f"{LESSON}/quiz/half", data={"answer": payload})

    files = {form: client.get(f"{LESSON}/export.{form}") for form in ("ipynb", "py", "md")}

    for form, file in files.items():
        assert file.headers["content-disposition"] == f'attachment; filename="linear.{form}"'
        assert file.headers["x-content-type-options"] == "nosniff"
        assert not file.headers["content-type"].startswith("text/html")
    notebook = nbformat.reads(files["ipynb"].text, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            assert f"<{CANARY}" not in re.sub(r"(?s)(`+).*?\1", "", cell.source), cell.source


@pytest.mark.in_turn(turns=4, places=PAGES)
@payloads
def test_names_that_a_model_invents_and_errors_of_its_training_are_text(settings: Settings, payload: str) -> None:
    snapshot = Snapshot(
        phase="failed",
        steps=60,
        step=20,
        source=payload,
        message=payload,
        line=1,
        points=(Point(step=10, own=3.0, reference=None), Point(step=20, own=2.0, reference=1.0)),
        sampled=(SampledNames(step=20, names=(payload, payload)),),
        compared=(GradientComparison(name=payload, shape=(1,), exact=False, approx=False, maxdiff=None),),
    )
    app = create_app(settings, TRAINING, Hostile())
    with TestClient(app, headers=BROWSER) as client:
        client.get("/lessons/names")
        for one in (snapshot, replace(snapshot, phase="finished")):
            asyncio.run(_stored(settings, client.cookies["session"], one, preset=payload[:50]))
            views = [
                client.get("/lessons/names"),
                client.get("/lessons/names/train/run", headers=HTMX),
                client.get("/finish"),
            ]

            assert [foreign(view) for view in views] == [[], [], []]
            assert CANARY in views[0].text or CANARY not in payload


async def _stored(settings: Settings, token: str, snapshot: Snapshot, preset: str) -> None:
    database = Database(settings.resolved_database_url)
    lesson = TRAINING.lessons[0].name
    async with database.write() as db:
        known = await learners.find_session_learner(db, token)
        assert known is not None
        begun = NewTrainingRun(
            lesson=lesson,
            exercise="run",
            preset=preset,
            attempt_id=None,
            passing=False,
            run=to_json_column(snapshot),
            owner="o",
            checkpoint="h",
        )
        await trainings.begin_training(db, known.learner, begun)
        await trainings.record_training(
            db, known.learner, lesson, "run", to_json_column(snapshot), owner="o", live=False
        )
    await database.close()


class TestForgedRequests:
    """Every route that changes something, as another site would send it."""

    ORIGINS = (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "origin": "http://testserver"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"referer": "http://evil.example"},
    )
    KINDS = ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "application/json")

    @pytest.mark.in_turn(turns=4, places=PAGES)
    @pytest.mark.parametrize("origin", ORIGINS, ids=str)
    def test_each_is_refused_and_stores_nothing(self, app: FastAPI, client: TestClient, origin) -> None:
        client.get(LESSON)
        cookie = client.cookies["session"]
        safe = ("GET", "HEAD", "OPTIONS")
        written = [one for one in routes_of(app) if one[0] not in safe and one[1] not in FROM_PLATFORMS]
        assert len(written) > 8
        before = client.get(LESSON).text
        with asking(app) as asker:
            for (method, template), kind in product(written, self.KINDS):
                path = path_of(template)
                pairs = {"cookie": f"session={cookie}", "content-type": kind, **origin}
                body = b"code=forged&revision=0&answer=1&theme=dark&preset=short"
                answer = asker(Ask(method, path, headers_of(pairs.items()), body))

                sound(answer)
                assert answer.status == 403
                assert not answer.header("set-cookie")

        assert _without_nonce(client.get(LESSON).text) == _without_nonce(before)
        assert "forged" not in client.get(f"{LESSON}/export.py").text

    def test_no_address_changes_anything_when_it_is_merely_opened(self, app: FastAPI, client: TestClient) -> None:
        client.get(LESSON)
        sent(client, "draft", "mine")
        before = client.get(LESSON).text
        for method, template in routes_of(app):
            if method == "POST":
                path = path_of(template)
                opened = client.get(path, params={"code": "forged", "revision": 1, "confirm": "yes", "theme": "dark"})
                assert opened.status_code in (200, 403, 404, 405)

        assert _without_nonce(client.get(LESSON).text) == _without_nonce(before)


def _without_nonce(html: str) -> str:
    return re.sub(r'nonce="[^"]*"', "", html)


class TestSessions:
    """A session is nobody's who did not get it from the server. Logging in does not exist, so nothing is gained by
    planting one's own: the victim would only write into the attacker's drafts, which other sites cannot arrange."""

    @pytest.mark.parametrize("token", ["A" * 43, "", "x" * 5000, "../../etc/passwd", "a,b", "%41"])
    def test_a_token_that_the_server_did_not_make_is_replaced(self, client: TestClient, token: str) -> None:
        client.cookies.set("session", token)

        answer = client.post(f"{BOX}/draft", data={"code": "mine", "revision": 0})

        fresh = re.match(r"session=([\w-]{43});", answer.headers["set-cookie"])
        assert fresh
        assert fresh[1] != token

    def test_a_token_counts_nowhere_but_in_the_cookie(self, client: TestClient, other: TestClient) -> None:
        client.get(LESSON)
        sent(client, "draft", "private-text")
        token = client.cookies["session"]

        for request in (
            other.get(LESSON, params={"session": token}),
            other.get(LESSON, headers={"session": token, "authorization": f"Bearer {token}", "x-session": token}),
            other.post(f"{BOX}/history", data={"code": "", "revision": 0, "session": token}),
        ):
            assert "private-text" not in request.text

    def test_a_token_is_never_part_of_a_page_or_an_address(self, client: TestClient) -> None:
        first = client.get(LESSON)
        token = client.cookies["session"]
        views = [first, client.get(LESSON), sent(client, "check", "x"), client.get(f"{LESSON}/export.ipynb")]
        redirect = client.post(f"{BOX}/check", data={"code": "x", "revision": 0}, follow_redirects=False)

        assert all(token not in view.text for view in views)
        assert token not in redirect.headers["location"]

    def test_behind_tls_a_cookie_of_a_sister_site_is_not_read(self, app: FastAPI, settings: Settings, course) -> None:
        """`__Host-` cookies come from this very host over TLS; one that a subdomain set has another name."""
        secure = create_app(settings.model_copy(update={"secure_cookies": True}), course, Hostile())
        with TestClient(app, headers=BROWSER) as plain:
            plain.get(LESSON)
            token = plain.cookies["session"]
        with TestClient(secure, base_url="https://testserver", headers=BROWSER) as client:
            answer = client.get(LESSON, headers={"cookie": f"session={token}"})

        assert answer.headers["set-cookie"].startswith("__Host-session=")
        assert token not in answer.headers["set-cookie"]


SPLITS = [
    "/\r\nset-cookie: evil=1", "/%0d%0aset-cookie:%20evil=1", "/\nset-cookie: evil=1", "/\r\n\r\n<script>",
    "/\u560d\u560aset-cookie: evil", "/\x85x", "/\u2028x", "//evil.example", "/\\evil.example", "/\t/evil.example", "https://evil.example",
    "javascript:x", "", " /", "\x00/", "/\x00", "///evil.example", "/%5cevil.example",
    "http:/evil.example", "\\\\evil.example",
]  # fmt: skip


class TestHeaders:
    @pytest.mark.in_turn(turns=4, places=PAGES)
    @pytest.mark.parametrize("back", SPLITS, ids=repr)
    def test_a_way_back_leads_nowhere_else_and_makes_no_header(self, client: TestClient, back: str) -> None:
        data = {"theme": "dark", "back": back}
        response = client.post("/theme", data=data, follow_redirects=False)

        assert re.fullmatch(r"/(?![/\\])[!-~]*", response.headers["location"])
        assert "evil=1" not in response.headers["set-cookie"]
        assert len(response.headers.get_list("set-cookie")) == 1

    @pytest.mark.parametrize(
        "split", ["%0d%0aset-cookie:%20evil=1", "%0aevil:1", '";filename="evil.html', "..%2f..%2fx"]
    )
    def test_an_address_makes_no_header(self, client: TestClient, split: str) -> None:
        client.get(LESSON)
        for path in (
            f"/lessons/linear{split}/export.py",
            f"/lessons/linear/export.py{split}",
            f"/lessons/linear{split}/",
            f"/lessons/linear/quiz/half{split}",
            f"/static/{split}",
            f"/lessons/linear?ask={split}",
        ):
            response = client.get(path, follow_redirects=False)

            values = {name: value for name, value in response.headers.items() if name != "location"}
            assert not any("evil" in name + value for name, value in values.items())
            assert re.match(r"/(?!/)[!-~]*$", response.headers.get("location", "/"))
            assert "set-cookie" not in response.headers

    @pytest.mark.parametrize(
        "host", ["evil.example\r\nset-cookie: evil=1", "evil.example\nx: y", "evil.example/\\", "a b"]
    )
    def test_a_host_makes_no_header(self, app: FastAPI, host: str) -> None:
        with asking(app) as asker:
            answer = asker(Ask("GET", "/lessons/linear/", headers_of([("host", host)])))

        sound(answer)
        assert answer.status == 400
        assert not answer.header("location")


LINES = [
    "a\nb", "a\r\nb", "\x1b[2J\x1b[31mred", '", "event": "forged", "x": "', '\n{"event": "forged", "level": "error"}',
    "\u2028forged", "\x85forged", "\x00", "%s%n{0.__class__}", "\ud800",
]  # fmt: skip


@contextmanager
def logged(capsys: pytest.CaptureFixture[str], *, plain: bool) -> Iterator[list[str]]:
    """The lines that are written inside."""
    lines: list[str] = []
    configure_logs(plain=plain)
    capsys.readouterr()
    try:
        yield lines
    finally:
        configure_logs(plain=True)
        said = capsys.readouterr()
        lines += said.out.split("\n")[:-1] + said.err.split("\n")[:-1]


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("plain", [True, False], ids=["for a terminal", "as JSON"])
@pytest.mark.parametrize("evil", LINES, ids=repr)
def test_a_request_is_one_line_of_the_log_whatever_it_holds(app: FastAPI, capsys, evil: str, plain: bool) -> None:
    header = evil.encode("utf-8", "replace").replace(b"\n", b" ").replace(b"\r", b" ").replace(b"\0", b" ")
    escaped = "".join(f"%{byte:02x}" for byte in evil.encode("utf-8", "surrogatepass"))
    body = f"code={escaped}&revision=0&answer={escaped}&theme={escaped}&nudge={escaped}".encode()
    pairs = (
        (b"content-type", b"application/x-www-form-urlencoded"),
        (b"sec-fetch-site", b"same-origin"),
        *((name, header) for name in (b"user-agent", b"referer", b"x-forwarded-for", b"x-request-id", b"cookie")),
    )
    asked = [
        Ask("GET", f"/{escaped}?{escaped}={escaped}", pairs),
        Ask("GET", f"/lessons/{escaped}", pairs),
        Ask("POST", f"{LESSON}/quiz/half", pairs, body),
        Ask("POST", f"{BOX}/check", pairs, body),
        Ask("POST", f"{BOX}/{escaped}", pairs, body),
        Ask("POST", "/theme", pairs, body),
    ]
    with asking(app) as asker, logged(capsys, plain=plain) as lines:
        for one in asked:
            sound(asker(one))

    assert len(lines) == len(asked)
    for line in lines:
        if plain:
            shown = re.sub(r"\x1b\[[0-9;]*m", "", line)  # the log's own colours
            assert "\x1b[31mred" not in line
            assert shown.isprintable()
            assert shown.count("request  ") == 1
        else:
            assert line.isprintable()
            assert json.loads(line)["event"] == "request"


@pytest.mark.parametrize("evil", LINES, ids=repr)
def test_a_fault_of_ours_is_one_line_of_json_whatever_its_message_holds(
    app: FastAPI, capsys, monkeypatch, evil: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(evil)

    monkeypatch.setattr("app.web.routes.answers.quiz_view", broken)
    pairs = headers_of([("sec-fetch-site", "same-origin"), ("content-type", "application/x-www-form-urlencoded")])
    with asking(app) as asker, logged(capsys, plain=False) as lines:
        answer = asker(Ask("POST", f"{LESSON}/quiz/half", pairs, b"answer=1"))

    assert answer.status == 500
    assert unescape(answer.text).count("forged") == 0
    assert [json.loads(line)["event"] for line in lines] == ["request-failed", "request"]
    assert all(line.isprintable() for line in lines)
