"""Prove training runs: a short one of every size trains as autograd does, is judged, and invents names."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace

from app.check.findings import Finding
from app.content.blocks import Lesson, Preset, Train
from app.content.training_sources import boxes_of
from app.engine.grader import Grader
from app.engine.run_setup import setup_of
from app.engine.train.corpus_file import examples_for
from app.engine.train.training_run import ReferenceRuns, Training, TrainingSpec
from app.grading.train.corpus import NamesError
from app.settings import Settings

MAX_STEPS = 40


async def prove_training(lessons: Sequence[Lesson], grader: Grader, reach: Collection[Lesson] = ()) -> list[Finding]:
    """Findings of all training runs of *lessons*, with the authors' own solutions, here or in their *reach*."""
    trains = [(lesson, train) for lesson in lessons for train in lesson.exercises if isinstance(train, Train)]
    batches = await asyncio.gather(*(_train((*lessons, *reach), lesson, train, grader) for lesson, train in trains))
    return [finding for batch in batches for finding in batch]


async def _train(lessons: Sequence[Lesson], lesson: Lesson, train: Train, grader: Grader) -> list[Finding]:
    boxes = boxes_of(lessons, lesson, train)
    if boxes is None:
        message = f"The code box {train.uses!r} is in a lesson that was not read, so this run was not tried."
        return [Finding(train.place, "notice", "not-proved", message)]
    code = "\n".join(box.solution.source for box in boxes[1])
    # Presets that differ only in their length are tried once.
    sizes = {tuple(sorted(preset.dims.items())): preset for preset in reversed(train.presets)}
    tried = [await _preset(lesson, train, preset, code, grader) for preset in reversed(sizes.values())]
    return [finding for batch in tried for finding in batch]


async def _preset(lesson: Lesson, train: Train, preset: Preset, code: str, grader: Grader) -> list[Finding]:
    forward = lesson.forward(train.forward)
    assert forward is not None, "the parser resolves :forward:"
    setup, names = setup_of(train, forward, preset), Settings().names
    try:
        rows = {part: len(some) for part, some in examples_for(setup, names).items()}
    except NamesError as error:
        return [Finding(train.place, "error", "not-proved", str(error))]
    run = Training(
        TrainingSpec(setup=setup, steps=min(MAX_STEPS, preset.steps), code=code),
        grader.train,
        rows,
        "",
        ReferenceRuns(),
    )
    ended = await run.run()
    wrong = Finding(train.place, "error", "training-fails", f"The run {preset.name!r} ")
    if ended.phase != "finished":
        where = f" in line {ended.line} of the solution" if ended.line else ""
        cure = " Smaller ':rates:', or data nearer to 1, would keep it one." if ended.phase == "diverged" else ""
        return [replace(wrong, message=f"{wrong.message}fails at step {ended.step}{where}: {ended.message}{cure}")]
    if not ended.coincides:
        message = f"differs from autograd's by {ended.gap}: the box's solution is not its gradient."
        return [replace(wrong, code="training-differs", message=wrong.message + message)]
    return []
