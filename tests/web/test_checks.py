from app.content.blocks import CodeBox
from app.web.checks import TaskRegistry


def test_a_stored_verdict_is_not_found_under_another_secret(course):
    lesson, box = next((one, box) for one in course.lessons for box in one.exercises if isinstance(box, CodeBox))

    keys = {TaskRegistry(course, mark).key(lesson, box, "dW = X.T @ dY") for mark in ("", "one", "other")}

    assert len(keys) == 3
