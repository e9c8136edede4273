"""Prove training runs: a short one of every size trains as autograd does, is judged, and invents names."""

from collections.abc import Sequence
from dataclasses import replace

from app.check.findings import Finding
from app.check.proof_setup import ProofSetup
from app.content.blocks import Lesson, Preset, Train
from app.content.program.training_sources import boxes_of
from app.engine.grader import ProvingGrader
from app.engine.run_setup import setup_of
from app.engine.train.corpus_file import examples_for
from app.engine.train.training_run import ReferenceRuns, Training, TrainingSpec
from app.grading.train.corpus import NamesError
from app.settings import Settings

MAX_STEPS = 40


async def prove_training(lesson: Lesson, train: Train, setup: ProofSetup) -> Sequence[Finding]:
    """Findings of one training run, with the author's own solution."""
    boxes = boxes_of(setup.lessons, lesson, train)
    if boxes is None:
        message = f"The code box {train.uses!r} is in a lesson that was not read, so this run was not tried."
        return [Finding(train.place, "notice", "not-proved", message)]
    code = "\n".join(box.solution.source for box in boxes[1])
    # Presets that differ only in their length are tried once.
    sizes = {tuple(sorted(preset.dims.items())): preset for preset in reversed(train.presets)}
    tried = [await _preset(lesson, train, preset, code, setup.grader) for preset in reversed(sizes.values())]
    return [finding for batch in tried for finding in batch]


async def _preset(lesson: Lesson, train: Train, preset: Preset, code: str, grader: ProvingGrader) -> list[Finding]:
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
