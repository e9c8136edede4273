"""Nudging an entry, with a script and without; the strip above the rows; what a row says of its hint and its road."""

import re
from dataclasses import replace

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.engine.grader import Nudge, Readiness
from app.grading.judge.verdict import NameVerdict, Verdict, Worst
from app.web.render import TEMPLATES, _environment
from app.web.views.exercise_view import NudgeField

LESSON = "/lessons/linear"
BOX = f"{LESSON}/code/linear-backward"
HTMX = {"hx-request": "true"}
WRONG = "dX = W @ dY\n"


def send(client: TestClient, action: str, *, htmx: bool = True, code: str = WRONG, **more: object):
    data = {"code": code, "revision": 0, **more}
    return client.post(f"{BOX}/{action}", data=data, headers=HTMX if htmx else {})


def nudge(client: TestClient, name: str = "dX", entry: str = "1, 2", *, htmx: bool = True):
    return send(client, "nudge", htmx=htmx, nudge=name, **{"entry-dW": "0, 0", f"entry-{name}": entry})


def test_every_gradient_has_a_field_with_the_worst_entry_or_the_first(client: TestClient, page) -> None:
    found = page(send(client, "check").text).attributes

    values = {name: found[f"linear-backward-{name}-entry"]["value"] for name in ("dX", "dW", "db")}
    assert values == {"dX": "1, 2", "dW": "0, 0", "db": "0"}
    assert all(found[f"linear-backward-{name}-entry"]["form"] == "linear-backward-form" for name in values)


def test_before_the_first_check_there_is_nothing_to_nudge(client: TestClient) -> None:
    assert 'data-action="nudge"' not in client.get(LESSON).text


def test_a_nudge_shows_losses_step_quotient_and_the_own_number(client: TestClient, grader, page) -> None:
    text = nudge(client).text

    told = page(text).text("linear-backward-dX-nudged")
    assert grader.nudged == [(WRONG, "dX", "1, 2")]
    for part in ("h = 0.0001", "2.5", "2.25", "1250", "2500", "2 times the quotient", "kink", "(dY * Y).sum()"):
        assert part in told
    assert "<html" not in text
    assert "Your number is 2 times the quotient." in text.partition("hx-swap-oob")[2]


def test_the_two_numbers_that_are_compared_have_as_many_digits(client: TestClient, grader, page, monkeypatch) -> None:
    told = Nudge(outcome="graded", name="dX", entry=(0,), step=1e-4, quotient=9.11035, own=-9.110351)

    async def answer(*_: object) -> Nudge:
        return told

    monkeypatch.setattr(grader, "nudge", answer)

    assert "9.110350 your dX[0]-9.110351" in page(nudge(client).text).text("linear-backward-dX-nudged")


def test_a_single_number_has_no_index_to_type_and_none_in_its_table(app: FastAPI) -> None:
    field = NudgeField(tensor="b", shape="()", field="entry-db", entry="")
    asked = str(_environment(TEMPLATES).globals["nudge_form"]("box", "/box", "db", field, open=False))
    one = NameVerdict(name="db", verdict="wrong", worst=(Worst(index=(), yours=1.0, off=0.5, ratio=2.0),))
    table = app.state.site.pages.text("_differences.html", one=one, map=None)

    assert "<input" not in asked
    assert ">Nudge <code>b</code></button>" in asked
    assert "[]" not in table
    assert "entry" not in table


@pytest.mark.parametrize(("loss", "said"), [("L", "It was measured"), ("(dY * Y).sum()", "L is ")])
def test_a_loss_is_spelled_out_where_it_has_another_name(app: FastAPI, loss: str, said: str) -> None:
    told = Nudge(outcome="graded", name="db", step=0.01, own=1.0, loss=loss)
    text = app.state.site.pages.text("_nudge_result.html", nudge=told, name="box")

    assert f'<p class="note">{said}' in text


def test_a_plain_form_gets_a_page_with_the_same_result(client: TestClient) -> None:
    fragment = nudge(client).text
    response = nudge(client, htmx=False)

    assert response.status_code == 200
    assert fragment.partition("<p hx-swap-oob")[0].strip() in response.text
    assert f'href="{LESSON}#linear-backward"' in response.text


@pytest.mark.parametrize("htmx", [True, False])
def test_a_nudge_saves_the_text_first(client: TestClient, htmx: bool) -> None:
    send(client, "nudge", htmx=htmx, code="typed just now", nudge="dX", **{"entry-dX": "1, 2"})

    assert "typed just now" in client.get(LESSON).text


@pytest.mark.parametrize(("name", "entry"), [("dX", "9, 9"), ("dQ", "0"), ("<b>", "0")])
def test_what_cannot_be_nudged_is_explained_and_escaped(client: TestClient, name: str, entry: str) -> None:
    response = nudge(client, name, entry)

    assert response.status_code == 200
    assert "has no entry" in response.text
    assert "<b>" not in response.text
    assert "(dY * Y)" not in response.text


def test_a_missing_field_is_an_empty_index_and_a_long_one_is_cut(client: TestClient, grader) -> None:
    send(client, "nudge", nudge="dX")
    nudge(client, "dX", "1" * 100_000)

    assert [entry for _, _, entry in grader.nudged] == ["", "1" * 200]


@pytest.mark.parametrize("data", [{}, {"nudge": ""}, {"nudge": "d" * 101}])
def test_a_form_without_a_name_is_refused(client: TestClient, data: dict[str, str]) -> None:
    assert send(client, "nudge", **data).status_code == 422


def test_no_quiz_can_be_nudged(client: TestClient) -> None:
    response = client.post(f"{LESSON}/code/half/nudge", data={"code": "", "revision": 0, "nudge": "dX"}, headers=HTMX)

    assert response.status_code == 404


def test_a_nudge_is_bounded_like_a_check(client: TestClient, grader) -> None:
    grader.readiness = Readiness(state="refused", reason="No jail here.")

    text = nudge(client).text

    assert "No jail here." in text
    assert grader.nudged == []


def test_a_fault_is_ours(client: TestClient, grader, monkeypatch) -> None:
    async def fails(*_: object) -> Nudge:
        return Nudge(outcome="fault", name="dX", message="The grader failed.")

    monkeypatch.setattr(grader, "nudge", fails)

    assert "Our fault, not yours" in nudge(client).text


def test_the_strip_shows_parallel_gradients_in_one_column(client: TestClient) -> None:
    text = send(client, "check").text

    strip = text.partition('<ol class="strip"')[2].partition("</ol>")[0]
    given, asked = (part.split("</li>")[0] for part in strip.split('<li class="strip-step">')[1:])
    assert re.findall(r"<code[^>]*>(\w+)</code>", given) == ["dY"]
    assert re.findall(r"<code>(\w+)</code>", asked) == ["dX", "dW", "db"]
    assert re.findall(r'data-mark="(\w+)"', asked) == ["wrong", "later", "later"]
    assert re.findall(r'unseen"> (.*?); </span>', asked) == [
        "not yet right, from dY", "not yet, from dY", "not yet, from dY",
    ]  # fmt: skip


@pytest.mark.alone
def test_what_follows_from_a_gradient_names_it_once(client: TestClient, grader) -> None:
    rows = [NameVerdict(name=name, verdict="right") for name in ("dX", "dW")]
    rows.append(NameVerdict(name="db", verdict="follows", word="follows from dY"))
    grader.outcome = Verdict(outcome="graded", names=tuple(rows))

    strip = send(client, "check").text.partition('<ol class="strip"')[2].partition("</ol>")[0]

    assert re.findall(r'unseen"> (.*?); </span>', strip)[-3:] == ["right, from dY", "right, from dY", "follows from dY"]


@pytest.mark.alone
def test_the_cross_is_at_the_step_that_the_headline_names(client: TestClient, grader) -> None:
    wrong = NameVerdict(name="dW", verdict="wrong", code="dW:sign", line=5, step="dz1", message="A sign.")
    rows = (NameVerdict(name="dX", verdict="right"), wrong, NameVerdict(name="db", verdict="right"))
    grader.outcome = Verdict(outcome="graded", names=rows)

    strip = send(client, "check").text.partition('<ol class="strip"')[2].partition("</ol>")[0]

    shown = re.findall(r'data-mark="(\w+)" aria-hidden="true"></span> <code>(\w+)</code>', strip)
    assert shown == [("right", "dX"), ("wrong", "dz1"), ("follows", "dW"), ("right", "db")]


@pytest.mark.alone
def test_one_gradient_alone_has_no_strip(client: TestClient, grader) -> None:
    grader.outcome = Verdict(outcome="graded", names=(NameVerdict(name="dX", verdict="right"),))

    assert 'class="strip"' not in send(client, "check").text


@pytest.mark.alone
def test_another_road_is_told_openly(client: TestClient, grader) -> None:
    said = "Right end to end; your formula skips the step through `dq`."
    road = NameVerdict(name="dX", verdict="right-other-road", message=said)
    grader.outcome = Verdict(outcome="graded", names=(road, NameVerdict(name="dW", verdict="right")))

    text = send(client, "check").text

    assert text.count("<details open>") == 1
    assert "your formula skips the step through <code>dq</code>" in text.partition("<details open>")[2]


@pytest.mark.alone
def test_the_hint_that_fits_is_linked_once_it_is_open(client: TestClient, grader) -> None:
    fault = NameVerdict(name="dX", verdict="wrong", code="dX:sign", message="A minus.")
    grader.outcome = Verdict(outcome="graded", names=(fault, replace(fault, name="dW")))

    before = send(client, "check").text
    hinted = send(client, "hint").text
    after = send(client, "check").text

    assert before.count("Hint 1 of 2 is about <code>dX</code>; it is the next one.") == 1
    assert 'id="linear-backward-hint-1"' in hinted
    assert after.count('<a href="#linear-backward-hint-1">Hint 1 of 2</a> is about <code>dX</code>.') == 1
