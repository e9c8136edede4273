"""What the judge says of drawn edits, in figures: `python -m tests.grading.programs.measure 8` draws 8 a program."""

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.engine.grade.engine import Engine
from tests.grading.boxes.load import OpenJail
from tests.grading.programs.autograd import references, wrong_names
from tests.grading.programs.claims import is_so
from tests.grading.programs.edits import Edit, edits_of
from tests.grading.programs.load import PROGRAMS, Program
from tests.grading.programs.slip import Slip
from tests.grading.programs.texts import is_so_of_text


@dataclass(frozen=True)
class Measure:
    """Figures of a round: wrong edits, those of which something false is said, and how many were no mistake."""

    slips: tuple[Slip, ...]
    false: tuple[Slip, ...]
    harmless: int

    @classmethod
    def of(cls, programs: Sequence[Program], each: int) -> "Measure":
        """What the judge says of *each* drawn edits of every program."""
        slips, false, harmless = [], [], 0
        for program in programs:
            engine = Engine(OpenJail(), None)
            for edit in drawn(program, each):
                slip = slip_of(engine, program, edit)
                if slip is None:
                    harmless += 1
                    continue
                slips.append(slip)
                if is_so(slip) is False or not is_so_of_text(slip):
                    false.append(slip)
            references.cache_clear()
        return cls(tuple(slips), tuple(false), harmless)

    @property
    def survivors(self) -> list[Slip]:
        return [slip for slip in self.slips if slip.survives]

    @staticmethod
    def listed(slips: Sequence[Slip]) -> str:
        return "\n".join(map(str, slips))

    def share(self, holds: Callable[[Slip], bool]) -> float:
        """The part of all slips of which something holds."""
        return sum(holds(slip) for slip in self.slips) / len(self.slips)

    def __str__(self) -> str:
        one_line, named = self.share(lambda slip: slip.one_line), self.share(lambda slip: slip.named)
        many = len({slip.edit.kind for slip in self.slips})
        return (
            f"{len(self.slips)} wrong edits of {many} kinds ({self.harmless} more are no mistake): "
            f"{len(self.survivors)} accepted, exactly one red line {one_line:.1%}, named {named:.1%}, "
            f"{len(self.false)} false sentences"
        )


def drawn(program: Program, count: int | None, seed: int = 0) -> list[Edit]:
    """Edits of the solution of *program*; all of them where no *count* is given."""
    one = references(program)[0]
    tensors = {**one.scope, **one.gradients}
    shapes = {name: tuple(value.shape) for name, value in tensors.items() if value.is_floating_point()}
    found = list(edits_of(program.solution, shapes, program.require))
    if count is None or count >= len(found):
        return found
    return random.Random(f"{program.name}/{seed}").sample(found, count)


def slip_of(engine: Engine, program: Program, edit: Edit) -> Slip | None:
    """What is said of *edit*; None where it is no mistake."""
    wrong = wrong_names(program, edit.code)
    return Slip(program, edit, engine.check(program.task, edit.code), frozenset(wrong)) if wrong else None


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    measure = Measure.of(PROGRAMS, count)
    print(measure)
    odd = {"accepted": measure.survivors, "false": measure.false}
    odd["not one red line"] = [slip for slip in measure.slips if not slip.one_line and not slip.survives]
    odd["not named"] = [slip for slip in measure.slips if slip.one_line and not slip.named and not slip.survives]
    for word, slips in odd.items():
        for slip in slips:
            print(f"\n{word}: {slip}")
