"""A training run in words and pictures, as a template shows it."""

from collections.abc import Container
from dataclasses import dataclass

from markupsafe import Markup

from app.content.blocks import Preset
from app.engine.train.snapshot import Compared, Judged, Snapshot
from app.web.pictures.curve import curve
from app.web.pictures.samples import sampled_names

SHOWN_NAMES = 10
PARTS = {"train": "training", "validation": "validation", "test": "test"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedView:
    """One part of the data; *fits* is None where no loss was promised."""

    part: str
    rows: str
    own: str
    reference: str
    band: str
    fits: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedView:
    name: str
    shape: str
    exact: str
    approx: str
    maxdiff: str
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run in words and pictures.

    Args:
        headline: One sentence.
        facts: What is measured.
        picture: The curve of the losses; *sampled* are the invented names.
    """

    phase: str
    live: bool
    step: int
    steps: int
    headline: str
    facts: str
    said: str
    coincides: bool | None
    picture: Markup
    sampled: Markup
    judged: tuple[JudgedView, ...]
    compared: tuple[ComparedView, ...]


@dataclass(frozen=True, slots=True)
class Trained:
    """A run that went to its end. *agrees*: its gradients were those of torch; None where nobody looked."""

    url: str
    steps: str
    losses: tuple[tuple[str, str], ...]
    agrees: bool | None
    names: tuple[str, ...]


def trained_view(snapshot: Snapshot, url: str = "") -> Trained:
    """A finished run in a few words; *url* leads to its exercise from another page."""
    return Trained(
        url=url,
        steps=f"{snapshot.step:,}",
        losses=tuple((PARTS[one.part], f"{one.own:.3f}") for one in snapshot.judged),
        agrees=all(one.approx for one in snapshot.compared) if snapshot.compared else None,
        names=tuple(name for name in (snapshot.sampled[-1].names if snapshot.sampled else ()) if name)[:SHOWN_NAMES],
    )


def run_view(snapshot: Snapshot, preset: Preset, known: Container[str] = ()) -> RunView:
    """What a page shows of a run; *known* are the names that it learns from."""
    return RunView(
        phase=snapshot.phase,
        live=snapshot.live,
        step=snapshot.step,
        steps=snapshot.steps,
        headline=headline(snapshot),
        facts=_facts(snapshot),
        said=_said(snapshot),
        coincides=snapshot.coincides,
        picture=curve(snapshot.points, snapshot.steps),
        sampled=sampled_names([(one.step, one.names) for one in snapshot.sampled], known),
        judged=tuple(_judged(one, preset) for one in snapshot.judged),
        compared=tuple(_compared(one) for one in snapshot.compared),
    )


def headline(snapshot: Snapshot) -> str:
    """Where a run stands, in one sentence."""
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


def _facts(snapshot: Snapshot) -> str:
    facts = [f"{snapshot.numbers:,} numbers learn from {snapshot.examples:,} examples ({snapshot.source})"]
    if snapshot.steps_per_second:
        facts.append(f"{snapshot.steps_per_second:,.0f} steps a second, autograd's run included")
    if snapshot.live and snapshot.seconds_left is not None:
        facts.append(_left(snapshot.seconds_left))
    return "; ".join(facts) + "."


def _left(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(1, round(seconds))} s left"
    return f"about {round(seconds / 60)} min left"


def _said(snapshot: Snapshot) -> str:
    """What the comparison of the two curves says."""
    if snapshot.gap is None or snapshot.coincides is None:
        return ""
    if snapshot.coincides:
        return f"At every step the loss is that of autograd's run; the largest difference is {snapshot.gap:.1e}."
    return (
        f"The losses differ from those of autograd's run by up to {snapshot.gap:.2g}: these gradients are not the same."
    )


def _judged(judged: Judged, preset: Preset) -> JudgedView:
    band = preset.bands.get(judged.part)
    return JudgedView(
        part=PARTS[judged.part],
        rows=f"{judged.rows:,}",
        own=f"{judged.own:.4f}",
        reference=f"{judged.reference:.4f}",
        band=band_text(band) if band else "",
        fits=band[0] <= judged.own <= band[1] if band else None,
    )


def _compared(compared: Compared) -> ComparedView:
    return ComparedView(
        name=compared.name,
        shape=str(compared.shape),
        exact=str(compared.exact),
        approx=str(compared.approx),
        maxdiff="–" if compared.maxdiff is None else f"{compared.maxdiff:.1e}",
        right=compared.approx,
    )


def band_text(band: tuple[float, float]) -> str:
    return f"{band[0]:g} to {band[1]:g}"
