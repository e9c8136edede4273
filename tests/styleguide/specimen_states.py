"""Every exercise in every state that it can be in, for the styleguide: what a learner did for that is made up."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

from app.content.blocks import Block, Bug, CodeBox, Exercise, Lesson
from app.engine.grader import RunResult
from app.engine.json_columns import to_json_column
from app.grading.judge.hunt_verdict import with_line
from app.grading.judge.line_shapes import InlayShapes, LineShape
from app.grading.judge.origins import Origin
from app.grading.judge.run_reports import ShownValue
from app.grading.judge.verdict import Differences, NameVerdict, Verdict, Worst
from app.store.progress import AttemptSummary, LessonState
from app.store.tables import Attempt, Draft, Progress
from app.web.views.exercise_view import number_word
from app.web.views.lesson_view import PageBlock
from tests.styleguide.specimens import THEN

WRONG_CODE = {"linear-backward": "dX = W @ dY\ndW = X.T @ dY\ndb = ____\n"}
"""By box, where the starter would not do."""

ANSWERS = {
    "dw-shape": (["(4, 2)"], ["(3, 2)"]),
    "half": (["2"], ["0.5"]),
    "two": (["3", "0.5"], ["2", "0.5"]),
    "pick": (["0"], ["1"]),
    "both": (["0", "2"], ["0", "1"]),
    "db-axes": (["1"], ["0"]),
    "dw-product": (["dY", "", "X", ""], ["X", "1", "dY", ""]),
    "db-cells": (["1", "1"], ["4", "2"]),
    "which-first": (["1", "1", "2", "2"], ["2", "1", "1", "2"]),
}
"""By question: a wrong answer and a right one."""

right = partial(NameVerdict, verdict="right")
wrong = partial(NameVerdict, verdict="wrong")
PASSED = tuple(right(name=name, exact=True, approx=True, maxdiff=0.0) for name in ("dX", "dW", "db"))


def graded(*names: NameVerdict, **values: Any) -> Verdict:
    """It passed where all *names* are right."""
    return Verdict(
        outcome="graded", passed=all(name_verdict.verdict == "right" for name_verdict in names), names=names, **values
    )


VERDICTS = {
    "wrong": graded(
        wrong(
            name="dX", code="dX:transposed", message="This is the transpose of `dX`.", line=1,
            exact=False, approx=False, maxdiff=0.731,
            worst=(Worst(index=(1, 2), yours=0.5, off=1.0, ratio=-1.0),),
            differences=Differences(rows=(".aL", "lA?"), largest=0.731, shape=(2, 3), pattern="Each row is off."),
        ),
        PASSED[1],
        NameVerdict(name="db", verdict="not-yet", message="A blank is left."),
        hidden_sizes=2,
        printed="a line that was printed",
    ),
    "right": graded(*PASSED, hidden_sizes=2),
    "refused": Verdict(outcome="refused", message="`import os`: boxes import nothing.", line=1),
    "error": Verdict(outcome="error", message="`q` is not defined.", line=1),
    "timeout": Verdict(outcome="timeout", message="It did not end within 2 s.", line=1),
    "busy": Verdict(outcome="busy", message="No grader was free in time. Try again in a moment."),
}  # fmt: skip
ENDS = {
    "linear-backward": VERDICTS,
    "predicted": {name: VERDICTS[name] for name in ("wrong", "right")},
    "silent-mean": {
        "wrong": graded(wrong(name="line", code="line:innocent", word="not line 2", message="It is a product.")),
        "right": graded(
            right(name="line", word="line 3, found"), *PASSED, right(name="other lines", word="as they were")
        ),
    },
    "agree": {
        "wrong": graded(
            right(name="case 1", word="accepted, rightly"),
            wrong(
                name="case 2", code="case-2:accepted", word="accepted, wrongly",
                message="One entry is off by one percent.", facts=(("The case", "got = tensor([1.00, 2.02])"),),
            ),
        ),
        "right": graded(
            right(name="case 1", word="accepted, rightly"), right(name="case 2", word="refused, rightly")
        ),
    },
    "doubled": {
        "wrong": graded(
            wrong(
                name="case 1", code="case-1:differs", word="not as it should be", line=2,
                message="The sum of a number and itself.",
                facts=(("The case", "x = 3.0"), ("Yours gave", "9.0"), ("Wanted", "6.0")),
            ),
        ),
        "right": graded(right(name="case 1", word="as it should be")),
    },
}  # fmt: skip
"""By box, what its checks have come to."""
ENTRIES = (("0.5", "-1", "0"), ("2", "0", "1"))
RAN = RunResult(
    outcome="graded",
    printed="a line that was printed",
    shown=(
        ShownValue(name="dW.sum()", shape=(), dtype="float32", text="tensor(2.5)", rows=(("2.5",),), map=("l",)),
        ShownValue(name="dX", shape=(4, 3), dtype="float32", text="tensor(...)", rows=ENTRIES, map=("lA.", "L.l")),
        ShownValue(name="k", shape=(), dtype="int", text="3"),
    ),
    told=InlayShapes(
        lines=(LineShape(line=1, text="(N, D)", fits=True), LineShape(line=2, text="(N, D) @ (N, H)", start=(2, 4)))
    ),
    origins=(Origin(name="dX", tensor="dY", shape=(4, 2), places=("[0, :]",) * 3 + ("[1, :]",) * 3),),
)


def made_up(specimen: Lesson) -> tuple[Lesson, LessonState]:
    """*specimen* with each exercise once for each of its states, and what a learner would have done for that."""
    blocks: list[Block] = []
    progress: dict[str, Progress] = {}
    tries: dict[str, AttemptSummary] = {}
    drafts: dict[str, Draft] = {}
    for block in specimen.blocks:
        for word in _states(block):
            if not isinstance(block, Exercise):
                blocks.append(block)
                continue
            this_block = replace(block, name=f"{block.name}-{word}")
            blocks.append(this_block)
            done = word in ("right", "revealed")
            if isinstance(block, CodeBox):
                text = _code(block, done)
                drafts |= {this_block.name: _draft(text, word)} if word != "fresh" else {}
            else:
                text = json.dumps(ANSWERS[block.name][done])
            if word not in ("empty", "fresh", "run"):
                tries[this_block.name] = AttemptSummary(1, int(not done), _attempt(block, text, done, word))
            if done:
                progress[this_block.name] = _progress(block, shown=word == "revealed")
    return replace(specimen, blocks=tuple(blocks)), LessonState(progress=progress, tries=tries, drafts=drafts)


def _draft(text: str, word: str) -> Draft:
    return Draft(text=text, revision=1, saved_at=THEN, run_json=to_json_column(RAN) if word == "run" else None)


def _code(box: CodeBox, done: bool) -> str:
    text = box.solution.source if done else WRONG_CODE.get(box.name, box.starter.source)
    line = box.line if isinstance(box, Bug) and done else 2
    return with_line(text, line, word) if (word := number_word(box)) else text


def _attempt(exercise: Exercise, text: str, done: bool, word: str) -> Attempt:
    verdict = ENDS.get(exercise.name, {}).get("right" if done else word)
    return Attempt(text=text, verdict_json=to_json_column(verdict) if verdict else "", correct=done, created_at=THEN)


def _progress(exercise: Exercise, *, shown: bool) -> Progress:
    return Progress(solved_at=THEN, hints=len(exercise.hints) * shown, solution_at=THEN if shown else None)


def _states(exercise: Block) -> tuple[str, ...]:
    if not isinstance(exercise, Exercise):
        return ("",)
    if isinstance(exercise, CodeBox):
        return ("fresh", *ENDS[exercise.name], *(("run", "revealed") if exercise.hints else ()))
    return ("empty", "wrong", "right", *(["revealed"] if exercise.hints else []))


def states_by_component(items: list[PageBlock]) -> dict[str, list[tuple[str, PageBlock]]]:
    """By component, its states under their words; what is no exercise comes first."""
    groups: dict[str, list[tuple[str, PageBlock]]] = {"text": []}
    for page_block in items:
        name, _, word = (
            page_block.block.name.rpartition("-") if isinstance(page_block.block, Exercise) else ("text", "", "")
        )
        groups.setdefault(name, []).append((word, page_block))
    return groups
