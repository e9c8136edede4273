"""Every component in every state, as the pages themselves make them: for those who design, not for learners.

It is a lesson, `templates/styleguide.md`, whose exercises stand in each state that an exercise can be in. The views and
the templates are those of any lesson; only what a learner would have done is made up.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Block, Bug, CodeBox, Exercise, Lesson
from app.content.course import load_lesson
from app.engine.grader import Run, Shown
from app.grading.judge.hunt_verdict import with_line
from app.grading.judge.origins import Origin
from app.grading.judge.told import Told, ToldLine
from app.grading.judge.verdict import Differences, NameVerdict, Verdict, Worst
from app.store.progress import LessonState, Tries
from app.store.tables import Attempt, Draft, Progress
from app.web.json_columns import encoded
from app.web.render import ROOT, TEMPLATES
from app.web.site import TheSite
from app.web.views.exercise_view import number_word
from app.web.views.lesson_view import Item, items_of
from app.web.views.specimens import pieces

router = APIRouter()

SPECIMEN = TEMPLATES / "styleguide.md"
THEN = datetime(2026, 3, 1, 12, 4, tzinfo=UTC)
WRONG_CODE = {"linear-backward": "dX = W @ dY\ndW = X.T @ dY\ndb = ____\n"}
"""By box, where the starter would not do."""
PASSED = [NameVerdict(name=one, verdict="right", exact=True, approx=True, maxdiff=0.0) for one in ("dX", "dW", "db")]

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

VERDICTS = {
    "wrong": Verdict(
        outcome="graded",
        hidden_sizes=2,
        printed="a line that was printed",
        names=(
            NameVerdict(
                name="dX", verdict="wrong", code="dX:transposed", message="This is the transpose of `dX`.", line=1,
                exact=False, approx=False, maxdiff=0.731, hint=0,
                worst=(Worst(index=(1, 2), yours=0.5, off=1.0, ratio=-1.0),),
                differences=Differences(rows=(".aL", "lA?"), largest=0.731, shape=(2, 3), pattern="Each row is off."),
            ),
            PASSED[1],
            NameVerdict(name="db", verdict="not-yet", message="A blank is left."),
        ),
    ),
    "right": Verdict(outcome="graded", passed=True, names=tuple(PASSED), hidden_sizes=2),
    "refused": Verdict(outcome="refused", message="`import os`: boxes import nothing.", line=1),
    "error": Verdict(outcome="error", message="`q` is not defined.", line=1),
    "timeout": Verdict(outcome="timeout", message="It did not end within 2 s.", line=1),
    "busy": Verdict(outcome="busy", message="No grader was free in time. Try again in a moment."),
}  # fmt: skip
ENDS = {
    "linear-backward": VERDICTS,
    "predicted": {one: VERDICTS[one] for one in ("wrong", "right")},
    "silent-mean": {
        "wrong": Verdict(
            outcome="graded",
            names=(
                NameVerdict(
                    name="line", verdict="wrong", code="line:innocent", word="not line 2", message="It is a product.",
                ),
            ),
        ),
        "right": Verdict(
            outcome="graded",
            passed=True,
            names=(
                NameVerdict(name="line", verdict="right", word="line 3, found"),
                *PASSED,
                NameVerdict(name="other lines", verdict="right", word="as they were"),
            ),
        ),
    },
    "agree": {
        "wrong": Verdict(
            outcome="graded",
            names=(
                NameVerdict(name="case 1", verdict="right", word="accepted, rightly"),
                NameVerdict(
                    name="case 2", verdict="wrong", code="case-2:accepted", word="accepted, wrongly",
                    message="One entry is off by one percent.", facts=(("The case", "got = tensor([1.00, 2.02])"),),
                ),
            ),
        ),
        "right": Verdict(
            outcome="graded",
            passed=True,
            names=(
                NameVerdict(name="case 1", verdict="right", word="accepted, rightly"),
                NameVerdict(name="case 2", verdict="right", word="refused, rightly"),
            ),
        ),
    },
    "doubled": {
        "wrong": Verdict(
            outcome="graded",
            names=(
                NameVerdict(
                    name="case 1", verdict="wrong", code="case-1:differs", word="not as it should be", line=2,
                    message="The sum of a number and itself.",
                    facts=(("The case", "x = 3.0"), ("Yours gave", "9.0"), ("Wanted", "6.0")),
                ),
            ),
        ),
        "right": Verdict(
            outcome="graded",
            passed=True,
            names=(NameVerdict(name="case 1", verdict="right", word="as it should be"),),
        ),
    },
}  # fmt: skip
"""By box, what its checks have come to."""
ENTRIES = (("0.5", "-1", "0"), ("2", "0", "1"))
RAN = Run(
    outcome="graded",
    printed="a line that was printed",
    shown=(
        Shown(name="dW.sum()", shape=(), dtype="float32", text="tensor(2.5)", rows=(("2.5",),), map=("l",)),
        Shown(name="dX", shape=(4, 3), dtype="float32", text="tensor(...)", rows=ENTRIES, map=("lA.", "L.l")),
        Shown(name="k", shape=(), dtype="int", text="3"),
    ),
    told=Told(
        lines=(ToldLine(line=1, text="(N, D)", fits=True), ToldLine(line=2, text="(N, D) @ (N, H)", start=(2, 4)))
    ),
    origins=(Origin(name="dX", tensor="dY", shape=(4, 2), places=("[0, :]",) * 3 + ("[1, :]",) * 3),),
)


@dataclass(frozen=True, slots=True)
class Specimen:
    """One component: its states, each under a word."""

    name: str
    items: tuple[tuple[str, Item], ...]


@router.get("/styleguide")
async def styleguide(request: Request, site: TheSite) -> Response:
    if not request.app.state.drafts:
        raise HTTPException(404)
    lesson, state = made_up(load_lesson(SPECIMEN))
    items = await items_of(site, lesson, state, None)
    return site.pages.page(
        request,
        "styleguide.html",
        lesson=lesson,
        specimens=_grouped(items),
        pieces={
            name: [(one.word, site.pages.part(one.template, **one.values)) for one in those]
            for name, those in pieces(lesson).items()
        },
        tokens=tokens(),
        ask="",
        other=0,
        emptied="",
        readiness=site.grader.readiness,
    )


@cache
def tokens(path: Path = ROOT / "static" / "css" / "tokens.css") -> tuple[tuple[str, str], ...]:
    """Names and values of the design, in their order."""
    found: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines():
        name, _, value = line.strip().partition(": ")
        if name.startswith("--"):
            found.setdefault(name.removeprefix("--"), value.partition(";")[0])
    return tuple(found.items())


def made_up(specimen: Lesson) -> tuple[Lesson, LessonState]:
    """*specimen* with each exercise once for each of its states, and what a learner would have done for that."""
    blocks: list[Block] = []
    progress: dict[str, Progress] = {}
    tries: dict[str, Tries] = {}
    drafts: dict[str, Draft] = {}
    for block in specimen.blocks:
        for word in _states(block):
            if not isinstance(block, Exercise):
                blocks.append(block)
                continue
            one = replace(block, name=f"{block.name}-{word}")
            blocks.append(one)
            done = word in ("right", "revealed")
            if isinstance(block, CodeBox):
                text = _code(block, done)
                drafts |= {one.name: _draft(text, word)} if word != "fresh" else {}
            else:
                text = json.dumps(ANSWERS[block.name][done])
            if word not in ("empty", "fresh", "run"):
                tries[one.name] = Tries(1, int(not done), _attempt(block, text, done, word))
            if done:
                progress[one.name] = _progress(block, shown=word == "revealed")
    return replace(specimen, blocks=tuple(blocks)), LessonState(progress=progress, tries=tries, drafts=drafts)


def _draft(text: str, word: str) -> Draft:
    return Draft(text=text, revision=1, saved_at=THEN, run=encoded(RAN) if word == "run" else None)


def _code(box: CodeBox, done: bool) -> str:
    text = box.solution.source if done else WRONG_CODE.get(box.name, box.starter.source)
    line = box.line if isinstance(box, Bug) and done else 2
    return with_line(text, line, word) if (word := number_word(box)) else text


def _attempt(exercise: Exercise, text: str, done: bool, word: str) -> Attempt:
    verdict = ENDS.get(exercise.name, {}).get("right" if done else word)
    return Attempt(text=text, verdict=encoded(verdict) if verdict else "", correct=done, created_at=THEN)


def _progress(exercise: Exercise, *, shown: bool) -> Progress:
    return Progress(solved_at=THEN, hints=len(exercise.hints) * shown, solution_at=THEN if shown else None)


def _states(exercise: Block) -> tuple[str, ...]:
    if not isinstance(exercise, Exercise):
        return ("",)
    if isinstance(exercise, CodeBox):
        return ("fresh", *ENDS[exercise.name], *(("run", "revealed") if exercise.hints else ()))
    return ("empty", "wrong", "right", *(["revealed"] if exercise.hints else []))


def _grouped(items: list[Item]) -> Iterator[Specimen]:
    """The states of each component beside each other; what is no exercise comes first."""
    text = [("", one) for one in items if not isinstance(one.block, Exercise)]
    yield Specimen("text", tuple(text))
    groups: dict[str, list[tuple[str, Item]]] = {}
    for one in items:
        if isinstance(one.block, Exercise):
            name, _, word = one.block.name.rpartition("-")
            groups.setdefault(name, []).append((word, one))
    yield from (Specimen(name, tuple(states)) for name, states in groups.items())
