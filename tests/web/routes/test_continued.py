"""A function that continues another box: what was written there stands above it, once it is right."""

from starlette.testclient import TestClient

from app.web.views.exercise_view import UNTIL_RIGHT

FOLDER = "held"
LESSON = "/lessons/continued"
ENGINE = "class Value:\n    def __init__(self, data):\n        self.data = data\n"
STARTER = "def doubled(x):\n    ____\n"
HTMX = {"hx-request": "true"}


def send(client: TestClient, box: str, action: str, code: str, **more: str) -> str:
    data = {"code": code, "revision": 0, **more}
    return client.post(f"{LESSON}/code/{box}/{action}", data=data, headers=HTMX).text


def check_engine(client: TestClient, code: str = ENGINE) -> None:
    send(client, "engine", "check", code)


def standing(page, text: str) -> str:
    return page(text).raw("engine-at-work-code").lstrip("\n")


def test_until_the_earlier_box_is_right_its_place_is_kept(client: TestClient, page) -> None:
    assert standing(page, client.get(LESSON).text) == f"{UNTIL_RIGHT}\n\n\n{STARTER}"

    check_engine(client, ENGINE.replace("data = data", "data = 0"))

    assert standing(page, client.get(LESSON).text) == f"{UNTIL_RIGHT}\n\n\n{STARTER}"


def test_what_was_right_stands_above(client: TestClient, page) -> None:
    check_engine(client)

    assert standing(page, client.get(LESSON).text) == f"{ENGINE}\n\n{STARTER}"


def test_a_box_that_only_kept_its_place_was_not_edited(client: TestClient, page) -> None:
    assert "engine-at-work-code" in send(client, "engine", "check", ENGINE)
    send(client, "engine-at-work", "draft", f"{UNTIL_RIGHT}\n\n\n{STARTER}")

    assert standing(page, send(client, "engine", "check", ENGINE)) == f"{ENGINE}\n\n{STARTER}"
    assert standing(page, client.get(LESSON).text) == f"{ENGINE}\n\n{STARTER}"

    send(client, "engine-at-work", "draft", STARTER, revision="1")
    assert "engine-at-work-code" not in send(client, "engine", "check", ENGINE)
    assert standing(page, client.get(LESSON).text) == STARTER


def test_what_was_written_meanwhile_stays_until_it_is_reset(client: TestClient, page) -> None:
    send(client, "engine-at-work", "check", STARTER.replace("____", "return 2"))
    check_engine(client)
    check_engine(client, "class Value: pass")

    assert "return 2" in standing(page, client.get(LESSON).text)
    reset = send(client, "engine-at-work", "reset", "x", confirm="yes")
    assert standing(page, reset) == f"{ENGINE}\n\n{STARTER}"


def test_the_solution_is_a_whole_program(course) -> None:
    box = next(one for lesson in course.lessons for one in lesson.exercises if one.name == "engine-at-work")

    assert box.solution.source == f"{ENGINE}\n\ndef doubled(x):\n    return 2 * Value(x).data\n"
