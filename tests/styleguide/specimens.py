"""Made-up data for the styleguide: training runs, notices, accounts, classes and practice.

The views and the templates are those of the pages; only what they tell of is made up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from markupsafe import Markup

from app.accounts.credentials import AccountSummary
from app.content.blocks import CodeBox, Lesson, Preset, SourceLocation, Train
from app.content.text.errors import LessonError
from app.content.text.exercise_titles import exercise_title
from app.engine.grader import Nudge, Readiness
from app.engine.train.snapshot import GradientComparison, Phase, Point, SampledNames, Snapshot, SplitLoss
from app.practice.scheduler import Strength
from app.store.drafts import TextVersionRef
from app.store.learners import SessionLearner
from app.store.notices import NoticeView
from app.store.tables import Assignment, Attempt, Class, Draft, Membership
from app.web.site import LessonProgress
from app.web.views.answer_key import answer_key
from app.web.views.attempt_mistakes import AttemptMistake
from app.web.views.board_view import BoardView, ExplanationEffect, MistakeBar, WaitingLearner
from app.web.views.course_progress import DeliverableStatus, MapEntry, ProgressSummary
from app.web.views.due_view import DueNote
from app.web.views.exercise_view import HintsView
from app.web.views.lamps import Lamp
from app.web.views.practice_view import CardView, DrillView, FamilyView, MapView, PracticeView
from app.web.views.run_view import FinishedRun, TrainingRunView
from app.web.views.slips_view import SlipCount, SlipsView
from app.web.views.text_changes import diff_lines
from app.web.views.text_history import Against, HistoryView
from app.web.views.training_view import CodeChoice, TrainView

THEN = datetime(2026, 3, 1, 12, 4, tzinfo=UTC)
GROUP = Class(id=1, name="Deep learning", timezone="Europe/Berlin", joining="open")
PEOPLE = tuple(Membership(learner_id=at, name=name, label="") for at, name in enumerate(("Ada", "Emmy", "Grace"), 1))
TYPED = {"lesson": "", "due": "2026-03-08T23:59", "share": "half"}
LINKS = tuple((membership, f"https://here/join/{at}K7Q-M2X-9DV") for at, membership in enumerate(PEOPLE))
TRANSPOSED = AttemptMistake("dX:transposed", Markup("This is the transpose of <code>dX</code>."), "dX = W @ dY", "dX")
PLACE = SourceLocation("lessons/1-layers/01-linear.md", 12, 1)
DUE = DueNote(1, GROUP.name, "2 of 8 done, due Fri 6 Mar, 23:59", "A linear layer", "/lessons/linear", over=False)
SLIP = CardView("matmul", "Matrix products", "transposed the wrong factor", "due", "today")
PRESET = Preset(name="short", steps=2000, bands={"train": (2.2, 2.5)})
HALFWAY = tuple(Point(step=at, own=3.2 - at / 2000, reference=3.2 - at / 2000) for at in range(200, 1201, 200))
COMPARED = GradientComparison(name="W", shape=(3, 2), exact=False, approx=True, maxdiff=1e-9)
LAMPS = [Lamp("dW", True, "#"), Lamp("db", False, "#")]
RATES = (0.1, 0.01)
JUDGED = SplitLoss(part="train", rows=182_625, own=2.31, reference=2.31)


@dataclass(frozen=True, slots=True)
class Specimen:
    """Template with its values; of a page, all between head and foot. *word* names the state."""

    word: str
    template: str
    values: Mapping[str, Any]


def list_specimens(lesson: Lesson) -> dict[str, tuple[Specimen, ...]]:
    """By name, all that no exercise of *lesson* is; a class is stuck at its first box, and trains with it."""
    box = next(block for block in lesson.exercises if isinstance(block, CodeBox))
    return {
        "training": tuple(
            Specimen(word, "_train_run.html" if view.run and not view.live else "_train_panel.html", {"view": view})
            for word, view in _runs(box)
        ),
        "notices": (
            Specimen(
                "busy", "_problem.html", {"title": "Not just now", "message": "Your text is saved; go on in 20 s."}
            ),
            Specimen("no database", "_unsaved.html", {"saving": False}),
            Specimen("due", "_due.html", {"due": [DUE], "on_index": True}),
            Specimen("joined", "_joined.html", {"path": "/"}),
            Specimen("no grader", "_readiness.html", {"readiness": Readiness(state="refused", reason="No filter.")}),
            Specimen("faults", "_faults.html", {"faults": [LessonError(PLACE, "unknown", "There is no `:of:`.")]}),
        ),
        "box": (
            Specimen("its history", "_history.html", {"history": _history(box, "")}),
            Specimen("what changed", "_history.html", {"history": _history(replace(box, name="changes"), "before")}),
            Specimen("an entry nudged", "_nudge_result.html", {"name": "box", "nudge": NUDGE}),
            Specimen("what is right", "_answer_key.html", {"keys": answer_key(replace(lesson, blocks=(box,)))}),
        ),
        "made": (
            Specimen("gradients", "_lamps.html", {"lamps": LAMPS}),
            Specimen(
                "deliverables",
                "_made.html",
                {"made": [DeliverableStatus(Markup("A box"), True), DeliverableStatus(Markup("An exam"), False)]},
            ),
            Specimen("a run", "_trained_to_end.html", {"run": FinishedRun(_snapshot("finished"), RATES, "#")}),
        ),
        "course": _course(lesson),
        "errors": (
            Specimen("gone", "error.html", _error(404, "There is no such page", "The address may be old.")),
            Specimen("away", "error.html", _error(503, "This page cannot be shown right now", "Nothing is lost.")),
        ),
        "board": (
            Specimen("what it shows", "_board_place.html", _places(lesson, box)),
            Specimen("to teach with", "_board.html", _board(lesson, box, graph=True)),
            Specimen("on the wall", "_board_projected.html", _board(lesson, box, graph=False)),
        ),
        "class": (
            Specimen("who joins", "_joining.html", {"group": GROUP, "code": "K7Q-M2X-9DV", "server": "https://here"}),
            Specimen("personal links", "invitations.html", {"group": GROUP, "links": LINKS}),
            Specimen("what is assigned", "assignments.html", _assigned(lesson)),
            Specimen("its settings", "class_settings.html", _settings()),
        ),
        "accounts": (
            Specimen("to sign in", "_sign_in_ways.html", _ways()),
            Specimen("two at once", "two_accounts.html", {"holds": {"now": _holds("Ada"), "before": _holds(None)}}),
            Specimen("of somebody", "me.html", _me()),
        ),
        "practice": (
            Specimen("nothing yet", "_first_practice.html", {"view": PracticeView(first=lesson)}),
            Specimen("due", "practice.html", {"view": PRACTICE, "nothing": False}),
            Specimen("what is remembered", "practice_map.html", {"view": MAP}),
            Specimen("a drill that is over", "drill.html", {"view": DRILL}),
        ),
    }


NUDGE = Nudge(
    outcome="graded", name="dW", entry=(1, 2), loss="(dY * Y).sum()", step=1e-4, above=2.5, below=2.25, quotient=1250.0,
    own=2500.0, message="Your number is 2 times the quotient.", note="L has a kink here.",
)  # fmt: skip
PRACTICE = PracticeView(
    taught=True, due=(SLIP,), button="Practise", rhythm="You practised in two of the last four weeks.", bug=SLIP
)
STRENGTHS: tuple[tuple[Strength, str], ...] = (("fresh", "Sums"), ("fading", "Broadcasts"), ("due", "Matrix products"))
MAP = MapView(
    first=None,
    families=tuple(
        FamilyView(
            family=name,
            title=title,
            strength=name,
            practised=True,
            due="in 3 days",
            slips=(SLIP,) * (name == "due"),
            best=6,
        )
        for name, title in STRENGTHS
    ),
    able=(SLIP,),
)
DRILL = DrillView(family="matmul", title="Matrix products", best=6, solved=7, taught=True)


def _runs(box: CodeBox) -> list[tuple[str, TrainView]]:
    """A run before it began, and in each phase that it can be left in."""
    phases: tuple[Phase, ...] = ("training", "finished", "failed", "stopped")
    return [("before", _trained(box, None)), *((phase, _trained(box, _snapshot(phase))) for phase in phases)]


def _snapshot(phase: Phase) -> Snapshot:
    done, failed = phase == "finished", phase == "failed"
    return Snapshot(
        phase=phase,
        steps=PRESET.steps,
        step=2000 if done else 1200,
        numbers=4137,
        examples=182_625,
        source="names.txt",
        seconds_left=4.0,
        points=HALFWAY,
        gap=None if failed else 1e-9,
        sampled=(SampledNames(step=1200, names=("emia", "tarvin", "olo")),) if done else (),
        judged=(JUDGED,) if done else (),
        compared=(COMPARED,) if done else (),
        message="the loss is no finite number." if failed else "",
        line=2 if failed else None,
    )


def _trained(box: CodeBox, snapshot: Snapshot | None) -> TrainView:
    name = f"run-{snapshot.phase if snapshot else 'before'}"
    train = Train(
        place=box.place, name=name, presets=(PRESET,), forward="", uses=box.name, context="", target="", logits=""
    )
    code = CodeChoice(1, Attempt(id=1, text="", correct=True), chosen=True)
    return TrainView(
        train=train,
        url=f"/{name}",
        preset=PRESET,
        presets=((PRESET, 4137),),
        codes=(code,),
        wrong=None,
        box=f"#{box.name}",
        box_name=box.name,
        box_title="your code on this page",
        run=TrainingRunView(snapshot, PRESET, RATES) if snapshot else None,
        kept=None,
        trained_with=code.label,
        solved=snapshot is not None and snapshot.phase == "finished",
        hints=HintsView(open=(), total=0, url=""),
    )


def _history(box: CodeBox, against: Against) -> HistoryView:
    text = "dX = W @ dY\ndW = X.T @ dY"
    return HistoryView(
        exercise=box,
        url="/box",
        back="/",
        at=2,
        count=3,
        mark=TextVersionRef("kept", 1, THEN),
        text=text,
        draft=Draft(text=text, revision=1),
        checked=None,
        reason="Before a reset",
        against=against,
        lines=diff_lines("dX = W @ dY", text) if against else (),
    )


def _course(lesson: Lesson) -> tuple[Specimen, ...]:
    begun = LessonProgress(lesson=lesson, done=3, total=len(lesson.exercises), after=None)
    done = replace(begun, done=begun.total, after=lesson)
    slips = (
        SlipCount(TRANSPOSED.said, (6, 1), (75, 12), 7),
        SlipCount(Markup("The sum is missing."), (0, 3), (0, 50), 3),
    )
    return (
        Specimen("what comes before", "_builds_on.html", {"requires": (done, begun)}),
        Specimen("how much of it", "_sum.html", {"sum": ProgressSummary((done, begun))}),
        Specimen("its lessons", "_lessons.html", {"view": ProgressSummary((done, begun))}),
        Specimen("its map", "_course_map.html", {"standings": {lesson.name: MapEntry(begun, (lesson,), "next")}}),
        Specimen("its gradients", "_unit_lamps.html", {"lamps": LAMPS}),
        Specimen("how far a lesson is", "_progress.html", {"progress": begun}),
        Specimen("its end", "_complete.html", {"progress": done}),
        Specimen("to take away", "_takeaway.html", {"lesson": lesson, "has_code": True}),
        Specimen("its slips", "_slips.html", {"view": SlipsView(("matrix products", "sums"), slips, left_out=2)}),
    )


def _error(status: int, title: str, message: str) -> dict[str, Any]:
    return {
        "number": status,
        "title": title,
        "message": message,
        "back": "",
        "again": status > 500,
        "path": "/classes/1",
    }


def _board(lesson: Lesson, box: CodeBox, *, graph: bool) -> dict[str, Any]:
    view = BoardView(
        lesson=lesson,
        exercise=box,
        size=9,
        solved=4,
        untried=2,
        bars=(MistakeBar(TRANSPOSED, PEOPLE, 9, TRANSPOSED.line),),
        waiting=(WaitingLearner(PEOPLE[0], 3, True, timedelta(minutes=12), TRANSPOSED.said),),
        least=3,
        explained=THEN,
        timezone=GROUP.timezone,
        since=(ExplanationEffect(TRANSPOSED.said, then=5, solved=2, other=1),),
        forward=lesson.forwards.get(box.forward or ""),
        names={membership.learner_id: membership.name for membership in PEOPLE},
    )
    return {"view": view, "group": GROUP, "asked": {"graph": graph, "place": "", "label": ""}}


def _ways() -> dict[str, Any]:
    order = ["passkey", "password", "email"]
    said = "The name or the password is another."
    return {
        "add": False,
        "order": order,
        "providers": {},
        "proxied": "",
        "back": "/",
        "said": said,
        "at": "password",
        "name": "ada",
    }


def _holds(name: str | None) -> AccountSummary:
    return AccountSummary(name=name, texts=12, attempts=1204, classes=1, ways=("password",))


def _me() -> dict[str, Any]:
    way = {"id": 1, "kind": "Passkey", "detail": "", "used_at": THEN}
    device = {"id": "a", "label": "Firefox on Linux", "seen_at": THEN}
    return _ways() | {
        "add": True,
        "order": ["proxy"],
        "proxied": "ada",
        "known": SessionLearner(1, stale=False, name="Ada", account=True),
        "holds": _holds("Ada"),
        "groups": [],
        "graded": [],
        "notices": [NoticeView("password", THEN, {"by": "Ada Lovelace"}, read=False)],
        "ways": [way, way | {"kind": "Name and password", "detail": "ada"}],
        "devices": [device | {"here": True}, device | {"here": False}],
        "at": "delete",
        "said": "Nothing was deleted. Say that you mean it, and it is done at once.",
    }


def _settings() -> dict[str, Any]:
    typed: dict[str, Any] = {"name": GROUP.name, "timezone": GROUP.timezone, "keep_until": ""}
    typed |= {"archived": False, "assistants_grade": True}
    return {
        "moved": (),
        "group": GROUP,
        "zones": [GROUP.timezone],
        "typed": typed,
        "first": "2026-11-09",
        "problem": "",
    }


def _assigned(lesson: Lesson) -> dict[str, Any]:
    assignment = Assignment(id=1, lesson=lesson.name, due_at=THEN, late_until=THEN + timedelta(days=2), points=9)
    return {
        "group": GROUP,
        "rows": [(assignment, lesson.title, lesson)],
        "lessons": [lesson],
        "fields": dict.fromkeys(("heading", "opens", "late", "points", "solutions"), "") | TYPED,
        "problem": "Share that late work counts: 'half' is no number.",
        "doubtful": False,
        "grades": True,
        "arranges": True,
        "said": lambda moment: f"{moment:%a %d %b, %H:%M}" if moment else "",
    }


def _places(lesson: Lesson, box: CodeBox) -> dict[str, Any]:
    place = {"value": box.name, "number": 9, "exercise": box, "title": exercise_title(box)}
    asked = {"graph": True, "label": "", "address": lambda group, place: f"/classes/{group}/board?place={place}"}
    return {
        "group": GROUP,
        "asked": asked,
        "places": [(lesson, [place])],
        "here": place,
        "before": place,
        "after": None,
    }
