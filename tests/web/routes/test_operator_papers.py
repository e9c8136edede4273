"""Privacy, imprint and accessibility: shipped, and as the operator has them."""

from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.settings import Settings
from app.store.tables import Base, Class
from app.web.application import create_app
from app.web.operator_pages import SHIPPED, operator_pages
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER, FakeGrader


def browser(tmp_path: Path, course: Course, **settings: object) -> TestClient:
    found = Settings(data_dir=tmp_path / "data", database_url="", **settings)
    return TestClient(create_app(found, course, FakeGrader()), headers=BROWSER)


def test_every_page_leads_to_privacy_and_accessibility(client: TestClient) -> None:
    for page in ("/", "/lessons/linear", "/join", "/none"):
        foot = client.get(page).text.partition('<footer class="footer">')[2]
        assert 'href="/privacy"' in foot
        assert 'href="/accessibility"' in foot
        assert "imprint" not in foot


def test_what_is_shipped_says_whom_to_ask_and_when_it_was_looked_at(tmp_path: Path, course: Course) -> None:
    asks = browser(tmp_path, course, contact="data@example.org", statement_date=date(2027, 1, 31))
    silent = browser(tmp_path, course)

    assert asks.get("/privacy").text.count('<a href="mailto:data@example.org">') == 2
    assert "This statement is of 31 January 2027. What" in asks.get("/accessibility").text
    assert "has left no address here yet" in silent.get("/privacy").text
    assert "{{" not in silent.get("/privacy").text + silent.get("/accessibility").text
    assert silent.get("/imprint").status_code == 404


def test_pages_of_the_operator_come_first_and_run_nothing(tmp_path: Path, course: Course) -> None:
    (tmp_path / "imprint.md").write_text(
        "# Who we are\n\n<script>x</script> [x](javascript:y) {{contact}}\n\n|a|\n|-|\n|b|\n"
    )
    own = browser(tmp_path, course, pages=tmp_path, contact="Ada <b>")

    page = own.get("/imprint").text

    assert "<title>Who we are · Backhand</title>" in page
    assert '<a href="/imprint">Imprint</a>' in own.get("/").text
    assert "&lt;script&gt;" in page
    assert 'href="javascript' not in page
    assert "Ada &lt;b&gt;" in page
    assert 'role="region" aria-label="Table"><table>' in page
    assert "What is kept" in own.get("/privacy").text


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [("privacy.md", b"\xff", "privacy.md cannot be read: it is no text"), ("terms.md", b"x", "terms.md is none of")],
)
def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(ValidationError, match=why):
        Settings(pages=tmp_path)
    with pytest.raises(ValidationError, match="no such folder"):
        Settings(pages=tmp_path / "none")


TOLD = {
    "session": "a session", "learner": "the name", "credential": "the public key of a passkey",
    "one_time_token": "ten minutes",
    "draft": "texts in your code boxes", "replaced_text": "texts in your code boxes", "attempt": "answers, checks",
    "progress": "hints and solutions", "moment": "first opened a lesson or a hint",
    "training_run": "training runs", "served_item": "what you practise",
    "card": "due again", "review": "due again", "practice_session": "what you practise", "drill": "what you practise",
    "membership": "an id at your school", "extension": "more", "accommodation": "more",
    "grade_override": "grades set by hand",
    "audit_event": "who changed what", "former_member": "stay in its gradebook", "notice": "Notices of what was done",
    "problem_report": "Problems with exercises that you report",
    "comparison": "compares two wordings", "comparison_draw": "was drawn for you is kept",
    "learner_view": "look at the pages of these lessons as you see them",
    "written_sentence": "a sentence for all who make one mistake",
    "roster_change": "what their last list for the roster changed",
    "sitting_record": "what was drawn for you, when you began and handed in",
    "sitting_answer": "what you handed in once it has ended for all",
    "lti_member": "your number and role in its course", "lti_score": "which of your grades it has yet to be told",
}  # fmt: skip
NOBODYS = {
    "lti_platform",
    "lti_deployment",
    "lti_key",
    "lti_context",
    "lti_line_item",
    "practice_item",
    "exercise_edition",
    "item_report",
    "class",
    "assignment",
    "given_unit",
    "sitting",
    "sitting_program",
    "clock",
}


def test_the_page_on_privacy_tells_of_every_table() -> None:
    """A new table needs a word there, or belongs to nobody."""
    text = " ".join((SHIPPED / "privacy.md").read_text("utf-8").split())
    tables = set(Base.metadata.tables)

    assert tables - NOBODYS - set(TOLD) == set()
    assert [word for word in TOLD.values() if word not in text] == []


def test_a_form_for_an_imprint_is_shipped_and_is_no_page() -> None:
    assert "Name of who runs this server" in (SHIPPED / "imprint.md").read_text("utf-8")
    assert set(operator_pages(Settings())) == {"privacy", "accessibility"}


def test_who_joins_is_told_where_it_says_what_is_kept(room: Classroom, group: Class) -> None:
    assert 'href="/privacy">What is stored about you' in room.browser("Bob").get(f"/join/{group.join_code}").text
