"""A learner reports a problem with an exercise; whoever makes classes answers all who met it."""

import re

import pytest
from fastapi import FastAPI
from sqlalchemy import select, update
from starlette.testclient import TestClient

from app.store import problem_reports
from app.store.problem_reports import MOST_OPEN
from app.store.tables import ProblemReport
from tests.web.classroom import Classroom

PLACE = "/lessons/linear/report/linear-backward"
SAID = "The hint says `dX`, and the box wants dW."
pytestmark = pytest.mark.alone


def report(browser: TestClient, said: str = SAID, place: str = PLACE) -> int:
    return browser.post(place, data={"said": said}).status_code


def reports(room: Classroom) -> list[ProblemReport]:
    async def kept(db) -> list[ProblemReport]:
        return list(await db.scalars(select(ProblemReport).order_by(ProblemReport.id)))

    return room.write(kept)


def settle(browser: TestClient, numbers: list[int], **form: str) -> int:
    return browser.post("/reports", data={"chosen": [str(number) for number in numbers], **form}).status_code


def test_every_exercise_of_a_lesson_leads_to_the_form(client: TestClient) -> None:
    page = client.get("/lessons/linear").text

    ways = set(re.findall(r'href="(/lessons/linear/report/[^"]+)"', page))

    assert PLACE in ways
    assert len(ways) > 3
    assert {client.get(way).status_code for way in ways} == {200}


def test_a_report_is_kept_with_the_text_in_the_box_and_needs_no_account(client: TestClient, room: Classroom) -> None:
    client.post("/lessons/linear/code/linear-backward/draft", data={"code": "dX = dY", "revision": "0"})

    assert report(client) == 200

    (kept,) = reports(room)
    assert (kept.lesson, kept.exercise, kept.said, kept.text) == ("linear-layer", "linear-backward", SAID, "dX = dY")
    assert kept.edition
    assert kept.browser == "A browser"
    page = client.get(PLACE).text
    assert "waits for an answer" in page
    assert "The hint says `dX`" in page


@pytest.mark.parametrize(
    ("exercise", "answers", "text"),
    [("dw-shape", ("3, 4", "4, 3"), "4, 3"), ("pick", ("1", "0"), "a mean"), ("both", ("",), "nothing chosen")],
)
def test_of_a_question_the_newest_answer_goes_along_as_it_was_seen(
    client: TestClient, room: Classroom, exercise: str, answers: tuple[str, ...], text: str
) -> None:
    for answer in answers:
        client.post(f"/lessons/linear/quiz/{exercise}", data={"answer": answer})

    report(client, place=f"/lessons/linear/report/{exercise}")

    assert reports(room)[0].text == text


@pytest.mark.parametrize("said", ["", " \r\n\t ", "x" * 501])
def test_a_report_of_no_or_too_many_words_is_refused_and_they_stay(
    client: TestClient, room: Classroom, said: str
) -> None:
    answer = client.post(PLACE, data={"said": said})

    assert answer.status_code == 422
    assert ("501" in answer.text) == (len(said) > 500)
    assert said.strip() in answer.text
    assert reports(room) == []


@pytest.mark.parametrize("said", ["a\0b", "\ud800 half", "<script>alert(1)</script>", "é" * 500])
def test_any_words_can_be_kept_and_are_shown_as_they_are(client: TestClient, ada: TestClient, said: str) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post(PLACE, content=b"said=" + _quoted(said), headers=form).status_code == 200

    page = ada.get("/reports").text
    assert "<script>alert" not in page
    assert page.count('name="chosen"') == 1


def _quoted(said: str) -> bytes:
    return "".join(f"%{byte:02x}" for byte in said.encode("utf-8", "surrogatepass")).encode()


def test_more_reports_than_anybody_reads_are_refused(client: TestClient, room: Classroom) -> None:
    assert [report(client) for _ in range(MOST_OPEN)] == [200] * MOST_OPEN

    assert report(client) == 422

    assert len(reports(room)) == MOST_OPEN


def test_one_answer_goes_to_all_who_reported_the_same_and_to_nobody_else(room: Classroom, ada: TestClient) -> None:
    people = [room.browser(name) for name in ("Bea", "Cy", "Dan")]
    for browser in people:
        report(browser)
    first, second, _ = (kept.id for kept in reports(room))

    assert settle(ada, [first, second], answer="The hint was wrong. It is mended.") == 200

    told = ["What you reported was answered." in browser.get("/").text for browser in people]
    assert told == [True, True, False]
    assert "The hint was wrong. It is mended." in people[0].get("/me").text
    assert "The hint was wrong. It is mended." in people[0].get(PLACE).text
    assert "Bea" not in ada.get("/reports").text


def test_an_answer_is_put_away_at_once_when_it_was_read(room: Classroom, ada: TestClient) -> None:
    bea = room.browser("Bea")
    report(bea)
    settle(ada, [reports(room)[0].id], answer="Mended.")

    bea.post("/me/notices/read")

    assert "What you reported was answered." not in bea.get("/").text
    assert "Mended." in bea.get("/me").text


def test_a_report_can_be_closed_without_a_word(room: Classroom, ada: TestClient) -> None:
    bea = room.browser("Bea")
    report(bea)

    assert settle(ada, [reports(room)[0].id], close="yes", answer="not sent") == 200

    assert "answered" not in bea.get("/").text
    assert "closed" in bea.get(PLACE).text
    assert "No report waits for an answer." in ada.get("/reports").text


def test_what_was_settled_is_not_settled_again(room: Classroom, ada: TestClient) -> None:
    report(room.browser("Bea"))
    number = reports(room)[0].id
    settle(ada, [number], answer="First.")

    settle(ada, [number], answer="Second.")

    assert reports(room)[0].answer == "First."


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"answer": "Yes."}, "Choose what the answer is for."),
        ({"chosen": "1"}, "Write an answer, or close"),
        ({"chosen": "1", "answer": "x" * 501}, "An answer has at most 500 characters; this one has 501."),
        ({"chosen": "-7", "answer": "Yes."}, "Choose what the answer is for."),
    ],
)
def test_an_answer_that_cannot_go_out_says_why_and_stays(
    room: Classroom, ada: TestClient, form: dict[str, str], said: str
) -> None:
    report(room.browser("Bea"))

    answer = ada.post("/reports", data=form)

    assert answer.status_code == 422
    assert said in answer.text
    assert form.get("answer", "") in answer.text
    assert reports(room)[0].settled_at is None


def test_nobody_but_who_makes_classes_sees_reports(bob: TestClient, client: TestClient, app: FastAPI) -> None:
    for browser in (bob, client, TestClient(app)):
        assert browser.get("/reports").status_code == 404
        assert browser.post("/reports", data={"chosen": "1", "answer": "x"}).status_code in (403, 404)


def test_a_report_about_a_lesson_that_is_gone_is_not_listed(room: Classroom, ada: TestClient) -> None:
    report(room.browser("Bea"))

    async def rename(db) -> None:
        await db.execute(update(ProblemReport).values(lesson="gone"))

    room.write(rename)

    assert "No report waits for an answer." in ada.get("/reports").text
    number = reports(room)[0].id
    settle(ada, [number], answer="Mended.")
    assert reports(room)[0].settled_at is None


def test_an_exercise_that_was_taken_out_is_told_so(room: Classroom, ada: TestClient) -> None:
    report(room.browser("Bea"))

    async def rename(db) -> None:
        await db.execute(update(ProblemReport).values(exercise="taken-out"))

    room.write(rename)

    assert "which is no more" in ada.get("/reports").text


def test_an_earlier_edition_is_marked(room: Classroom, ada: TestClient) -> None:
    report(room.browser("Bea"))
    assert "about an earlier edition" not in ada.get("/reports").text

    async def rename(db) -> None:
        await db.execute(update(ProblemReport).values(edition="older"))

    room.write(rename)

    assert "about an earlier edition" in ada.get("/reports").text


def test_settled_reports_are_forgotten_in_the_end_and_open_ones_stay(room: Classroom, ada: TestClient) -> None:
    for name in ("Bea", "Cy"):
        report(room.browser(name))
    settle(ada, [reports(room)[0].id], close="yes")
    at = reports(room)[0].settled_at

    room.write(lambda db: problem_reports.forget_reports(db, at))
    assert len(reports(room)) == 2
    room.write(lambda db: problem_reports.forget_reports(db, at.replace(year=at.year + 1)))

    assert [kept.settled_at for kept in reports(room)] == [None]
