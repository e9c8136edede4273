"""What the event loop does for a request does not grow with a learner's text, whatever stands in it.

Function calls are counted, which no busy machine changes. What a single call of C does takes linear time: of regular
expressions that is another test's claim, and the rest copies, hashes, counts lines or escapes.
"""

import sys
from collections.abc import Iterator
from types import FrameType

import pytest

from app.settings import Settings
from app.web.application import create_app
from tests.web.asking import Answer, Ask, Asker, asking, headers_of, without_clock
from tests.web.conftest import FakeGrader
from tests.web.test_http_fuzz import WHOLE

CHARACTERS = 60_000
CALLS = 3000
"""Between a short text and a long one; a page takes some ten thousand."""
PIECES = [" ", "\n", "(", "# wrong line: 1\n", "`", "*_", "'\"", "<b>", "é", "try:a\n", "[a](b)", "\0"]
BOXES = ("/lessons/linear/code/linear-backward", "/lessons/hunts/code/find")
ACTS = ("draft", "shapes", "check", "run", "nudge", "history", "reset", "solution")
HEADERS = headers_of(
    [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin"), ("hx-request", "true")]
)


@pytest.fixture
def asker(settings: Settings) -> Iterator[Asker]:
    limits = {"checks_per_minute": 0, "changes_per_minute": 0}
    with without_clock(), asking(create_app(settings.model_copy(update=limits), WHOLE, FakeGrader())) as asker:
        yield asker


def form(text: str) -> bytes:
    """What needs no escape has none: to take them away is the form's matter, and takes 20 ms for the longest."""
    return b"revision=0&line=1&nudge=dX&code=" + text.replace("%", "%25").replace("&", "%26").encode()


def counted(asker: Asker, ask: Ask) -> tuple[int, Answer]:
    """How many functions are called in the thread of the event loop."""
    calls, parsed = 0, 0

    def note(frame: FrameType, event: str, called: object) -> None:
        nonlocal calls, parsed
        if event in ("call", "c_call"):
            calls += 1
            here = frame.f_locals.values() if called is compile else ()
            parsed += any(isinstance(one, str) and len(one) >= CHARACTERS for one in here)

    asker(ask)  # what is remembered from now on is not counted
    sys.setprofile(note)
    try:
        answer = asker(ask)
    finally:
        sys.setprofile(None)
    assert answer.status < 400, answer.text
    assert not parsed, "a parser is a single call, and takes what it likes"
    return calls, answer


@pytest.mark.in_turn(turns=3, places=("app",))
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("box", [BOXES[0], pytest.param(BOXES[1], marks=pytest.mark.prove)])
def test_no_text_makes_more_work_for_the_event_loop(asker: Asker, box: str, part: int) -> None:
    page = box.partition("/code/")[0]
    cookie = asker(Ask("GET", page, headers_of([("sec-fetch-mode", "navigate")]))).header("set-cookie").split(";")[0]
    headers = (*HEADERS, (b"cookie", cookie.encode()))

    def calls(text: str) -> dict[str, int]:
        asks = {act: Ask("POST", f"{box}/{act}", headers, form(text)) for act in ACTS}
        views = {view: Ask("GET", f"{page}{view}", headers) for view in ("", "/export.py")}
        return {name: counted(asker, ask)[0] for name, ask in {**asks, **views}.items()}

    short = calls("x")
    for piece in PIECES[part::3]:
        long = calls((piece * CHARACTERS)[:CHARACTERS])

        assert not {name: (piece, more) for name, more in long.items() if more > short[name] + CALLS}
