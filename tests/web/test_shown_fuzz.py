"""Any verdict, run or nudge that a grader may answer with can be shown, stored and shown again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from app.engine.grader import Nudge, RunResult
from app.engine.json_columns import decoded_answer, decoded_run, decoded_snapshot, decoded_verdict
from app.engine.train.snapshot import Snapshot
from app.grading.forward.facts import Outcome
from app.grading.judge.run_reports import ShownValue
from app.grading.judge.verdict import Differences, NameVerdict, Verdict, Worst
from app.settings import Settings
from app.web.application import create_app
from tests.courses import course_in
from tests.examples import examples
from tests.web.asking import CANARY, Ask, Asker, asking, headers_of, sound
from tests.web.conftest import FakeGrader

BOX = "/lessons/linear/code/linear-backward"
texts = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    [
        f"<{CANARY} onload=x>",
        "\"' onload=x",
        "\x00\x1b",
        "`",
        "``a`",
        "x" * 3000,
        "\n\n",
        "a\r\nb",
        "{{x}}",
        "%s",
        "____",
    ]
)
numbers = st.floats() | st.sampled_from([0.0, -0.0, 1e308, 5e-324])
ratios = st.none() | numbers
indices = st.lists(st.integers(0, 10**6), max_size=4).map(tuple)
maps = st.builds(
    Differences,
    rows=st.lists(st.text("abL.?", min_size=3, max_size=3), min_size=1, max_size=3).map(tuple),
    largest=numbers,
    shape=st.lists(st.integers(0, 10**6), min_size=1, max_size=4).map(tuple),
    corner=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
    pattern=texts,
)
lines = st.none() | st.integers(-1, 10**9)
names = st.builds(
    NameVerdict,
    name=st.sampled_from(["dX", "dW", "db"]) | texts,
    verdict=st.sampled_from(["right", "right-other-road", "wrong", "follows", "not-yet", "aliased", "mutated"]),
    code=st.none() | texts,
    message=texts,
    exact=st.none() | st.booleans(),
    approx=st.none() | st.booleans(),
    maxdiff=ratios,
    line=lines,
    note=texts,
    worst=st.lists(st.builds(Worst, index=indices, yours=numbers, off=numbers, ratio=ratios), max_size=2).map(tuple),
    differences=st.none() | maps,
    word=texts,
)
outcomes = st.sampled_from(Outcome.__args__)
verdicts = st.builds(
    Verdict,
    outcome=outcomes,
    passed=st.booleans(),
    names=st.lists(names, max_size=3).map(tuple),
    line=lines,
    column=lines,
    message=texts,
    hidden_sizes=st.integers(0, 3),
    printed=texts,
)
shown = st.builds(ShownValue, name=texts, shape=indices, dtype=texts, text=texts)
runs = st.builds(
    RunResult, outcome=outcomes, shown=st.lists(shown, max_size=2).map(tuple), printed=texts, line=lines, message=texts
)
nudges = st.builds(
    Nudge, outcome=outcomes, name=texts, entry=indices, loss=texts, step=numbers, above=numbers, below=numbers,
    quotient=numbers, own=ratios, message=texts, note=texts,
)  # fmt: skip


class Saying(FakeGrader):
    """Answers with what it is told to."""

    said: Verdict | RunResult | Nudge

    async def check(self, _task, _code):
        return self.said

    async def run(self, _task, _code):
        return self.said

    async def nudge(self, _task, _code, _name, _entry):
        return self.said


@pytest.fixture(scope="module")
def grader() -> Saying:
    return Saying()


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory, grader: Saying) -> Iterator[Asker]:
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("shown"),
        database_url="",
        secure_cookies=False,
        checks_per_minute=0,
        changes_per_minute=0,
        new_learners_per_minute=0,
    )
    app: FastAPI = create_app(settings, course_in(Path(__file__).parent / "course"), grader)
    with asking(app) as asker:
        yield asker


@pytest.fixture(scope="module")
def cookie(asker: Asker) -> str:
    headers = headers_of([("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")])
    return asker(Ask("GET", "/lessons/linear", headers)).header("set-cookie").partition(";")[0]


def answered(asker: Asker, cookie: str, action: str, number: int, htmx: bool) -> None:
    pairs = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("sec-fetch-site", "same-origin"),
        ("cookie", cookie),
    ]
    body = f"code=text+{number}&revision=0&nudge=dW&entry-dW=0".encode()
    answer = asker(Ask("POST", f"{BOX}/{action}", headers_of([*pairs, *[("hx-request", "true")] * htmx]), body))

    sound(answer)
    assert answer.status in (200, 303, 429)
    for page in ("/lessons/linear", f"{BOX}/history"):
        answer = asker(Ask("GET", page, headers_of([("cookie", cookie)])))
        sound(answer)
        assert answer.status == 200


@examples(30)
@given(verdict=verdicts, number=st.integers(0, 10**9), htmx=st.booleans())
def test_any_verdict_can_be_shown(
    asker: Asker, grader: Saying, cookie: str, verdict: Verdict, number: int, htmx: bool
) -> None:
    grader.said = verdict

    answered(asker, cookie, "check", number, htmx)


@examples(20)
@given(run=runs, number=st.integers(0, 10**9), htmx=st.booleans())
def test_any_run_can_be_shown(
    asker: Asker, grader: Saying, cookie: str, run: RunResult, number: int, htmx: bool
) -> None:
    grader.said = run

    answered(asker, cookie, "run", number, htmx)


@examples(20)
@given(nudge=nudges, number=st.integers(0, 10**9), htmx=st.booleans())
def test_any_nudge_can_be_shown(
    asker: Asker, grader: Saying, cookie: str, nudge: Nudge, number: int, htmx: bool
) -> None:
    grader.said = nudge

    answered(asker, cookie, "nudge", number, htmx)


json_texts = st.recursive(
    st.sampled_from(["null", "true", "1", "-1e999", '"a"', '"graded"', "NaN", "[", "}", "1e400"]) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: f"[{','.join(parts)}]")
        | st.dictionaries(st.sampled_from(["outcome", "names", "phase", "steps", "shown", "x"]), inner, max_size=3).map(
            lambda parts: "{" + ",".join(f'"{key}":{value}' for key, value in parts.items()) + "}"
        )
    ),
    max_leaves=8,
)


@examples(130)
@given(text=json_texts | st.none())
def test_any_stored_text_is_read_or_counts_as_nothing(text: str | None) -> None:
    assert isinstance(decoded_verdict(text), Verdict | None)
    assert isinstance(decoded_run(text), RunResult | None)
    assert isinstance(decoded_snapshot(text), Snapshot | None)
    assert isinstance(decoded_answer(text), tuple | None)
