"""Python's own `sum`, `max` and `min` where those of tensors are meant, and how the others are written."""

import re
from collections.abc import Iterable
from dataclasses import replace

from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import ReportedError, Row
from app.grading.judge.verdict import NameVerdict
from app.syntax import arguments_of, called_name, nodes_in, owner_of, source_text

_OWN = "sum|max|min"
OWN = "is Python's own"
_ALONG = re.compile(r":(?:shape|wrong-axis|summed)")
"""Diagnoses for which the axis of a sum may be the reason."""


def translate_own(_: re.Match[str], error: ReportedError) -> str:
    """Explain Python's message if its own function is given an axis."""
    name, __, arguments = error.source.partition("(")
    written = f"`torch.{name}({arguments}`" if arguments else f"`torch.{name}`"
    return f"`{name or 'sum'}` {OWN} here and knows no axes. That of tensors is {written}."


def with_own_sums(names: Iterable[NameVerdict], plan: ParsedSubmission) -> tuple[NameVerdict, ...]:
    """*names*, with a word about Python's own `sum` where the line of a wrong one has it."""
    return tuple(_with_word_on_sum(name_verdict, plan) for name_verdict in names)


def _with_word_on_sum(name_verdict: NameVerdict, plan: ParsedSubmission) -> NameVerdict:
    at = plan.last.get(name_verdict.name)
    if name_verdict.verdict != "wrong" or at is None or "sum" in plan.last or OWN in name_verdict.message:
        return name_verdict
    calls = [node for node in nodes_in(plan.lines[at].node) if called_name(node) == "sum" and owner_of(node) is None]
    if not calls or (len(arguments_of(calls[0])) < 2 and not _ALONG.search(name_verdict.code or "")):
        return name_verdict
    text = source_text(calls[0])
    begins = f", and begins at `{source_text(arguments_of(calls[0])[1])}`" if len(arguments_of(calls[0])) > 1 else ""
    said = f"`{text}` {OWN}: it adds up along the first axis{begins}."
    written = f"torch.{text}" if begins else "torch.sum(…, axis)"
    return replace(name_verdict, message=f"{said} That of tensors is `{written}`. {name_verdict.message}")


OWN_FUNCTIONS: tuple[Row, ...] = (
    (rf"is an invalid keyword argument for (?:{_OWN})\(\)", "translate_own", translate_own),
    (rf"^(?:{_OWN})\(\) takes at most \d", "translate_own", translate_own),
    (
        rf"^(?:{_OWN})\(\) got an unexpected keyword argument '(?:dim|axis|keepdim|keepdims)'",
        "translate_own",
        translate_own,
    ),
)
