"""Functions and classes that learners write, judged by their values through the engine and the real jail."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.course.parse import parse_lesson
from app.engine.grade.engine import Engine
from app.engine.task import task_of
from app.sandbox.wire import Reply

PATH = Path(__file__).parents[1] / "functions.md"
LESSON, ERRORS = parse_lesson(PATH.read_text(encoding="utf-8"), PATH.name)
assert LESSON is not None, ERRORS
TASKS = {one.name: task_of(LESSON, one) for one in LESSON.exercises}


def checked(jailed, name, code):
    return jailed.check(TASKS[name], code)


def wrong(verdict):
    return [one for one in verdict.names if one.verdict == "wrong"]


@pytest.mark.parametrize("name", TASKS)
def test_the_solution_of_a_function_passes(jailed, name):
    verdict = checked(jailed, name, LESSON.exercise(name).solution.source)

    assert verdict.passed, verdict
    assert [one.name for one in verdict.names] == [f"case {n}" for n in range(1, len(verdict.names) + 1)]


def test_another_way_to_write_it_passes(jailed):
    code = (
        "def unbroadcast(g, shape):\n"
        "    added = g.dim() - len(shape)\n"
        "    kept = [added + i for i, size in enumerate(shape) if size == 1]\n"
        "    return g.sum([*range(added), *kept], keepdim=True).reshape(shape)\n"
    )

    assert checked(jailed, "unbroadcast", code).passed


def test_a_failing_case_is_shown_with_what_it_gave_and_what_was_wanted(jailed):
    verdict = checked(jailed, "unbroadcast", "def unbroadcast(g, shape):\n    return g\n")

    first = wrong(verdict)[0]
    facts = dict(first.facts)
    assert (first.name, first.message) == ("case 1", "An axis that was added is summed away.")
    assert facts["The case"] == "g = torch.randn(4, 3)\nshape = (3,)"
    assert facts["It gave"].startswith("a tensor of shape (4, 3)")
    assert facts["Wanted"].startswith("a tensor of shape (3,)")


def test_memory_that_a_function_leaves_unset_is_nan(jailed):
    code = """\
def unbroadcast(g, shape):
    added = g.dim() - len(shape)
    kept = [added + i for i, size in enumerate(shape) if size == 1]
    total = torch.empty(shape)
    total += g.sum([*range(added), *kept], keepdim=True).reshape(shape)
    return total
"""

    first = wrong(checked(jailed, "unbroadcast", code))[0]

    assert "nan" in dict(first.facts)["It gave"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("g.sum(0)", "It gave nothing back. Does every way through it end in a `return` with a value?"),
        ("return g.sum(7)", "It stopped with an error. `g` (4, 3) has no axis 7; its axes go from -2 to 1."),
    ],
)
def test_that_no_answer_was_given_is_told_first(jailed, body, said):
    verdict = checked(jailed, "unbroadcast", f"def unbroadcast(g, shape):\n    {body}\n")

    assert wrong(verdict)[0].message.startswith(said)


def test_a_declared_mistake_is_recognised_however_it_is_written(jailed):
    code = (
        "def unbroadcast(g, shape):\n"
        "    added = g.dim() - len(shape)\n"
        "    kept = [added + i for i, size in enumerate(shape) if size == 1]\n"
        "    return g.mean([*range(added), *kept], keepdim=True).reshape(shape)\n"
    )

    assert wrong(checked(jailed, "unbroadcast", code))[0].message == "That is the mean."


def test_a_declared_mistake_is_told_in_the_words_that_it_has_now(jailed):
    box = TASKS["unbroadcast"]
    (mean,) = (mistake for mistake in box.mistakes if mistake.message == "That is the mean.")
    checked(jailed, "unbroadcast", mean.code.source)

    edited = replace(box, mistakes=(replace(mean, message="It is the mean."),))

    assert wrong(jailed.check(edited, mean.code.source))[0].message == "It is the mean."


class Busy:
    """A jail that may fail once with the text of a declared mistake, and that tells how long such texts may run."""

    def __init__(self, jail, mistake, *endings):
        self.jail, self.mistake, self.endings, self.seconds = jail, mistake, list(endings), []

    def run(self, job):
        if job.header.get("source") != self.mistake.code.source:
            return self.jail.run(job)
        self.seconds.append(job.cpu_seconds)
        return Reply(ending=self.endings.pop()) if self.endings else self.jail.run(job)


def test_a_declared_mistake_runs_in_full_and_again_where_the_jail_failed(jail):
    box = TASKS["unbroadcast"]
    (mean,) = (mistake for mistake in box.mistakes if mistake.message == "That is the mean.")
    busy = Busy(jail, mean, "fault")
    engine, code = Engine(busy, None), f"{mean.code.source}\n# another text"

    messages = [wrong(engine.check(box, code, seconds=box.seconds / 2))[0].message for _ in range(3)]

    assert [message == "That is the mean." for message in messages] == [False, True, True]
    assert busy.seconds == [box.seconds, box.seconds]


def test_a_solution_that_takes_longer_than_a_first_try_has_its_time(jailed):
    box = TASKS["unbroadcast"]
    long = "    for _ in range(30_000):\n        g * 2\n    return"
    slow = replace(box, solution=replace(box.solution, source=box.solution.source.replace("    return", long, 1)))

    verdict = jailed.check(slow, "def unbroadcast(g, shape):\n    return g\n", seconds=0.1)

    assert verdict.outcome == "graded"


def test_arguments_that_come_back_changed_are_seen(jailed):
    code = "def unbroadcast(g, shape):\n    total = g.sum(0)\n    g.zero_()\n    return total.reshape(shape)\n"

    assert "case 3" in [one.name for one in wrong(checked(jailed, "unbroadcast", code))]


@pytest.mark.parametrize("given", ['["a", "b", "c"]', '["b", "a", "c"]', '("b", "a", "c")'])
def test_every_answer_that_the_author_accepts_is_right(jailed, given):
    assert checked(jailed, "order", f"def order(graph):\n    return {given}\n").passed


@pytest.mark.parametrize("given", ['["c", "a", "b"]', '["a", "a", "b", "c"]', "None", "7", "graph", "[[[[[[]]]]]]"])
def test_every_other_answer_is_wrong(jailed, given):
    verdict = checked(jailed, "order", f"def order(graph):\n    return {given}\n")

    assert (verdict.outcome, verdict.passed) == ("graded", False)


def test_the_learner_never_meets_what_is_expected(jailed):
    code = "def order(graph):\n    return expect(['a', 'b', 'c'])\n"

    assert "expect" in wrong(checked(jailed, "order", code))[0].message


def test_an_error_is_told_with_its_line_and_other_cases_are_judged(jailed):
    code = (
        "def unbroadcast(g, shape):\n"
        "    if shape == (3,):\n"
        "        return g @ g\n"
        "    return g.sum(1, keepdim=True) if len(shape) == 2 else g.sum(0)\n"
    )

    verdict = checked(jailed, "unbroadcast", code)

    assert [one.name for one in wrong(verdict)] == ["case 1"]
    assert wrong(verdict)[0].line == 3


@pytest.mark.parametrize(
    "code",
    [
        "class Counter:\n    def __init__(self, start):\n        self.__dict__ = {}\n",
        "class Counter(int):\n    pass\n",
        "class Counter:\n    def __getattribute__(self, name):\n        return 1\n",
        "class Counter:\n    x = ().__class__\n",
        "import os\n",
    ],
)
def test_a_class_reaches_nothing_that_a_function_could_not(jailed, code):
    assert checked(jailed, "counter", code).outcome == "refused"


def test_a_class_is_refused_where_no_function_is_asked_for(jailed):
    lesson, _ = parse_lesson((PATH.parent / "layer.md").read_text(encoding="utf-8"), "layer.md")
    box = next(one for one in lesson.exercises if hasattr(one, "require"))

    assert jailed.check(task_of(lesson, box), "class A:\n    pass\n").outcome == "refused"


def test_a_text_that_defines_nothing_is_told_how_to_begin(jailed):
    verdict = checked(jailed, "counter", "x = 1\n")

    assert "Begin with `class Counter:`." in verdict.names[0].message


@pytest.mark.parametrize(
    ("body", "same"),
    [("return 2 * g * 0.5 * 3", True), ("return torch.full_like(g, 3.0) * g", True), ("return g * 4", False)],
)
def test_texts_that_give_the_same_share_a_key_and_others_have_another(jailed, body, same):
    def key(text):
        return wrong(checked(jailed, "unbroadcast", f"def unbroadcast(g, shape):\n    {text}\n"))[0].key

    first = key("return g * 3")

    assert first.startswith("case-1:differs:")
    assert (key(body) == first) == same


def test_a_mistake_that_has_a_sentence_has_no_key(jailed):
    (mean,) = (one for one in TASKS["unbroadcast"].mistakes if one.message == "That is the mean.")

    assert {one.key for one in checked(jailed, "unbroadcast", mean.code.source).names} == {""}
