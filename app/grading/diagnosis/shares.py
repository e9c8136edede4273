"""A tensor that feeds several lines receives one share through each: regression of the learner's tensor on the shares.

| code | coefficient of the share through the consumer C |
|---|---|
| `share-missing:C` | 0 |
| `overwritten:C` | 0, and the learner's last plain assignment erased an earlier one |
| `share-doubled:C` | 2 |
| `share-sign:C` | -1 |
| `share-factor:C:…` | any other with a name, see `factors` |
| `share-factor:C` | any other |
| `several` | different slips on different shares |

With one consumer, or one coefficient on all shares, the codes of `factors` stand alone, such as `sign` or `factor:N`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.grading.diagnosis.call_kinds import average_edits, reduction_edits, size_edits
from app.grading.diagnosis.claims import (
    is_unmended,
    makes_steps,
    scaled_in_line,
    steps_off_by,
    turned_signs,
    upstream_edits,
)
from app.grading.diagnosis.edits import replace_node
from app.grading.diagnosis.evidence import Array, Diagnosis
from app.grading.diagnosis.factors import NEAR, NamedFactor, any_factor, has_number, multiplies_by, named_factor, scales
from app.grading.diagnosis.feeding_lines import reads
from app.grading.diagnosis.gradient_analysis import NOISE, SAME, GradientAnalysis
from app.grading.diagnosis.grammar import (
    exponent_edits,
    factor_removal_edits,
    minus_edits,
    name_edits,
    number_edits,
    operator_edits,
    power_edits,
    removal_edits,
    sign_edits,
)
from app.grading.diagnosis.helper_lines import part_of
from app.grading.diagnosis.minus_signs import has_minus, may_be_negative, may_subtract, with_minus
from app.grading.diagnosis.naming import in_code, join_words, place_text
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.regression import solve_coefficients
from app.grading.diagnosis.rerun import line_replays, names_in
from app.grading.diagnosis.single_edit_search import mended_by
from app.grading.diagnosis.unrecognised import without_upstream
from app.grading.forward.statements import ForwardStatement, GradientPath
from app.grading.operations.numerics import magnitude
from app.syntax import (
    Statement,
    as_written,
    every_name_in,
    is_update,
    name_of,
    number_node,
    right_side,
    targets_of,
    terms_of,
)

SAY, WHY = sentences_of("shares"), sentences_of("why")
PARALLEL = 1e-10
ONE_SLIP = (
    removal_edits,
    name_edits,
    sign_edits,
    operator_edits,
    minus_edits,
    power_edits,
    number_edits,
    size_edits,
)
"""Kinds of edits of which one may be off in several shares, in a line that they have in common."""
LINES_MAX = 3
"""How many forward lines a sentence sends to; a list of more is no place to look."""
CLEAN = (0.0, 1.0, -1.0, 2.0, 0.5)


@dataclass(frozen=True, slots=True)
class ProportionalPaths:
    """Paths whose shares are multiples of each other, so that only their sum can be told apart from other shares."""

    paths: tuple[GradientPath, ...]

    def share(self, shares: Mapping[str, Array]) -> Array:
        return np.asarray(sum(shares[path.key] for path in self.paths))

    def text(self) -> str:
        return join_words(list(dict.fromkeys(in_code(path.consumer) for path in self.paths)))


def diagnose_shares(view: GradientAnalysis, every: bool) -> Diagnosis | None:
    """A slip on the shares; one whose coefficient has no name only where *every* one counts."""
    if not view.shaped() or not view.paths:
        return None
    groups = _groups(view)
    fitted = _coefficients(view, groups) if groups else None
    if fitted is None:
        return None
    ratios, determined = fitted
    if not determined and not all(_clean(column) for column in ratios):
        every = False
        if len(groups) > 1:
            return None
    wrong = [rank for rank, column in enumerate(ratios) if not _is(column, 1.0)]
    if not wrong:
        return None
    first = ratios[0]
    if len(wrong) == len(groups) and all(_near_each(column, first) for column in ratios) and not _is(first, 0.0):
        return _common(view, groups, first, every)
    return _apart(view, groups, ratios, wrong, every)


def diagnose_parts(view: GradientAnalysis) -> Diagnosis | None:
    """The line whose part of the gradient is a share that is off by a factor with a name, where more is off."""
    reruns = view.once(line_replays) if len(view.case.writes) > 1 and view.shaped() else ()
    for at in reruns[0].candidates() if reruns else ():
        if view.case.name in reruns[0].written[at]:
            parts = [part for rerun in reruns if (part := part_of(rerun, at)) is not None]
            group, factor = (
                next(_scaled_shares(view, parts), (None, None)) if len(parts) == len(reruns) else (None, None)
            )
            if group is not None and factor is not None:
                line, text = reruns[0].lines[at].lineno, f"{_way(view, group)} {factor.text}"
                return replace(view.case.told("several", SAY["part"], line=line, text=text), line=line)
    return None


def _scaled_shares(view: GradientAnalysis, parts: Sequence[Array]) -> Iterator[tuple[ProportionalPaths, NamedFactor]]:
    """The shares that *parts*, one for each look, are but for a factor with a name, and which alone mend nothing."""
    for group in _groups(view):
        shares = [group.share(look.shares) for look in view.case.looks]
        pairs = list(zip(view.case.looks, parts, shares, strict=True))
        ratios = [ratio for _, part, share in pairs if (ratio := _ratio(part, share))]
        if len(ratios) < len(parts) or _is(ratios, 1.0):
            continue
        factor = named_factor(view, ratios, group.paths)
        if factor is not None and any(view.wrong(view.got[look] - part + share, look) for look, part, share in pairs):
            yield group, factor


def _ratio(part: Array, share: Array) -> float | None:
    """The number by which *part* is *share*; None where it is no multiple."""
    fitted = solve_coefficients(share.reshape(-1, 1), part.ravel(), SAME * magnitude(part))
    return None if fitted is None or not np.isfinite(part).all() else float(fitted[0])


def _common(
    view: GradientAnalysis, groups: Sequence[ProportionalPaths], ratios: Sequence[float], every: bool
) -> Diagnosis | None:
    paths = [path for group in groups for path in group.paths]
    half = len(groups) == 1 and len(paths) == 2 and _is(ratios, 0.5)
    if half and not paths[0].statement.source.count("**"):
        return view.case.told(f"share-missing:{paths[0].consumer}", SAY["twice"], line=paths[0].statement.source)
    factor = named_factor(view, ratios, paths) or (any_factor(view, ratios) if every else None)
    if factor is None:
        return None
    instead = mended_by(view, (upstream_edits(view),))  # one upstream may be a multiple of another
    if instead is not None:
        return instead
    lines = {line for path in paths for line in lines_of(view, path)}
    if "factor:" in factor.code and not any(multiplies_by(view, line, ratios) for line in lines):
        # No forward line has it: a sum or an average in the text may, or a product that is written as a sum.
        instead = mended_by(view, (factor_removal_edits, reduction_edits, operator_edits, exponent_edits))
        if instead is not None:
            return instead
    return view.case.told(factor.code, SAY["all"], factor=factor.text, why=_why(view, factor, ratios, paths))


def _why(view: GradientAnalysis, factor: NamedFactor, ratios: Sequence[float], paths: Sequence[GradientPath]) -> str:
    """Say where to look: in the forward lines that hold the factor, or the minus, and past which steps."""
    ways = dict.fromkeys(line for path in paths for line in lines_of(view, path))
    lines = [line for line in ways if view.is_of_program(line.source)]
    if not lines:
        return ""  # none that the program's own text has
    without = [line.outputs[0] for line in lines if f"d{line.outputs[0]}" not in view.first_look.gradients]
    taken_along = [] if makes_steps(view) else without
    kind = factor.code
    if kind == "sign":
        minus = [line for line in lines if has_minus(view, line, paths)]
        none = "other" if any(may_be_negative(view, line, paths) for line in lines) else "no-minus"
        if any(not view.steps(path, view.first_look) for path in paths) or (
            none == "no-minus" and any(may_subtract(view, line, paths) for line in lines)
        ):
            none = "no-minus-in-many"  # what could not be followed may have a minus of its own
        kind, lines = ("minus", minus) if minus else (none, lines)
        if kind == "minus" and not (_minus_on_all(view, paths, minus) and is_unmended(view, (turned_signs,))):
            kind = "no-minus-in-many"
    elif kind not in WHY:
        multiplying = [line for line in lines if multiplies_by(view, line, ratios)]
        lines = multiplying if multiplying and _on_all(view, paths, multiplying) else lines
        kind = kind if any(scales(view, line) for line in lines) else "nothing-scales"
        if kind.startswith("factor:") and not any(has_number(view, line) for line in lines):
            kind = "no-number"
        own = scaled_in_line(view)
        if own is not None:
            return WHY["own"].format(line=own)
    steps = steps_off_by(view, ratios)
    if len(lines) > LINES_MAX:
        kind, lines = "no-minus-in-many" if kind.startswith("no-minus") else "many", []
    said = WHY.get(kind, WHY["along" if taken_along else "other"]).format(
        tensor=view.case.tensor,
        written=" or ".join(map(in_code, (view.case.name, *with_minus(view)))),
        statements=join_words([in_code(line) for line in dict.fromkeys(line.source for line in lines)]),
        steps=join_words([*map(in_code, taken_along)]),
        verbs="multiplies or divides" if len(lines) == 1 else "multiply or divide",
    )
    return said if kind.startswith("no-minus") else f"{said}{_already(steps)}"


def _on_all(view: GradientAnalysis, paths: Sequence[GradientPath], lines: Sequence[ForwardStatement]) -> bool:
    """True if each of *paths* goes through one of *lines*: else they explain nothing of what is off on all of them."""
    return all(any(line in lines for line in lines_of(view, path)) for path in paths)


def _minus_on_all(view: GradientAnalysis, paths: Sequence[GradientPath], lines: Sequence[ForwardStatement]) -> bool:
    """The same for the minus of *lines*: the one before another operand of a line explains nothing either."""
    return all(path.statement in _negated_lines(view, path, lines) for path in paths)


def _negated_lines(
    view: GradientAnalysis, path: GradientPath, lines: Sequence[ForwardStatement]
) -> list[ForwardStatement]:
    """The forward lines from which each way to a gradient in force goes through the minus of one of *lines*."""
    turned: list[ForwardStatement] = []
    for line in reversed(view.case.statements):
        name = line.outputs[0]
        inside = f"d{name}" not in view.first_look.gradients
        readers = [each for each in view.case.statements if name in each.inputs] if inside else []
        if (line in lines and has_minus(view, line, [path])) or (readers and all(each in turned for each in readers)):
            turned.append(line)
    return turned


def _already(steps: Mapping[str, int]) -> str:
    """That the *steps*, by name the line that makes it, may be off themselves."""
    places = [SAY["step"].format(line=line, step=step) for step, line in steps.items()]
    return SAY["already"].format(" or ".join(places)) if places else ""


def lines_of(view: GradientAnalysis, path: GradientPath) -> Iterator[ForwardStatement]:
    """The forward lines from the gradients in force down to the consumer of *path*."""
    yield path.statement
    waiting = [path.consumer]
    for name in waiting:
        if f"d{name}" not in view.first_look.gradients:
            readers = [line for line in view.case.statements if name in line.inputs]
            yield from readers
            waiting += [line.outputs[0] for line in readers]


def _apart(
    view: GradientAnalysis,
    groups: Sequence[ProportionalPaths],
    ratios: Sequence[Sequence[float]],
    wrong: Sequence[int],
    every: bool,
) -> Diagnosis | None:
    facts = [_fact(view, groups[rank], ratios[rank]) for rank in wrong]
    if any(code == "factor" for code, _ in facts):
        bare = without_upstream(view) if every else None
        if bare is not None or not every:
            return bare
    codes = {code for code, _ in facts}
    consumers = [groups[rank].paths[0].consumer for rank in wrong]
    texts = "; ".join(text for _, text in facts)
    if codes == {"missing"}:
        # What cancels out is missing by its numbers alone: `x - x` where one is another tensor, or an average.
        names = frozenset().union(*map(reads, view.text.lines))
        written = any(f"d{consumer}" in names for consumer in consumers)
        mended = mended_by(view, (name_edits, average_edits)) if written else None
        if mended is not None:
            return mended
        kind = "overwritten" if _overwrote(view) else "share-missing"
        vanishing = _vanishing_term(view) if kind == "share-missing" else ""
        code = f"{kind}:{'+'.join(dict.fromkeys(consumers))}"
    elif len(facts) == 1:
        short = facts[0][0]
        rest = short if short in {"sign", "doubled"} else "factor"
        detail = "" if short in {"sign", "doubled", "factor"} else f":{short.removeprefix('factor:')}"
        code = f"share-{rest}:{consumers[0]}{detail}"
    else:
        mended = mended_by(view, ONE_SLIP) or mended_by(view, None)
        if mended is not None:
            return mended
        code, texts = "several", _alike(view, [groups[rank] for rank in wrong], facts) or SAY["several"].format(texts)
    consumed = join_words(list(dict.fromkeys(in_code(path.consumer) for group in groups for path in group.paths)))
    more = SAY["erased"] if code.startswith("overwritten") else ""
    if codes == {"missing"} and vanishing:
        more = SAY["vanishes"].format(vanishing)
    if len(facts) == 1 and codes != {"missing"}:
        more = _already(steps_off_by(view, ratios[wrong[0]]))
    return view.case.told(code, SAY["apart"], reads=consumed, texts=texts, more=more)


def _vanishing_term(view: GradientAnalysis) -> str:
    """The term of what the lines add up to the gradient that comes to nothing; empty where none does, or several."""
    reruns, terms = view.once(line_replays), list[str]()
    with view.case.budget.one():
        for at in reruns[0].candidates() if reruns else ():
            line = reruns[0].lines[at]
            value = right_side(line) if view.case.name in reruns[0].written[at] else None
            reading = value is not None and names_in([value]) & view.first_look.gradients.keys()
            for term in terms_of(value) if value is not None and reading else ():
                without = replace_node(line, term, number_node(0))
                assert isinstance(without, Statement)
                if all(view.equal(rerun.with_lines({at: without}), rerun.look) for rerun in reruns):
                    terms.append(as_written(term))
    return terms[0] if len(terms) == 1 else ""


def _alike(view: GradientAnalysis, groups: Sequence[ProportionalPaths], facts: Sequence[tuple[str, str]]) -> str:
    """Sentence on several shares that are off by the same named factor: that is one thing."""
    factors = {text.removeprefix(_way(view, group)) for group, (_, text) in zip(groups, facts, strict=True)}
    if len(factors) > 1 or any(code in {"factor", "missing"} for code, _ in facts):
        return ""
    ways = join_words([_way(view, group).removeprefix("the share ") for group in groups])
    return SAY["alike"].format(
        ways=ways,
        factor=factors.pop().replace(" is ", " are each ", 1).replace(" has the", " each have the", 1).strip(),
    )


def _fact(view: GradientAnalysis, group: ProportionalPaths, ratios: Sequence[float]) -> tuple[str, str]:
    way = _way(view, group)
    if _is(ratios, 0.0):
        return "missing", f"{way} is missing"
    factor = named_factor(view, ratios, group.paths) or any_factor(view, ratios)
    return factor.code, f"{way} {factor.text}"


def _way(view: GradientAnalysis, group: ProportionalPaths) -> str:
    """Names a share: by its consumer, and by its place where the consumer reads the tensor in several."""
    path = group.paths[0]
    places = [each for each in view.paths if each.statement == path.statement]
    if len(group.paths) > 1 or len(places) == 1:
        return f"the share through {group.text()}"
    return f"the share {place_text(path)}"


def _overwrote(view: GradientAnalysis) -> bool:
    """True if the learner's last write is a plain assignment that does not read what an earlier line left."""
    writes = view.case.writes
    value = right_side(writes[-1]) if len(writes) > 1 else None
    if value is None or is_update(writes[-1]):
        return False
    return any(map(name_of, targets_of(writes[-1]))) and view.case.name not in every_name_in(value)


def _groups(view: GradientAnalysis) -> list[ProportionalPaths]:
    """The paths of the tensor, those with proportional shares together; shares that are rounding tell nothing."""
    groups: list[list[GradientPath]] = []
    for path in view.paths:
        if not any(view.weighty(look.shares[path.key], look) for look in view.case.looks):
            continue
        for group in groups:
            if _parallel(_flat_share(view, group[0]), _flat_share(view, path)):
                group.append(path)
                break
        else:
            groups.append([path])
    return [ProportionalPaths(tuple(group)) for group in groups]


def _flat_share(view: GradientAnalysis, path: GradientPath) -> Array:
    return np.concatenate([look.shares[path.key].ravel() for look in view.case.looks])


def _parallel(first: Array, other: Array) -> bool:
    lengths = float(np.linalg.norm(first) * np.linalg.norm(other))
    return first.size > 1 and abs(abs(float(first @ other)) / lengths - 1.0) < PARALLEL


def _coefficients(view: GradientAnalysis, groups: Sequence[ProportionalPaths]) -> tuple[list[list[float]], bool] | None:
    """By group its coefficient in every look, and whether equations outnumber unknowns; None without a fit."""
    looks = view.case.looks
    blocks = [np.stack([group.share(dict(look.shares)).ravel() for group in groups], 1) for look in looks]
    targets = [view.got[look].ravel() for look in looks]
    if not all(np.isfinite(target).all() for target in targets):
        return None
    enough = all(len(block) > len(groups) for block in blocks)
    if not enough and len(groups) != 1:
        blocks, targets = [np.concatenate(blocks)], [np.concatenate(targets)]
    columns = []
    noise = NOISE * max(view.scale.values())
    for block, target in zip(blocks, targets, strict=True):
        fitted = solve_coefficients(block, target, max(SAME * magnitude(target), noise))
        if fitted is None:
            return None
        columns.append(fitted)
    if len(columns) < len(looks):
        columns = columns * len(looks)
    alike = len(looks) > 1 and all(np.allclose(column, columns[0], rtol=NEAR, atol=0.0) for column in columns)
    determined = enough or len(blocks[0]) > len(groups) or (len(groups) == 1 and alike)
    return [[float(column[rank]) for column in columns] for rank in range(len(groups))], determined


def _is(ratios: Sequence[float], value: float) -> bool:
    return all(abs(ratio - value) <= NEAR for ratio in ratios)


def _near_each(ratios: Sequence[float], others: Sequence[float]) -> bool:
    return all(abs(ratio - other) <= NEAR * max(1.0, abs(other)) for ratio, other in zip(ratios, others, strict=True))


def _clean(ratios: Sequence[float]) -> bool:
    return any(_is(ratios, value) for value in CLEAN)
