"""A box that asks what a check will say before it comes."""

import pytest
from starlette.testclient import TestClient

from app.grading.judge.verdict import NameVerdict, Standing, Verdict
from tests.turns import PAGES

FOLDER = "held"
LESSON = "/lessons/predictions"
BOX = f"{LESSON}/code/layer-backward"
HTMX = {"hx-request": "true"}
WRONG = "dX = dY @ W\n"
NOTHING, FIRST, SECOND, SEVERAL = 1, 2, 3, 4


def check(client: TestClient, code: str, line: int | None = None, **more) -> str:
    data = {"code": code, "revision": 0, **({} if line is None else {"line": line})}
    return client.post(f"{BOX}/check", data=data, **more).text


def test_a_box_asks_among_its_names_and_no_browser_holds_a_check_back(client: TestClient) -> None:
    text = client.get(LESSON).text

    assert "You check the first line <em>alone</em>. What will be red?" in text
    assert text.count('name="line" value="4"') == 1
    assert " required" not in text
    assert "<code>dW</code> will be red, and nothing else." in text
    assert text.count("Nothing will be red.") == 2
    assert text.count("More than one will be red.") == 1
    assert (
        'layer-backward-run" data-action="run" formaction="/lessons/predictions/code/layer-backward/run" formnovalidate'
        in text
    )


def verdict(*standings: Standing) -> Verdict:
    names = (NameVerdict(name=name, verdict=one) for name, one in zip(("dX", "dW"), standings, strict=True))
    return Verdict(outcome="graded", passed=set(standings) == {"right"}, names=tuple(names), hidden_sizes=2)


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.alone
@pytest.mark.parametrize(
    ("standings", "predicted", "said"),
    [
        (("wrong", "not-yet"), FIRST, "As you predicted: <code>dX</code> will be red, and nothing else."),
        (("right", "wrong"), FIRST, "You predicted: <code>dX</code> will be red, and nothing else. It came otherwise."),
        (("wrong", "follows"), FIRST, "As you predicted: <code>dX</code> will be red, and nothing else."),
        (("wrong", "follows"), SEVERAL, "You predicted: More than one will be red. It came otherwise."),
        (("wrong", "wrong"), SEVERAL, "As you predicted: More than one will be red."),
        (("aliased", "wrong"), SEVERAL, "As you predicted: More than one will be red."),
        (("wrong", "right"), NOTHING, "You predicted: Nothing will be red. It came otherwise."),
        (("right", "right"), NOTHING, "As you predicted: Nothing will be red."),
        (("right", "not-yet"), NOTHING, "As you predicted: Nothing will be red."),
    ],
)
def test_the_verdict_is_laid_beside_the_prediction(
    client: TestClient, grader, standings: tuple[Standing, Standing], predicted: int, said: str
) -> None:
    grader.outcome = verdict(*standings)

    assert said in check(client, WRONG, predicted, headers=HTMX)
    assert said in client.get(LESSON).text


@pytest.mark.parametrize("line", [None, 9])
def test_without_a_prediction_nothing_is_compared(client: TestClient, line: int | None) -> None:
    text = check(client, WRONG, line)

    assert "ou predicted:" not in text
    assert 'data-outcome="graded"' in text


def test_what_was_predicted_stays_marked_and_out_of_the_code(client: TestClient) -> None:
    text = check(client, WRONG, FIRST)

    assert 'value="2" autocomplete="off" checked' in text
    assert "# predicted" not in text.partition("<textarea")[2].partition("</textarea>")[0]


def test_a_run_needs_no_prediction_and_keeps_it(client: TestClient) -> None:
    client.post(f"{BOX}/run", data={"code": WRONG, "revision": 0, "line": SECOND})

    assert 'value="3" autocomplete="off" checked' in client.get(LESSON).text


@pytest.mark.alone
def test_a_check_that_said_nothing_of_gradients_confirms_nothing(client: TestClient, grader) -> None:
    grader.outcome = Verdict(outcome="timeout", message="It took too long.")

    text = check(client, WRONG, NOTHING)

    assert "It took too long." in text
    assert "ou predicted:" not in text
