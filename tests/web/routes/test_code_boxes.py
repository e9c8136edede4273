import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event
from starlette.testclient import TestClient

from app.engine.grader import Readiness
from app.grading.judge.verdict import Differences, NameVerdict, Verdict, Worst
from app.web.views.exercise_view import HintsView

LESSON = "/lessons/linear"
BOX = f"{LESSON}/code/linear-backward"
HTMX = {"hx-request": "true"}
RIGHT = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n"
WRONG = "dX = W @ dY\n"
ENDINGS = ["refused", "error", "timeout", "memory", "denied", "crashed", "fault"]


def send(client: TestClient, action: str, code: str = WRONG, revision: int = 0, *, htmx: bool = True, **more: object):
    data = {"code": code, "revision": revision, **more}
    return client.post(f"{BOX}/{action}", data=data, headers=HTMX if htmx else {})


def test_a_check_shows_one_row_per_name_and_explains_the_first_fault_only(client: TestClient) -> None:
    text = send(client, "check").text

    assert text.count('class="verdict-row"') == 3
    assert text.count('<details class="more">') == 1
    assert "This is the transpose of <code>dX</code>." in text
    assert "off by up to 0.731" in text
    assert "Each `row` is off." in text
    assert '<th scope="col">yours − reference</th>' in text
    assert "all 2 rows and all 3 columns. The strongest colours stand for ±0.73." in text
    assert "<html" not in text


@pytest.mark.alone
def test_a_wrong_line_says_one_sentence_and_folds_the_rest(client: TestClient, grader) -> None:
    grader.outcome = Verdict(
        outcome="graded",
        names=(
            NameVerdict(
                name="dX", verdict="wrong", code="dX:factor", line=1, message="Twice.", exact=False, maxdiff=0.731
            ),
        ),
        hidden_sizes=2,
    )
    text = send(client, "check").text
    seen, _, folded = text.partition('<details class="more">')
    words = " ".join(re.sub(r"<[^>]+>", " ", re.sub(r'<span class="unseen">[^<]*</span>', "", seen)).split())

    assert words.removesuffix(" The values are not given.").endswith("1 line to fix (an earlier text) dX line 1 Twice.")
    for companion in ("off by up to 0.731", "Hint 2 of 2", "Nudge an entry"):
        assert companion in folded.partition("</li>")[0]
    assert "<summary>Show me" in folded


def test_a_check_asks_the_database_for_little(client: TestClient) -> None:
    send(client, "check")
    asked: list[str] = []
    event.listen(
        client.app.state.site.database.engine.sync_engine, "before_cursor_execute", lambda *told: asked.append(told[2])
    )

    send(client, "check", f"{WRONG}# again", revision=1)

    assert [one.split()[0] for one in asked] == ["UPDATE", "SELECT", "SELECT", "INSERT"]


PASSED = Verdict(
    outcome="graded",
    passed=True,
    names=tuple(NameVerdict(name=name, verdict="right") for name in ("dX", "dW", "db")),
    hidden_sizes=2,
)


def test_a_right_text_is_shown_beside_the_solution_unless_it_is_the_same(client: TestClient, grader) -> None:
    grader.outcome = PASSED

    own = send(client, "check", "dX = (W @ dY.T).T  # mine\n").text

    beside = own.partition('id="linear-backward-solution" hx-swap-oob="true"')[2].partition("</div>")[0]
    assert "X.T @ dY" not in re.sub("<[^>]+>", "", beside.partition("Yours")[2])
    assert "X.T @ dY" in re.sub("<[^>]+>", "", beside)
    assert "# mine" in beside.partition("Yours")[2]
    assert 'id="linear-backward-solution" hx' not in send(client, "check", RIGHT).text
    assert 'id="linear-backward-solution" hx' not in send(client, "run", "dX = 1").text


def test_what_is_right_offers_the_way_on_once_and_folds_its_rows(client: TestClient, grader) -> None:
    grader.outcome = PASSED

    right, again = send(client, "check", RIGHT).text, client.get(LESSON).text

    assert right.count('data-next href="#linear-backward-next"') == 1
    assert '<details class="rest"><summary>All of them, one by one' in right
    assert 'id="linear-backward-next"' in again
    assert "data-next" not in again, "a page that is opened again has no row of buttons"
    grader.outcome = None
    assert "data-next" not in send(client, "check", WRONG).text


@pytest.mark.parametrize(("count", "folded"), [(6, False), (12, True)])
def test_a_long_verdict_folds_though_rows_of_it_have_a_note(client: TestClient, grader, count, folded) -> None:
    rows = tuple(NameVerdict(name=f"d{at}", verdict="right", exact=True, approx=True) for at in range(count))
    noted = replace(rows[0], note="It was judged with a random upstream.")
    grader.outcome = Verdict(outcome="graded", passed=True, names=(noted, *rows[1:]), hidden_sizes=2)

    text = send(client, "check", f"{RIGHT}\n# {count}").text

    opened = "" if folded else " open"
    assert f'<details class="rest"{opened}><summary>All of them, one by one, 1 with a note</summary>' in text


@pytest.mark.alone
def test_every_independent_fault_has_its_line_and_what_follows_has_none(client: TestClient, grader) -> None:
    names = tuple(
        NameVerdict(name=name, verdict=verdict, code=f"{name}:mean", message="Not this.", line=line)
        for name, verdict, line in (("dX", "wrong", 1), ("dW", "follows", 2), ("db", "wrong", 3))
    )
    grader.outcome = Verdict(outcome="graded", names=names, hidden_sizes=2)

    text = send(client, "check").text

    assert [line for line in range(1, 4) if f'data-line="{line}"' in text] == [1, 3]


@pytest.mark.alone
def test_a_remark_on_a_right_gradient_is_seen_without_a_click(client: TestClient, grader) -> None:
    zero = NameVerdict(name="db", verdict="right", note="For this loss `db` is zero up to rounding.")
    grader.outcome = Verdict(outcome="graded", names=(NameVerdict(name="dX", verdict="right"), zero), hidden_sizes=2)

    text = send(client, "check").text

    assert text.count("<details open>") == 1
    assert "For this loss <code>db</code> is zero up to rounding." in text


def test_a_passing_check_solves_the_exercise(client: TestClient, page) -> None:
    text = send(client, "check", RIGHT).text

    assert "3 of 3 right, checked on 2 hidden sizes" in text
    assert 'data-passed="true"' in text
    assert "1 of 8 exercises done" in page(text).text("progress")
    assert page(client.get(LESSON).text).attributes["linear-backward"]["data-solved"] == "true"


def test_a_passing_check_and_no_other_says_what_it_shows(client: TestClient) -> None:
    why = "Each factor carries the <em>other</em> one back."

    assert why not in send(client, "check").text
    assert why in send(client, "check", RIGHT).text


def test_a_plain_form_gets_the_same_verdict_after_a_redirect(client: TestClient) -> None:
    fragment = send(client, "check").text
    response = send(client, "check", htmx=False)

    assert response.history[0].status_code == 303
    assert response.history[0].headers["location"] == f"{LESSON}#linear-backward"
    assert fragment.partition("<p hx-swap-oob")[0].strip() in response.text


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_has_its_own_words(client: TestClient, ending: str) -> None:
    text = send(client, "check", ending).text

    titles = {
        "refused": "Not run",
        "error": "Stopped by an error",
        "timeout": "took too long",
        "memory": "too much memory",
        "denied": "not allowed here",
        "crashed": "Crashed",
        "fault": "Our fault, not yours",
    }
    assert titles[ending] in text
    assert sum(title in text for title in titles.values()) == 1
    assert f"This ended as <code>{ending}</code>." in text
    assert 'data-line="1"' in text


def test_printed_text_and_messages_are_escaped(client: TestClient) -> None:
    text = send(client, "check", "<script>alert(1)</script></textarea><script>alert(2)</script>").text
    whole = client.get(LESSON).text

    for found in (text, whole):
        assert "<script>alert" not in found
        assert "</textarea><script>" not in found
    assert "&lt;b&gt;" in text


def test_the_text_comes_back_as_it_was_sent(client: TestClient, page) -> None:
    code = "\n\n  dX = 1\n\tμ <b> & \"'\n\n"
    send(client, "check", code.replace("\n", "\r\n"))

    # A browser drops the first line break after <textarea>.
    assert page(client.get(LESSON).text).raw("linear-backward-code").removeprefix("\n") == code


@pytest.mark.alone
def test_the_same_text_again_gets_the_stored_verdict_without_a_grader(client: TestClient, grader) -> None:
    first = send(client, "check").text
    second = send(client, "check", revision=1).text

    assert grader.checked == [WRONG]
    assert first == second


@pytest.mark.alone
def test_the_same_text_of_somebody_else_is_found_too(client: TestClient, other: TestClient, grader) -> None:
    send(client, "check")
    text = send(other, "check").text

    assert grader.checked == [WRONG]
    assert "0 of 3 right" in text


@pytest.mark.alone
@pytest.mark.parametrize("ending", ["timeout", "memory", "denied", "crashed", "fault"])
def test_an_ending_that_may_not_come_again_is_not_reused(client: TestClient, grader, ending: str) -> None:
    send(client, "check", ending)
    send(client, "check", ending, 1)

    assert len(grader.checked) == 2


@pytest.mark.alone
def test_every_check_is_kept_with_its_diagnosis(client: TestClient, tmp_path: Path) -> None:
    for revision, code in enumerate((WRONG, "fault", RIGHT)):
        send(client, "check", code, revision)

    with sqlite3.connect(tmp_path / "data" / "backhand.db") as db:
        rows = db.execute("SELECT text, correct, code FROM attempt ORDER BY id").fetchall()
    db.close()
    assert rows == [(WRONG, 0, "dX:transposed"), ("fault", None, None), (RIGHT, 1, None)]


@pytest.mark.alone
def test_a_run_shows_values_and_is_no_attempt(client: TestClient, tmp_path: Path) -> None:
    text = send(client, "run").text

    assert "Ran, without a verdict" in text
    assert "(3, 2)" in text
    assert "tensor([[&lt;1.&gt;]])" in text
    assert "&lt;i&gt;hello" in text
    with sqlite3.connect(tmp_path / "data" / "backhand.db") as db:
        assert db.execute("SELECT count(*) FROM attempt").fetchone() == (0,)
    db.close()


def test_a_run_by_a_plain_form_stands_on_the_page_until_the_next_check(client: TestClient) -> None:
    assert "Ran, without a verdict" in send(client, "run", htmx=False).text
    assert "Ran, without a verdict" in client.get(LESSON).text
    assert "Ran, without a verdict" not in send(client, "check", revision=1, htmx=False).text


def test_a_run_that_fails_says_where(client: TestClient) -> None:
    text = send(client, "run", "error").text

    assert "<code>q</code> is not defined." in text
    assert 'data-line="1"' in text


@pytest.mark.alone
def test_a_hint_that_fits_the_fault_is_named(client: TestClient, grader) -> None:
    grader.outcome = Verdict(outcome="graded", names=(NameVerdict(name="dX", verdict="wrong", code="dX:factor"),))

    assert "Hint 2 of 2 is about <code>dX</code>; hint 1 opens before it." in send(client, "check").text
    assert "Hint 2 of 2 is about <code>dX</code>; it is the next one." in send(client, "hint", revision=1).text
    opened = send(client, "hint", revision=1).text
    assert '<a href="#linear-backward-hint-2">Hint 2 of 2</a> is about <code>dX</code>.' in opened


@pytest.mark.parametrize(("total", "offer"), [(1, "A hint is available."), (2, "Hint 1 of 2 is available.")])
def test_the_next_hint_is_offered_as_a_sentence_begins(total: int, offer: str) -> None:
    assert HintsView(open=(), total=total, url="", free=False).offer == offer
    assert HintsView(open=(), total=total, url="").offer == f"{offer} Hints are free."


def test_hints_of_a_box_keep_its_text(client: TestClient, page) -> None:
    response = send(client, "hint", "my work", htmx=False)
    found = page(response.text)

    assert "First hint." in found.text("linear-backward-hints")
    assert "Second hint." not in response.text
    assert found.raw("linear-backward-code").strip() == "my work"


def test_a_hint_is_offered_after_a_failed_check_only(client: TestClient) -> None:
    assert "Hints are free" not in client.get(LESSON).text
    assert "Hint 1 of 2 is available" in send(client, "check").text
    assert "Hints are free" not in send(client, "check", RIGHT, 1).text
    assert "Hints are free" not in send(client, "check", "fault", 2).text


def test_the_solution_opens_after_the_last_hint(client: TestClient) -> None:
    assert "The solution opens after the last hint." in send(client, "solution").text
    send(client, "hint", revision=1)
    assert 'aria-disabled="true"' in send(client, "hint", revision=1).text.partition("solution-button")[0]
    text = send(client, "solution", revision=1).text

    assert "The author’s solution" in text
    assert "W @ dY" in re.sub("<[^>]+>", "", text.partition("Yours")[2])
    assert "The author’s solution" in client.get(LESSON).text


def test_a_closed_solution_is_nowhere_on_the_page(client: TestClient) -> None:
    send(client, "solution", htmx=False)

    assert "author’s solution" not in client.get(LESSON).text
    assert "X.T @ dY" not in client.get(LESSON).text.replace("<", "")


def test_after_success_the_solution_can_be_opened_beside_the_own_text(client: TestClient) -> None:
    send(client, "check", RIGHT)
    text = send(client, "solution", RIGHT, 1).text

    assert '<span class="o">' in text.partition("Yours")[2], "both are coloured"
    assert "The author’s solution" in text


def test_checks_that_failed_open_the_solution_where_the_author_says_so(client: TestClient) -> None:
    box = f"{LESSON}/code/bias-backward"

    def solution() -> str:
        return client.post(f"{box}/solution", data={"code": "x", "revision": 0}, headers=HTMX).text

    closed = []
    for code in ("a", "busy", "b", "c"):
        client.post(f"{box}/check", data={"code": code, "revision": 0}, headers=HTMX)
        closed.append("The author’s solution" not in solution())
    assert closed == [True, True, False, False]


def test_a_text_that_is_too_long_is_saved_but_not_graded(client: TestClient, grader, page) -> None:
    code = "#" * 70_000
    text = send(client, "check", code).text

    assert "characters; a box takes 50,000." in text
    assert grader.checked == []
    assert page(client.get(LESSON).text).raw("linear-backward-code").strip() == code


def test_where_code_is_refused_the_box_says_why_and_everything_else_works(client: TestClient, grader, page) -> None:
    grader.readiness = Readiness(state="refused", reason="seccomp is missing on this machine.")

    whole = client.get(LESSON).text
    assert "seccomp is missing on this machine." in page(whole).text("readiness")
    for act, title in (("check", "Not checked yet"), ("run", "Not run yet")):
        answer = send(client, act)
        assert answer.status_code == 429
        assert title in answer.text
        assert "this says nothing about yours. It is saved. Tell your instructor, or the operator of" in answer.text
        assert "of this server: seccomp is missing on this machine." in answer.text
        assert "Not run." not in answer.text
    assert grader.checked == []
    assert client.post(f"{LESSON}/quiz/half", data={"answer": "0.5"}, headers=HTMX).status_code == 200


@pytest.mark.alone
def test_a_machine_that_turns_out_to_refuse_code_judges_nothing(client: TestClient, grader, monkeypatch) -> None:
    async def check(*_: object) -> Verdict:
        grader.readiness = Readiness(state="refused", reason="seccomp is missing.")
        return Verdict(outcome="refused", message="seccomp is missing.")

    grader.readiness = Readiness(state="warming")
    with monkeypatch.context() as patched:
        patched.setattr(grader, "check", check)
        send(client, "check")
    grader.readiness = Readiness(state="ready")

    assert "seccomp is missing" not in send(client, "check", revision=1).text
    assert send(client, "run", revision=1).status_code == 200
    assert len(grader.checked) == 1


@pytest.mark.alone
def test_a_refusal_by_the_server_is_no_attempt(client: TestClient, grader, tmp_path: Path) -> None:
    grader.readiness = Readiness(state="refused", reason="No.")
    send(client, "check")
    grader.readiness = Readiness(state="ready")
    send(client, "check", revision=1)

    with sqlite3.connect(tmp_path / "data" / "backhand.db") as db:
        assert db.execute("SELECT correct FROM attempt ORDER BY id").fetchall() == [(0,)]
    db.close()


def test_while_graders_start_the_page_says_so_and_asks_again(client: TestClient, grader, page) -> None:
    grader.readiness = Readiness(state="warming")
    waiting = page(client.get(LESSON).text)
    assert "graders are starting" in waiting.text("readiness")
    assert waiting.attributes["readiness"]["hx-get"] == f"{LESSON}/readiness"

    grader.readiness = Readiness(state="ready")
    ready = page(client.get(f"{LESSON}/readiness", headers=HTMX).text)
    assert ready.text("readiness") == ""
    assert "hx-get" not in ready.attributes["readiness"]


def test_while_graders_are_away_the_page_says_so_and_asks_again(client: TestClient, grader, page) -> None:
    grader.readiness = Readiness(state="away", reason="The graders cannot be reached just now.")

    text = page(client.get(LESSON).text)

    assert text.text("readiness").startswith("The graders cannot be reached just now. Reading, quizzes")
    assert text.attributes["readiness"]["hx-get"] == f"{LESSON}/readiness"


def test_a_verdict_about_an_earlier_text_marks_no_lines(client: TestClient) -> None:
    send(client, "check")
    send(client, "draft", "something else", 1)
    text = client.get(LESSON).text

    assert "(an earlier text)" in text
    assert 'data-line="' not in text


def test_the_editor_is_told_what_is_in_scope(client: TestClient) -> None:
    text = client.get(LESSON).text

    assert "X|(4, 3); W|(3, 2); b|(2,); Y|(4, 2); dY|(4, 2); N|4; D|3; H|2; torch|module" in text


@pytest.mark.alone
def test_a_verdict_of_an_older_version_is_left_out_of_the_page(client: TestClient, tmp_path: Path) -> None:
    send(client, "check")
    with sqlite3.connect(tmp_path / "data" / "backhand.db") as db:
        db.execute("""UPDATE attempt SET verdict_json = '{"outcome": "graded", "old": 1}'""")
    db.close()

    assert client.get(LESSON).status_code == 200
    assert send(client, "check", revision=1).status_code == 200


@pytest.mark.alone
def test_numbers_that_json_does_not_know_survive(client: TestClient, grader) -> None:
    worst = (Worst(index=(0,), yours=float("nan"), off=float("nan"), ratio=float("inf")),)
    map_ = Differences(rows=("?l",), largest=float("inf"), shape=(2,), pattern="1 of the 2 entries is not a number.")
    name = NameVerdict(name="dX", verdict="wrong", maxdiff=float("inf"), worst=worst, differences=map_)
    grader.outcome = Verdict(outcome="graded", names=(name,))

    assert "nan" in send(client, "check").text
    assert "nan" in client.get(LESSON).text
