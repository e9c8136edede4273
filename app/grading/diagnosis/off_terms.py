"""One term of a sum in the place of a share that it is not, where everything else is right."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.grading.diagnosis.edits import Edit, edits
from app.grading.diagnosis.evidence import Diagnosis, Observation
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.grammar import EditVocabulary, removal_edits
from app.grading.diagnosis.naming import place_text
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.rerun import Rerun, line_replays
from app.grading.forward.statements import GradientPath
from app.syntax import as_written

SAY = sentences_of("off-terms")
SHARES_MAX = 6


def diagnose_off_term(view: GradientAnalysis) -> Diagnosis | None:
    """The term without which nothing is missing but one share."""
    if not 1 < len(view.paths) <= SHARES_MAX or not view.shaped():
        return None
    for paths in _groups(view.paths):
        shares = [sum(look.shares[path.key] for path in paths) for look in view.case.looks]
        looks = (
            replace(look, reference=look.reference - share) for look, share in zip(view.case.looks, shares, strict=True)
        )
        rest = GradientAnalysis(replace(view.case, looks=tuple(looks)))
        with view.case.budget.one():
            reruns = line_replays(rest)
            edit = next(_completing(reruns), None)
        if edit is None:
            continue
        alike = [each for each in view.paths if each.statement == paths[0].statement]
        way = place_text(paths[0]) if len(paths) < len(alike) else f"through `{paths[0].consumer}`"
        line, term = as_written(reruns[0].line), as_written(edit.change.piece or edit.old)
        return view.case.told(f"term-off:{paths[0].consumer}", SAY["off"], line=line, term=term, way=way)
    return None


def _without(look: Observation, paths: Sequence[GradientPath]) -> Observation:
    """*look* with what is left of the gradient without the shares of *paths*."""
    return replace(look, reference=look.reference - sum(look.shares[path.key] for path in paths))


def _groups(paths: Sequence[GradientPath]) -> Iterator[tuple[GradientPath, ...]]:
    """The paths of each forward line together, then one by one."""
    by_line: dict[int, list[GradientPath]] = {}
    for path in paths:
        by_line.setdefault(path.statement.index, []).append(path)
    if len(by_line) > 1:
        yield from map(tuple, by_line.values())
    yield from ((path,) for path in paths if len(by_line[path.statement.index]) > 1)


def _completing(reruns: Sequence[Rerun]) -> Iterator[Edit]:
    """The terms that are left out of lines so that the rest is right."""
    for at in reruns[0].candidates() if reruns else ():
        for rerun in reruns:
            rerun.stand(at)
        for edit in edits(reruns[0].line, EditVocabulary(), (removal_edits,)):
            if edit.change.kind in {"drop-term", "drop-from"} and all(rerun.mended(edit) for rerun in reruns):
                yield edit
