"""Any request at all gets an answer: never a 5xx, never a hang, never a foreign element, and nothing that grows.

Every route is walked as the application itself lists it. Requests are put together from what the pages send, from what
breaks parsers, and from anything else.
"""

import gc
import tracemalloc
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes, urlencode

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.content.blocks import Course
from app.engine.training_chunk import ChunkResult
from app.settings import Settings
from app.store import assignments, classes, invitations, learners
from app.store.database import now
from app.store.tables import Assignment, Comparison, Sitting, WrittenSentence
from app.teaching.codes import read_code
from app.web.application import create_app
from tests.courses import course_in
from tests.engine.train.load import COURSE as TRAINING
from tests.examples import examples
from tests.turns import PAGES
from tests.web.asking import CANARY, CLASS_CODE, Answer, Ask, Asker, asking, headers_of, path_of, routes_of, sound
from tests.web.classroom import Classroom
from tests.web.conftest import OPERATOR, FakeGrader

HERE = Path(__file__).parent
PARTS = (*(course_in(HERE / name) for name in ("course", "hunts", "held")), TRAINING)
WHOLE = Course(units=tuple(unit for part in PARTS for unit in part.units))
SLUGS = [lesson.slug for lesson in WHOLE.lessons]
NAMES = [exercise.name for lesson in WHOLE.lessons for exercise in lesson.exercises]

SCRIPT = f'"><{CANARY} onload=window.x=1></script><script>window.x=1</script>'
NUMERALS = ["5²", "٣", "፩", "½", "9" * 5000]
"""What Python may take for a number; `tests/test_numerals.py` asks each reader all numerals."""
ODD = [
    "", " ", ".", "..", "../../../../etc/passwd", "%2e%2e%2f", "\0", "a\0b", "\r\nx-evil: 1", "\x1b[31m", "\x7f",
    "\x85", "\u2028", "\ufeff", "\ud800", "\U0010ffff", "é" * 100, "a" * 5000, "//evil.example/", SCRIPT,
    "\\\\evil.example",
    "javascript:window.x=1", "{{7*7}}", "${7*7}", "' OR 1=1 --", "nan", "inf", "-0", "1e400", "0x10", "١", "null", "[]",
    "true", *NUMERALS, *(str(n) for n in (-1, 0, 1, 2**31, 2**31 - 1, 2**32, 2**63, 2**63 - 1, 2**64, -(2**63))),
]  # fmt: skip
FIELDS = [
    "code", "revision", "line", "nudge", "confirm", "at", "answer", "left", "left_transposed", "right",
    "right_transposed", "preset", "attempt", "theme", "back", "timezone", "called", "external_id", "text", "place",
    "who", "until", "due", "late", "opens", "share", "points", "exercises", "choose", "role", "extra_days", "joining",
    "entry-dX", "entry-dW", "entry-", "said", "chosen", "close",
]  # fmt: skip
PLAIN = [
    "0",
    "1",
    "X",
    "dW",
    "dX = dY @ W.T",
    "yes",
    "short",
    "dark",
    "/",
    "(3, 2)",
    "0.5",
    "2",
    "dY",
    "T",
    "error",
    "_",
]
KINDS = [
    "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=utf-7", "application/json",
    "text/plain", "", "\xff", "multipart/form-data", "multipart/form-data; boundary=",
    "multipart/form-data; boundary=x",
    *(f"multipart/form-data; boundary=x; charset={name}" for name in ("utf-8", "utf-7", "unicode_escape", "idna", "-")),
    "multipart/mixed; boundary=x", "multipart/form-data; boundary=" + "b" * 300, "a;" * 2000,
]  # fmt: skip
HEADERS = [
    ("host", "a b"), ("host", ""), ("host", "evil.example"), ("host", "x" * 5000), ("host", "[::1"),
    ("origin", "null"), ("origin", "http://testserver"), ("origin", "http://[::1"), ("origin", "\xff"),
    ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"),
    ("sec-purpose", "prefetch"), ("hx-request", "true"), ("hx-boosted", "true"), ("hx-target", SCRIPT),
    ("hx-current-url", SCRIPT), ("hx-trigger", "\xff"), ("content-length", "-1"),
    ("content-length", "9" * 30), ("content-length", "x"),
    ("content-length", "²"), ("content-encoding", "gzip"), ("transfer-encoding", "chunked"), ("expect", "100-continue"),
    ("range", "bytes=0-"), ("range", "bytes=9-1,-5"), ("range", "bytes=0-0," * 500), ("if-none-match", "*"),
    ("if-modified-since", "\xff"), ("accept", SCRIPT), ("accept-encoding", "gzip"), ("accept-language", "x" * 3000),
    ("cookie", "session=" + "x" * 20_000), ("cookie", "session=\xff; theme=" + SCRIPT), ("cookie", "session=%0d%0a"),
    ("cookie", "=;" * 5000), ("cookie", "theme=dark; session=a; session=b"), ("referer", SCRIPT),
    ("user-agent", SCRIPT), ("x-forwarded-host", "evil.example"), ("x-forwarded-for", "'"),
    ("x-http-method-override", "DELETE"), ("upgrade", "websocket"), ("last-event-id", "9" * 400),
    ("traceparent", "00-\xff"),
]  # fmt: skip


class Ended(FakeGrader):
    """Trains nobody."""

    async def train(self, _stretch: object) -> ChunkResult:
        return ChunkResult(outcome="busy", message="No grader is free.")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("fuzz"),
        database_url="",
        secure_cookies=False,
        operator_token=OPERATOR,
        checks_per_minute=0,
        changes_per_minute=0,
        new_learners_per_minute=0,
    )
    return create_app(settings, WHOLE, Ended())


@pytest.fixture(scope="module")
def asker(app: FastAPI) -> Iterator[Asker]:
    with asking(app) as asker:
        yield asker


@pytest.fixture(scope="module")
def cookie(app: FastAPI, asker: Asker) -> str:
    """Of the instructor of the first class, in which the first learner is to do the first lesson."""

    async def begin(db: AsyncSession) -> str:
        pupil, _ = await learners.begin_session(db)
        learner, token = await learners.begin_session(db)
        group = await classes.create_class(db, "Algebra", "Europe/Berlin", learner, "Ada")
        group.join_code = read_code(CLASS_CODE)
        db.add(classes.new_member(group.id, pupil, "learner", "Bob"))
        await invitations.let_teach(db, learner)
        soon = now() + timedelta(days=1)
        terms = assignments.AssignmentSettings(None, None, soon, None, late_share=0.5, points=10, solutions_at=soon)
        await assignments.assign_lesson(db, group.id, "linear-layer", terms, learner)
        return f"session={token}"

    return Classroom(app, asker.run).write(begin)


# The routes must be known before a test begins, so they are those of an application that is never served.
ROUTES = routes_of(create_app(Settings(database_url="sqlite+aiosqlite://"), WHOLE, FakeGrader()))


def escaped(value: str) -> str:
    """As it stands in a request line; half characters too."""
    return quote_from_bytes(value.encode("utf-8", "surrogatepass"), safe="")


anything = st.text(max_size=30)
odd = st.sampled_from(ODD) | anything
field = st.tuples(st.sampled_from(FIELDS), st.sampled_from(PLAIN) | odd)
fields = st.lists(field, max_size=8) | st.lists(field, max_size=3).map(lambda pairs: pairs * 40)
PARAMETERS = {
    "slug": SLUGS,
    "name": NAMES,
    "kind": ["quiz", "code", "train"],
    "form": ["ipynb", "py", "md"],
    "class_id": ["1"],
    "assignment_id": ["1"],
    "learner_id": ["1", "2"],
    "code": [CLASS_CODE],
    "credential": ["1"],
    "session": ["0" * 16],
    "token": ["x"],
    "provider": ["campus"],
}
# Made once: a strategy that is made where it is drawn from is validated anew each time, and that takes longer than a
# request.
PARTS_OF_PATH = {name: st.sampled_from(known) | st.sampled_from(known) | odd for name, known in PARAMETERS.items()}
pairs_of_query = st.lists(
    st.tuples(st.sampled_from(["ask", "emptied", "at", "blank", "x"]) | anything, odd), max_size=3
)


@st.composite
def paths(draw: st.DrawFn, template: str) -> str:
    parts = []
    for part in template.replace("}", "{").split("{"):
        known = PARTS_OF_PATH.get(part)
        parts.append(part if known is None else escaped(draw(known)))
    query = "&".join(f"{escaped(name)}={escaped(value)}" for name, value in draw(pairs_of_query))
    return "".join(parts) + (f"?{query}" if query else "")


def urlencoded(pairs: list[tuple[str, str]]) -> bytes:
    return urlencode(pairs, errors="surrogatepass").encode()


def multipart(pairs: list[tuple[str, str]], file: bool) -> bytes:
    parts = []
    for name, value in pairs:
        given = '; filename="a"' if file else ""
        head = f'--x\r\ncontent-disposition: form-data; name="{name}"{given}\r\n\r\n'
        parts.append(head.encode() + value.encode("utf-8", "surrogatepass") + b"\r\n")
    return b"".join(parts) + b"--x--\r\n"


bodies = (
    st.tuples(st.just(KINDS[0]), fields.map(urlencoded))
    | st.tuples(st.just("multipart/form-data; boundary=x"), st.builds(multipart, fields, st.booleans()))
    | st.tuples(st.sampled_from(KINDS), st.builds(multipart, fields, st.booleans()) | fields.map(urlencoded))
    | st.tuples(st.sampled_from(KINDS), st.binary(max_size=200))
)
headers = st.lists(st.sampled_from(HEADERS), max_size=3)
chunks = st.sampled_from([1, 7, 65536])
methods = {
    usual: st.sampled_from([usual] * 9 + ["HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "GET", "POST", "BREW"])
    for usual, _ in ROUTES
}


@st.composite
def asks(draw: st.DrawFn, method: str, template: str) -> Ask:
    kind, body = draw(bodies)
    pairs = [*draw(headers), ("content-type", kind)]
    if draw(st.integers(0, 3)):
        pairs.append(("sec-fetch-site", "same-origin"))
    chunk = draw(chunks)
    way = draw(methods[method])
    return Ask(way, draw(paths(template)), headers_of(pairs), body, chunk if len(body) < 2000 else 65536)


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize(("method", "template"), ROUTES, ids=[" ".join(route) for route in ROUTES])
@examples(4, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_any_request_to_any_route_gets_a_sound_answer(
    data: st.DataObject, asker: Asker, cookie: str, method: str, template: str
) -> None:
    ask = data.draw(asks(method, template))
    known = data.draw(st.booleans())

    sent = Ask(ask.method, ask.target, (*ask.headers, *headers_of([("cookie", cookie)] * known)), ask.body, ask.chunk)
    sound(asker(sent))


@examples(50)
@given(
    path=st.lists(
        st.sampled_from([*SLUGS, *NAMES, "lessons", "static", "code", "units", "..", "", "%00"]) | odd, max_size=6
    )
)
def test_any_path_gets_a_sound_answer(asker: Asker, path: list[str]) -> None:
    sound(asker(Ask("GET", "/" + "/".join(map(escaped, path)))))


def named_in(dependant: Any) -> Iterator[str]:
    """What a route reads, by name; of a form that is read whole, each of its fields."""
    for one in (*dependant.path_params, *dependant.query_params, *dependant.body_params):
        yield from getattr(one.field_info.annotation, "model_fields", [one.alias])
    for other in dependant.dependencies:
        yield from named_in(other)


def read_by(app: FastAPI) -> dict[tuple[str, str], list[str]]:
    """What each route reads."""
    return {
        (method, context.path): sorted({*named_in(context.dependant), *(FREE if method == "POST" else ())})
        for context in iter_route_contexts(app.routes)
        for method in context.methods or ()
    }


FREE = ("entry-dW", "0-1", "shape-draw")
"""Fields of forms that a handler looks for by itself."""
TAKING = ("/delete", "/leave", "/remove", "/undo", "/selected")
"""Routes that take away what the others are asked about."""


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize(
    "numeral",
    [
        NUMERALS[0],
        *(pytest.param(one, id=one[:3], marks=pytest.mark.prove) for one in NUMERALS[1:]),
    ],
)
def test_no_numeral_anywhere_in_a_request_is_an_error_of_ours(
    app: FastAPI, asker: Asker, cookie: str, numeral: str, part: int
) -> None:
    """In one place at a time, beside what the page sends."""
    head = [("content-type", KINDS[0]), ("sec-fetch-site", "same-origin"), ("cookie", cookie)]
    known = {
        "code": "x",
        "revision": "0",
        "nudge": "dW",
        "at": "0",
        "answer": "1",
        "who": "2",
        "lesson": "linear-layer",
    }
    reading = {route: names for route, names in read_by(app).items() if not route[1].endswith(TAKING)}
    assert sum(map(len, reading.values())) > 300

    for (method, template), names in [*reading.items()][part::4]:
        for name in names:
            given = {**known, name: numeral}
            path = path_of(template, **{name: escaped(numeral)} if f"{{{name}}}" in template else {})
            ask = Ask(method, f"{path}?{urlencode(given)}", headers_of(head), urlencode(given).encode())
            sound(asker(ask))


async def as_it_was(db: AsyncSession) -> None:
    """The first class, whatever the requests above made of it: its people, and what they have to do."""
    for learner, role in ((1, "learner"), (2, "instructor")):
        await db.merge(classes.new_member(1, learner, role, role))
    soon = now() + timedelta(days=1)
    await db.merge(Assignment(id=1, class_id=1, lesson="linear-layer", due_at=soon, late_share=0.5, points=10))
    name = "practice/sitting-1-2-1"
    await db.merge(
        Assignment(id=2, class_id=1, lesson=name, opens_at=soon, due_at=soon, late_share=0, points=1, heading="Exam")
    )
    slots = '[{"family": "", "level": 1, "count": 1}]'
    await db.merge(Sitting(assignment_id=2, minutes=5, slots_json=slots, secret="", shows="right", drawn_at=soon))
    place = {"id": 1, "lesson": "linear-layer", "exercise": "linear-backward"}
    await db.merge(
        WrittenSentence(**place, edition="", mistake="dX:unrecognised:1", said="No.", example="", written_at=soon)
    )
    await db.merge(Comparison(**place, class_id=1, about="hint-1", first="One.", second="Two.", began_at=soon))


def test_every_route_is_reached_with_what_its_page_sends(app: FastAPI, asker: Asker, cookie: str) -> None:
    """The fuzzing above is worth nothing where every request ends as 404 or 422."""
    Classroom(app, asker.run).write(as_it_was)
    code = {"code": "x", "revision": "0", "nudge": "dW", "at": "0", "answer": "1", "theme": "dark", "preset": "short"}
    code["place"] = "linear/half"
    code |= {"said": "It says dX.", "chosen": "1", "close": "yes"}
    code |= {"joining": "open", "until": "2199-01-01", "who": "2", "text": "Bob, +3", "stays": "both"}
    places = {
        "code": ("linear", "linear-backward"), "quiz": ("linear", "dw-shape"), "train": (SLUGS[-1], "run"),
        "sheet": ("sheets", "shapes"), "reveal": ("reveals", "seven"),
    }  # fmt: skip
    reached = {}
    # What takes something away comes last.
    ending = [one for one in ROUTES if one[1].endswith(("/delete", "/remove"))]
    for method, template in [*(one for one in ROUTES if one not in ending), *reversed(ending)]:
        kind = next((kind for kind in places if f"/{kind}/" in template), "quiz")
        slug, name = places[kind]
        path = path_of(
            template, slug="layers" if "units" in template else slug, name=name, kind=kind, form="py", session="0" * 16
        )
        pairs = [("content-type", KINDS[0]), ("sec-fetch-site", "same-origin"), ("cookie", cookie)]
        pairs.append(("authorization", f"Bearer {OPERATOR}"))
        reached[method, template] = asker(Ask(method, path, headers_of(pairs), urlencode(code).encode())).status

    # What belongs to a way to sign in is asked in the tests of that way: it changes who asks.
    ways = {route for route in reached if route[1].startswith(("/sign-in/", "/lti/"))}
    # Nobody was given an item of practice, and whoever was asks where lessons are asked.
    items = {route for route in reached if route[1].startswith("/practice/{item}")}
    missed = {route for route, status in reached.items() if status not in (200, 303, 409)} - items - ways
    # Nothing is under way that could be watched, no board is named to be watched for ever, no lesson shows a picture.
    watched = {("GET", f"{one}/events") for one in ("/lessons/{slug}/train/{name}", "/classes/{class_id}/board")}
    # An imprint is the operator's to write.
    unseen = {("GET", "/pictures/{path:path}"), ("GET", "/imprint")}
    # Nothing is named that sentences could be about.
    sentences, comparisons = "/authors/sentences", "/classes/{class_id}/comparisons"
    unseen |= {(method, f"{sentences}{end}") for method, end in (("GET", "/new"), ("POST", ""), ("POST", "/import"))}
    unseen |= {("GET", f"{comparisons}/new"), ("POST", comparisons)}
    # Nothing comes before the units of these courses, and nothing is measured between them.
    unseen |= {("POST", "/practice/ready/{slug}"), ("POST", "/practice/measure/{purpose}")}
    assert missed <= watched | unseen, {route: reached[route] for route in missed}


def counted(app: FastAPI) -> dict[str, int]:
    """The rows of every table."""
    folder = app.state.settings.data_dir
    engine = create_engine(f"sqlite:///{folder / 'backhand.db'}")
    with engine.connect() as connection:
        tables = connection.execute(text("select name from sqlite_master where type = 'table'")).scalars().all()
        rows = {name: connection.execute(text(f"select count(*) from {name}")).scalar_one() for name in tables}
    engine.dispose()
    return rows


GETS = [template for method, template in ROUTES if method == "GET"]


def read(asker: Asker, number: int) -> Iterator[Answer]:
    """Every page once, by a stranger, with addresses, names and a cookie that were never sent before."""
    for template in GETS:
        known = path_of(template)
        unknown = path_of(template, slug=f"no-{number}", name=f"no-{number}", code=f"no-{number}")
        pairs = [("cookie", f"session={number:043}; theme={number}"), ("user-agent", f"robot {number}")]
        for target in (known, unknown, f"{known}?at={number}&ask=no-{number}"):
            yield asker(Ask("GET", target, headers_of(pairs)))


def test_reading_stores_nothing_and_starts_no_session(app: FastAPI, asker: Asker, cookie: str) -> None:
    assert cookie
    before = counted(app)

    answers = list(read(asker, 0))

    assert all("session=" not in answer.header("set-cookie") for answer in answers)
    assert counted(app) == before
    assert before["learner"]


@pytest.mark.parametrize(
    ("target", "body", "pairs"),
    [
        ("/lessons/linear/quiz/no", b"answer=1", []),
        ("/lessons/no/quiz/half", b"answer=1", []),
        ("/lessons/linear/code/half/check", b"code=x&revision=0", []),
        ("/lessons/linear/code/linear-backward/check", b"code=x", []),
        ("/lessons/linear/code/linear-backward/check", b"code=x&revision=-1", []),
        ("/lessons/linear/code/linear-backward/draft", b"code=x&revision=9223372036854775808", []),
        ("/lessons/linear/code/linear-backward/draft", b"code=x&revision=0", [("host", "a b")]),
        ("/lessons/linear/code/linear-backward/draft", b"code=x&revision=0", [("sec-fetch-site", "cross-site")]),
        ("/lessons/linear/code/linear-backward/draft", b"code=x&revision=0", [("content-type", "application/json")]),
        ("/lessons/linear/code/linear-backward/draft", b"code=" + b"x" * 300_000 + b"&revision=0", []),
        ("/theme", b"theme=dark", []),
        ("/theme", b"theme=<script>", []),
    ],
)  # fmt: skip
def test_a_form_that_is_refused_stores_nothing(
    app: FastAPI, asker: Asker, target: str, body: bytes, pairs: list[tuple[str, str]]
) -> None:
    before = counted(app)
    usual = {"content-type": KINDS[0], "sec-fetch-site": "same-origin"}

    answer = asker(Ask("POST", target, headers_of((usual | dict(pairs)).items()), body))

    sound(answer)
    assert answer.status >= 400 or target == "/theme"
    assert "session=" not in answer.header("set-cookie")
    assert counted(app) == before


WARM, MORE = 12, 24
MOST_GROWTH_BYTES = 400_000


@pytest.mark.prove
def test_memory_does_not_grow_with_requests(asker: Asker, cookie: str) -> None:
    assert cookie
    for number in range(WARM):
        list(read(asker, number))
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(WARM, WARM + 2):  # what is traced must be warm too
            list(read(asker, number))
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for number in range(WARM + 2, WARM + MORE):
            list(read(asker, number))
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert after - before < MOST_GROWTH_BYTES
