"""View of a training exercise: the choices, and the run as far as it has come, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.content.blocks import Lesson, Preset, Train
from app.content.program.training_sources import boxes_of
from app.engine.json_columns import decoded_snapshot, decoded_verdict
from app.engine.run_setup import setup_of
from app.engine.train.training_run import TrainingSpec
from app.store import progress, trainings
from app.store.progress import LessonState
from app.store.tables import Attempt
from app.web.driven_run import TrainingRequest
from app.web.site import Site
from app.web.views.exercise_view import HintsView, edition_in, hints_view
from app.web.views.names_view import known_names
from app.web.views.run_view import FinishedRun, TrainingRunView

ATTEMPTS = 30
BLANK_MARK = "____"

NO_CODE = "Check that box first: its code is what trains."
NO_RUN = "There is no such run or no such attempt."


@dataclass(frozen=True, slots=True)
class CodeChoice:
    """One attempt whose code may train; *number* counts the checks, *chosen* is the one that is offered first."""

    number: int
    attempt: Attempt
    chosen: bool

    @property
    def label(self) -> str:
        if self.attempt.correct:
            return f"Check {self.number}: all right" + (", the latest" if self.chosen else "")
        fault = self.attempt.code.partition(":")[0] if self.attempt.code else ""
        return f"Check {self.number}: " + (f"{fault} is wrong" if fault else "not all right")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainView:
    """A training exercise.

    Args:
        preset: The length of *run*, or the one that is offered first.
        presets: All lengths, each with how many numbers learn.
        wrong: The newest attempt that was judged wrong: what a wrong gradient does can be seen with it.
        box: The address of the box whose code trains; *box_title* says which it is.
        kept: The last run that went to its end, with right gradients if there was one; None where it is *run*.
        trained_with: Which attempt the run is of.
        refused: Why nothing began.
        changed: It was solved in another edition than the present one.
    """

    train: Train
    url: str
    preset: Preset
    presets: tuple[tuple[Preset, int], ...]
    codes: tuple[CodeChoice, ...]
    wrong: CodeChoice | None
    box: str
    box_name: str
    box_title: str
    run: TrainingRunView | None
    kept: FinishedRun | None
    trained_with: str
    solved: bool
    hints: HintsView
    refused: str = ""
    changed: bool = False

    @property
    def name(self) -> str:
        return self.train.name

    @property
    def live(self) -> bool:
        return self.run is not None and self.run.snapshot.live

    @property
    def said(self) -> str:
        """Last event, in one sentence."""
        return self.refused or (self.run.headline if self.run else "")

    @property
    def state(self) -> str:
        return "right" if self.solved else "open"


async def train_view(
    site: Site, lesson: Lesson, train: Train, state: LessonState, learner: int | None, refused: str = ""
) -> TrainView:
    """The exercise as *learner* finds it; without a learner it has neither attempts nor runs."""
    offer = site.kept.of(train, {}, lambda: _offer(site, lesson, train), "offer")
    tried: list[Attempt] = []
    stored = None
    if learner is not None:
        async with site.database.read() as db:
            tried = await progress.attempts_at(db, learner, offer.home.name, offer.box)
            stored = await trainings.training_of(db, learner, lesson.name, train.name)
    snapshot = site.runs.stands(stored) if stored else None
    chosen = stored.preset if stored else train.presets[0].name
    preset = next((item for item in train.presets if item.name == chosen), train.presets[0])
    finished = decoded_snapshot(stored.finished_json) if stored else None
    # It can have come to its end after *state* was read.
    passed = stored is not None and stored.passing and snapshot is not None and snapshot.phase == "finished"
    url = f"{lesson.address}/train/{train.name}"
    numbered = [(number, attempt) for number, attempt in enumerate(tried, start=1) if _ran(attempt)]
    codes, failed = _code_choices(numbered), _newest_wrong([attempt for _, attempt in numbered])
    known = await known_names(site.runs.names) if stored else frozenset()
    return TrainView(
        train=train,
        url=url,
        preset=preset,
        presets=offer.presets,
        codes=codes,
        wrong=next((code_choice for code_choice in codes if code_choice.attempt is failed), None),
        box=f"{offer.home.address}#{offer.box}",
        box_name=offer.box,
        box_title="your code on this page" if offer.home is lesson else f"your code in “{offer.home.title}”",
        run=TrainingRunView(snapshot, preset, train.rates, known) if snapshot else None,
        kept=FinishedRun(finished, train.rates, known=known)
        if stored and finished and stored.finished_json != stored.snapshot_json
        else None,
        trained_with=next(
            (code_choice.label for code_choice in codes if stored and code_choice.attempt.id == stored.attempt_id), ""
        ),
        solved=passed or train.name in state.solved,
        hints=hints_view(train, state, url),
        refused=refused,
        changed=state.changed(train.name, edition_in(site.kept, lesson, train)),
    )


async def order_of(
    site: Site, learner: int, lesson: Lesson, train: Train, preset_name: str, attempt_id: int | None
) -> TrainingRequest | str:
    """The run that a form asks for, or why it cannot be had."""
    sources = boxes_of(site.course.lessons, lesson, train)
    preset = next((item for item in train.presets if item.name == preset_name), None)
    forward = lesson.forward(train.forward)
    if sources is None or preset is None or forward is None:
        return NO_RUN
    home, chain = sources
    codes: list[str] = []
    async with site.database.read() as db:
        for box in chain[:-1]:
            newest = _newest(await progress.attempts_at(db, learner, home.name, box.name))
            codes.append(newest.text if newest else box.starter.source)
        tried = await progress.attempts_at(db, learner, home.name, chain[-1].name)
    picked = (
        _newest(tried) if attempt_id is None else next((attempt for attempt in tried if attempt.id == attempt_id), None)
    )
    if picked is None:
        return NO_RUN if tried else NO_CODE
    return TrainingRequest(
        lesson=lesson.name,
        exercise=train.name,
        preset=preset.name,
        attempt_id=picked.id,
        passing=bool(picked.correct),
        planned=TrainingSpec(
            setup=setup_of(train, forward, preset),
            steps=preset.steps,
            code="\n".join([*codes, picked.text]),
            forbid=tuple(dict.fromkeys(rule for box in chain for rule in box.forbid)),
            edition=edition_in(site.kept, lesson, train),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Offer:
    """Offer that is the same for every learner: the box whose code trains, its lesson, the lengths."""

    home: Lesson
    box: str
    presets: tuple[tuple[Preset, int], ...]


def _offer(site: Site, lesson: Lesson, train: Train) -> _Offer:
    sources, forward = boxes_of(site.course.lessons, lesson, train), lesson.forward(train.forward)
    assert forward is not None, "the parser resolves :forward:"
    home, box = (sources[0], sources[1][-1].name) if sources else (lesson, "")
    return _Offer(home, box, tuple((preset, setup_of(train, forward, preset).numbers) for preset in train.presets))


def _ran(attempt: Attempt) -> bool:
    """True if its check came to an end: a refused or stopped one would train no step."""
    verdict = None if attempt.correct else decoded_verdict(attempt.verdict_json)
    return bool(attempt.correct) or (verdict is not None and verdict.outcome == "graded")


def _code_choices(numbered: Sequence[tuple[int, Attempt]]) -> tuple[CodeChoice, ...]:
    """The newest passing attempt first and chosen, then all others, newest first, each with the number of its check.

    What trained in the last run is not chosen again: a wrong version would train on without being asked for.
    """
    newest = _newest([attempt for _, attempt in numbered])
    listed = sorted(numbered, key=lambda item: (item[1] is newest, item[0]), reverse=True)
    return tuple(CodeChoice(number, attempt, attempt is newest) for number, attempt in listed[:ATTEMPTS])


def _newest(tried: Sequence[Attempt]) -> Attempt | None:
    """The newest attempt that passed, or the newest of all."""
    passed = [attempt for attempt in tried if attempt.correct]
    return next(reversed(passed or tried), None)


def _newest_wrong(tried: Sequence[Attempt]) -> Attempt | None:
    """The newest attempt that was judged wrong as a whole text, without a blank."""
    return next(
        (attempt for attempt in reversed(tried) if attempt.correct is False and BLANK_MARK not in attempt.text), None
    )
