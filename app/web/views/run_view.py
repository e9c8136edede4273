"""A training run in words and pictures, as a template shows it."""

from collections.abc import Container
from dataclasses import dataclass
from itertools import groupby
from math import isfinite, log

from markupsafe import Markup

from app.content.blocks import Preset
from app.engine.train.snapshot import Snapshot
from app.grading.train.corpus import SYMBOLS
from app.web.pictures.curve import draw_curve
from app.web.pictures.samples import sampled_names

SHOWN_NAMES = 10
BEST_NAMES = 4
VOWELS = frozenset("aeiouy")
USUAL_LETTERS = 6


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that went to its end, at the *rates* of its halves; *url* leads to its exercise, in the lesson with this
    title, from another page.

    Names that are *known* stand in the list that it learned from: it did not invent them.
    """

    snapshot: Snapshot
    rates: tuple[float, float]
    url: str = ""
    lesson: str = ""
    known: Container[str] = frozenset()

    @property
    def agrees(self) -> bool | None:
        """True if its gradients were those of torch; None if they were not compared."""
        return gradients_agree(self.snapshot)

    @property
    def picture(self) -> Markup:
        """The curve of its losses."""
        return draw_curve(self.snapshot.points, self.snapshot.steps, self.rates)

    @property
    def names(self) -> tuple[str, ...]:
        return self._invented[:SHOWN_NAMES]

    @property
    def _invented(self) -> tuple[str, ...]:
        sampled = self.snapshot.sampled[-1].names if self.snapshot.sampled else ()
        return tuple(name for name in dict.fromkeys(sampled) if name and name not in self.known)

    @property
    def best(self) -> tuple[str, ...]:
        """The names that read most like names, of all that were invented at the end."""
        return tuple(sorted(self._invented, key=_clumsiness)[:BEST_NAMES])


def gradients_agree(snapshot: Snapshot) -> bool | None:
    """True if in the trained model the gradients were those of torch; None if they were not compared."""
    return all(close.approx for close in snapshot.compared) if snapshot.compared else None


def _clumsiness(name: str) -> int:
    """Difficulty of saying *name*: letters of one kind that follow each other, and letters more or fewer than usual."""
    runs = [len(list(run)) for _, run in groupby(name, lambda letter: letter in VOWELS)]
    return sum((length - 1) ** 2 for length in runs) + abs(len(name) - USUAL_LETTERS) + 4 * (len(runs) < 3)


@dataclass(frozen=True, slots=True)
class TrainingRunView:
    """A run in words and pictures; *preset* promises its losses, *known* are the names that it learns from."""

    snapshot: Snapshot
    preset: Preset
    rates: tuple[float, float]
    known: Container[str] = ()

    @property
    def picture(self) -> Markup:
        """The curve of the losses."""
        return draw_curve(self.snapshot.points, self.snapshot.steps, self.rates)

    @property
    def sampled(self) -> Markup:
        """The invented names."""
        return sampled_names([(names.step, names.names) for names in self.snapshot.sampled], self.known)

    @property
    def headline(self) -> str:
        """State of the run, in one sentence."""
        snapshot = self.snapshot
        step, steps = f"{snapshot.step:,}", f"{snapshot.steps:,}"
        where = f"in line {snapshot.line} of your code: " if snapshot.line else ""
        match snapshot.phase:
            case "waiting":
                return "Waiting for a grader."
            case "training":
                return f"Step {step} of {steps}."
            case "judging":
                return "All steps are done; now the loss of the whole data is measured."
            case "finished" if snapshot.capped:
                return f"Ended at step {step} of {steps}: a run may compute for 15 minutes."
            case "finished":
                return f"All {steps} steps are done."
            case "stopped":
                return f"Stopped at step {step} of {steps}."
            case "diverged":
                return f"Ended early. {snapshot.message}"
            case "failed":
                return f"Ended at step {step}, {where}{snapshot.message}"
            case "lost":
                return snapshot.message

    @property
    def facts(self) -> str:
        """Measurements of the run."""
        snapshot = self.snapshot
        facts = [f"{snapshot.numbers:,} numbers learn from {snapshot.examples:,} examples ({snapshot.source})"]
        if snapshot.steps_per_second:
            facts.append(f"{snapshot.steps_per_second:,.0f} steps a second, autograd's run included")
        if snapshot.live and snapshot.seconds_left is not None:
            facts.append(_time_left_text(snapshot.seconds_left))
        return "; ".join(facts) + "."

    @property
    def said(self) -> str:
        """Comparison of the two curves, in words."""
        snapshot = self.snapshot
        if snapshot.gap is None or snapshot.coincides is None:
            return ""
        if snapshot.coincides:
            return f"At every step the loss is that of autograd's run; the largest difference is {snapshot.gap:.1e}."
        by = f"The losses differ from those of autograd's run by up to {snapshot.gap:.2g}"
        agree = gradients_agree(snapshot)
        if agree is None:
            return f"{by}."
        if agree:
            return (
                f"{by}, and in the trained model your gradients are still those of autograd. This happens to right "
                "gradients too: they may differ in the last bit, and where a unit turns at zero, as relu does, that "
                "grows from step to step."
            )
        return f"{by}: these gradients are not the same."

    @property
    def right(self) -> bool | None:
        """True if all losses coincide, False if the gradients were seen to differ; None where neither is known."""
        if self.snapshot.coincides:
            return True
        return False if gradients_agree(self.snapshot) is False else None

    @property
    def reached(self) -> str:
        """Progress of the model on the way that there is for one of its kind; empty where that is not known."""
        snapshot = self.snapshot
        own = next((part_loss.own for part_loss in snapshot.judged if part_loss.part == "train"), None)
        if own is None or snapshot.floor is None:
            return ""
        clueless = log(len(SYMBOLS))
        learns = isfinite(own) and own < clueless and snapshot.floor < clueless
        part = min(1.0, (clueless - own) / (clueless - snapshot.floor)) if learns else 0.0
        share = f" That is {100 * part:.0f} % of what one symbol can tell about the next." if part else ""
        return (
            f"A model that calls all symbols equally likely has a loss of {clueless:.3f}. On these names the best "
            f"possible loss of a model that sees one symbol is {snapshot.floor:.3f}. Yours has {own:.3f}.{share}"
        )


def _time_left_text(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(1, round(seconds))} s left"
    return f"about {round(seconds / 60)} min left"
