"""A small network that learns names, with the code that trains it right and in several wrong ways."""

import asyncio
import random
from pathlib import Path
from string import ascii_lowercase

from app.content.blocks import Grad, Train
from app.engine.run_setup import setup_of
from app.engine.train.corpus_file import load_examples
from app.engine.train.run_state import Ask
from app.engine.train.trainer import Trainer
from app.engine.train.training_run import ReferenceRuns, Training, TrainingSpec
from app.engine.training_chunk import ChunkResult, TrainingChunk
from tests.courses import course_in
from tests.grading.boxes.load import OpenJail

COURSE = course_in(Path(__file__).parent / "course")
LESSON = COURSE.lessons[0]
TRAIN = next(one for one in LESSON.exercises if isinstance(one, Train))
BOX = next(one for one in LESSON.exercises if isinstance(one, Grad))
FORWARD = LESSON.forward("machine")
SETUP = setup_of(TRAIN, FORWARD, TRAIN.presets[0])
SOLUTION = BOX.solution.source
ROWS = {part: len(examples) for part, examples in load_examples(None, 3).items()}


def long_list(folder: Path) -> Path:
    """A file of as many names as the list that this model is known by, 32,033, the longest of 15 letters."""
    draw = random.Random(2003)
    drawn = ("".join(draw.choices(ascii_lowercase, k=draw.randint(2, 10))) for _ in range(32_032))
    path = folder / "names.txt"
    path.write_text("\n".join(["maximilianjames", *drawn]), "utf-8")
    return path


def open_ask(trainer: Trainer | None = None) -> Ask:
    """Stretches in this very process, without a jail."""
    trainer = trainer or Trainer(OpenJail(), None)

    async def ask(stretch: TrainingChunk) -> ChunkResult:
        return trainer.run(stretch)

    return ask


def training(
    code: str = SOLUTION, *, ask: Ask | None = None, steps: int = 60, references: ReferenceRuns | None = None
) -> Training:
    return Training(
        TrainingSpec(setup=SETUP, steps=steps, code=code),
        ask or open_ask(),
        ROWS,
        "census",
        references or ReferenceRuns(),
    )


def run(one: Training):
    return asyncio.run(one.run())
