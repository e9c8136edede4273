"""How many wrong texts that nothing names one sentence reaches, on mutants of the course's solutions with two edits.

python -m benchmarks sentences
BACKHAND_TEXTS=4000 python -m benchmarks sentences
"""

import os
import random
from collections import Counter

from app.check.mutants import mutants_of
from app.content.blocks import Course, Grad, Lesson
from app.course.course import load_course, published
from app.engine.grade.engine import Engine
from app.engine.task import task_of
from app.installation import ROOT
from tests.grading.boxes.load import OpenJail

TEXTS = int(os.environ.get("BACKHAND_TEXTS", "1000"))
BOXES = 5
"""Boxes that the texts are spread over: a class answers the same ones."""
SENTENCES = (5, 10, 20, 50)
SEED = 3
Group = tuple[str, str, str]
"""Lesson, exercise and key of a mistake."""


def main() -> None:
    """Print the groups of texts that nothing names, and what is left of them after so many sentences."""
    course, engine = published(load_course(ROOT / "lessons")), Engine(OpenJail(), None)
    texts = drawn_texts(course)
    groups: Counter[Group] = Counter()
    named = wrong = 0
    for lesson, box, text in texts:
        verdict = engine.check(task_of(lesson, box), text)
        keys = {row.key for row in verdict.names if row.key}
        wrong += not verdict.passed
        named += not verdict.passed and not keys
        groups.update((lesson.name, box.name, key) for key in keys)
    unnamed = wrong - named
    sizes = [size for _, size in groups.most_common()]
    print(f"{len(texts)} texts at {BOXES} boxes, {wrong} wrong, {unnamed} with a gradient that nothing names")
    if sizes:
        shared = [size for size in sizes if size > 1]
        print(f"{len(sizes)} groups of {sum(sizes) / len(sizes):.2f} texts, the largest of {sizes[0]}; "
              f"{sum(shared) / sum(sizes):.0%} of the texts share theirs with others")  # fmt: skip
    for count in SENTENCES:
        left = sum(sizes[count:]) / max(sum(sizes), 1)
        print(f"after {count} sentences {left:.0%} of what nothing named is left")


def drawn_texts(course: Course) -> list[tuple[Lesson, Grad, str]]:
    """As many texts of each of `BOXES` boxes, with two edits of the solution."""
    draw, most = random.Random(SEED), TEXTS // BOXES
    boxes = [(lesson, box) for lesson in course.lessons for box in lesson.all_of(Grad)]
    draw.shuffle(boxes)
    found = [(lesson, box, twice_edited(box)) for lesson, box in boxes]
    enough = [each for each in found if len(each[2]) >= most][:BOXES]
    return [(lesson, box, text) for lesson, box, texts in enough for text in draw.sample(texts, most)]


def twice_edited(box: Grad) -> list[str]:
    """Each text that two edits of the solution make, once."""
    required = frozenset(box.require)
    once = mutants_of(box.solution.source, required)
    return sorted({two.code for one in once for two in mutants_of(one.code, required)})
