"""A run without a verdict as a page shows it."""

from dataclasses import replace

from starlette.testclient import TestClient

from app.engine.grader import RunResult
from app.grading.judge.line_shapes import InlayShapes, LineShape, NameShape
from app.grading.judge.origins import Origin
from app.grading.judge.run_reports import ShownValue
from app.web.views import run_result_view
from app.web.views.run_result_view import RunResultView

LESSON = "/lessons/linear"
ROWS = (("1", "2"), ("3", "4"))
RAN = RunResult(
    outcome="graded",
    shown=(
        ShownValue(name="dW.sum()", shape=(), dtype="float32", text="tensor(9.)", rows=(("9",),), map=("l",)),
        ShownValue(name="dW", shape=(100, 27), dtype="float32", text="tensor(...)", rows=ROWS, map=("aB", ".?")),
        ShownValue(name="tmp", shape=(2, 3, 2), dtype="float32", text="tensor(...)", rows=ROWS, map=("ab", "cd")),
        ShownValue(name="k", shape=(), dtype="int", text="3"),
    ),
    told=InlayShapes(
        lines=(LineShape(line=1, text="(D, H)", fits=True), LineShape(line=2, text="(N, D) @ (N, H)", start=(2, 4))),
        names=(NameShape(name="dW", shape="(D, H)", numbers="(100, 27)", line=1),),
    ),
    origins=(
        Origin(name="dW", tensor="X", shape=(32, 100), places=("[:, 0]", "[:, 0]", "[:, 1]", "[:, 1]")),
        Origin(name="dW", tensor="dY", shape=(32, 27), places=("[:, 0]", "[:, 1]", "[:, 0]", "")),
    ),
)
VIEW = RunResultView(RAN, ("dX", "dW"))


def test_expressions_come_first_then_asked_then_other_values() -> None:
    assert [[one.name for one in part] for part in (VIEW.values, VIEW.asked, VIEW.others)] == [
        ["dW.sum()"],
        ["dW"],
        ["tmp", "k"],
    ]


def test_a_gradient_shows_its_dims_and_where_each_entry_came_from() -> None:
    (seen,) = VIEW.asked

    assert (seen.shape, seen.numbers, seen.cut) == ("(D, H)", "(100, 27)", True)
    assert seen.came == "dW[0, 0] came from X[:, 0] and dY[:, 0]."
    assert [cell.came for _, cells in seen.rows for cell in cells][1:] == [
        "X[:, 0] and dY[:, 1]",
        "X[:, 1] and dY[:, 0]",
        "X[:, 1]",
    ]


def test_of_more_axes_than_two_a_row_says_all_places_before_the_last() -> None:
    tmp = VIEW.others[0]

    assert [label for label, _ in tmp.rows] == ["0, 0", "0, 1"]
    assert tmp.came == ""


def test_a_box_that_asks_for_no_gradient_shows_all_names() -> None:
    assert [one.name for one in RunResultView(RAN, ()).asked] == ["dW", "tmp", "k"]


def test_of_many_gradients_all_but_the_first_are_folded(client: TestClient, grader, monkeypatch) -> None:
    many = replace(RAN, shown=tuple(replace(RAN.shown[1], name=f"d{name}") for name in "XWbY"))

    async def ran(*_: object) -> RunResult:
        return many

    monkeypatch.setattr(grader, "run", ran)
    monkeypatch.setattr(run_result_view, "MOST_OPEN", 2)

    text = client.post(f"{LESSON}/code/linear-backward/run", data={"code": "dW = 2", "revision": 0}).text

    assert text.count('<details class="fold" open>') == 1
    assert text.count('<details class="fold">') == 2


def test_a_run_is_a_table_with_headers_and_the_shapes_of_its_lines(client: TestClient, grader, monkeypatch) -> None:
    async def ran(*_: object) -> RunResult:
        return RAN

    monkeypatch.setattr(grader, "run", ran)

    text = client.post(f"{LESSON}/code/linear-backward/run", data={"code": "dW = 1", "revision": 0}).text

    assert "dW[0, 0] came from X[:, 0] and dY[:, 0]." in text
    assert '<th scope="col">1</th>' in text
    assert '<td data-place="[1, 0]" data-came="X[:, 1] and dY[:, 0]">3</td>' in text
    assert "<dt>Line 2</dt>" in text
    assert text.count('role="img"') >= 1
