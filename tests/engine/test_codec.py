import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from app.content.blocks import Code, DeclaredMistake, Forward, Grad, Hint, Input, SourceLocation
from app.engine.codec import from_json_value, to_json_value
from app.engine.task import GradTask
from app.grading.forward.facts import Facts
from app.grading.judge.verdict import Differences, NameVerdict, Verdict, Worst

PLACE = SourceLocation("lesson.md", 3)


def a_task() -> GradTask:
    code = Code(place=PLACE, source="dX = dY", line=9)
    return GradTask(
        forward=Forward(
            place=PLACE, name="copy", dims={"N": 4}, inputs=(Input(name="X", sizes=("N",)),), output="Y",
            source="Y = X * 1", source_line=5,
        ),
        grad=Grad(
            place=PLACE, name="copy-backward", forward="copy", require=("dX",), starter=code, solution=code,
            prompt=Markup("<p>Go.</p>"), hints=(Hint(place=PLACE, html=Markup("<p>One.</p>")),),
            mistakes=(DeclaredMistake(place=PLACE, message="No.", html=Markup("No."), code=code),),
        ),
        given=("dZ",),
    )  # fmt: skip


floats = st.floats(allow_nan=False)
worsts = st.builds(Worst, index=st.lists(st.integers()).map(tuple), yours=floats, off=floats, ratio=st.none() | floats)
sizes = st.lists(st.integers()).map(tuple)
maps = st.builds(
    Differences, rows=st.lists(st.text()).map(tuple), largest=floats, shape=sizes,
    corner=st.tuples(st.integers(), st.integers()), pattern=st.text(),
)  # fmt: skip
names = st.builds(
    NameVerdict, name=st.text(), verdict=st.sampled_from(["right", "wrong"]), code=st.none() | st.text(),
    message=st.text(), exact=st.none() | st.booleans(), approx=st.none() | st.booleans(),
    maxdiff=st.none() | floats, line=st.none() | st.integers(), note=st.text(),
    worst=st.lists(worsts, max_size=2).map(tuple),
    differences=st.none() | maps,
)  # fmt: skip
verdicts = st.builds(
    Verdict, outcome=st.sampled_from(["graded", "error"]), passed=st.booleans(),
    names=st.lists(names, max_size=3).map(tuple), line=st.none() | st.integers(), column=st.none() | st.integers(),
    message=st.text(), hidden_sizes=st.integers(), printed=st.text(), wall_ms=floats, jail_ms=floats,
)  # fmt: skip


@given(verdicts)
def test_a_verdict_survives_the_way_through_json(verdict: Verdict) -> None:
    assert from_json_value(Verdict, json.loads(json.dumps(to_json_value(verdict)))) == verdict


def test_a_task_survives_the_way_through_json_with_its_markup() -> None:
    task = a_task()

    back = from_json_value(GradTask, json.loads(json.dumps(to_json_value(task))))

    assert back == task
    assert isinstance(back.grad.prompt, Markup)


def test_facts_keep_their_shapes_as_tuples() -> None:
    facts = Facts(shapes={"X": (4, 3), "L": ()}, gradable=("L", "X"))

    assert from_json_value(Facts, json.loads(json.dumps(to_json_value(facts)))) == facts


@pytest.mark.parametrize(
    "value",
    [
        None, 3, "graded", [], {}, {"outcome": "victory"}, {"outcome": "graded", "passed": 1},
        {"outcome": "graded", "names": {}}, {"outcome": "graded", "names": [3]}, {"outcome": "graded", "more": 1},
        {"outcome": "graded", "line": "3"}, {"outcome": "graded", "wall_ms": True},
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_an_error(value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        from_json_value(Verdict, value)
