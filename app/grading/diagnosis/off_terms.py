"""One term of a sum in the place of a share that it is not, where everything else is right."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from app.grading.diagnosis.edits import Edit, edits
from app.grading.diagnosis.evidence import Diagnosis, Hypothesis, Observation
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.grammar import EditVocabulary, removal_edits
from app.grading.diagnosis.naming import place_text
from app.grading.diagnosis.phrases import beside_others, sentences_of
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
        rest = GradientAnalysis(replace(view.case, looks=tuple(_without(look, paths) for look in view.case.looks)))
        with view.case.budget.one():
            reruns = line_replays(rest)
            edit = next(_completing(reruns), None)
        if edit is None:
            continue
        way = _way(view, paths)
        line, term = as_written(reruns[0].line), as_written(edit.change.piece or edit.old)
        return view.case.told(f"term-off:{paths[0].consumer}", SAY["off"], line=line, term=term, way=way)
    return None


def diagnose_rest(
    view: GradientAnalysis, predicted: Callable[[GradientAnalysis], Iterator[Hypothesis]]
) -> Diagnosis | None:
    """A share that is missing, where one of the mistakes *predicted* of the others is all that is left."""
    if not 1 < len(view.paths) <= SHARES_MAX or not view.shaped():
        return None
    for paths in _groups(view.paths):
        left = tuple(path for path in view.paths if path not in paths)
        looks = tuple(_without(look, paths) for look in view.case.looks)
        rest = GradientAnalysis(replace(view.case, looks=looks, paths=left))
        mistake = rest.best_hypothesis(predicted(rest)) if left else None
        if mistake is not None:
            code = f"share-missing:{paths[0].consumer}+{mistake.code}"
            return view.case.told(code, SAY["rest"], way=_way(view, paths), rest=beside_others(mistake.say()))
    return None


def _way(view: GradientAnalysis, paths: Sequence[GradientPath]) -> str:
    alike = [each for each in view.paths if each.statement == paths[0].statement]
    return place_text(paths[0]) if len(paths) < len(alike) else f"through `{paths[0].consumer}`"


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
