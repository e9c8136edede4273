"""`{number}`: ask for one number. The answer is a sum over the numbers of `:with:`."""

import math
from collections.abc import Mapping

from app.content.arithmetic import UnreadableError, number_of
from app.content.blocks import Number
from app.content.errors import did_you_mean
from app.content.fences import Directive
from app.content.options import Options, items_of
from app.content.reading import Reading, is_variable

OPTIONS = ("answer", "with", "rtol", "atol", "right", "was")
DEFAULT_RTOL = 1e-3


def read(directive: Directive, reading: Reading) -> Number:
    options = reading.options(directive)
    given = _given(options)
    rtol = options.number("rtol")
    atol = options.number("atol")
    answer = options.needed_text("answer", "1/(n-1)")
    inside, tempting = reading.with_tempting(directive)
    number = Number(
        **reading.asked(directive, options, inside),
        answer=answer or "0",
        given=given,
        rtol=DEFAULT_RTOL if rtol is None else rtol,
        atol=0.0 if atol is None else atol,
        tempting=tempting,
    )
    value = _value(answer, given, options)
    if value is not None:
        _check_tempting(number, value, reading)
    return number


def _given(options: Options) -> dict[str, float]:
    value = options.entries.get("with")
    items = items_of(value, options.faults, "':with:'") if value else {}
    given: dict[str, float] = {}
    for name, (entry, _) in (items or {}).items():
        if not is_variable(name):
            options.faults.add(entry.place, "malformed-name", f"{name!r} cannot name a number.")
        try:
            number = number_of(entry.text, given)
        except UnreadableError as error:
            options.faults.add(entry.offset(error.column - 1), "wrong-type", f"{name!r} is not a number. {error}")
        else:
            given[name] = int(number) if number.is_integer() else number
    return given


def _value(answer: str | None, given: Mapping[str, float], options: Options) -> float | None:
    if answer is None:
        return None
    value = options.entries["answer"]
    # As it stands in the file, so that the column is right; in quotes, their inside.
    text = answer if value.text[:1] in ("'", '"') else value.text
    try:
        return number_of(text, given)
    except UnreadableError as error:
        rest = text[error.column - 1 :].split()
        fix = did_you_mean(rest[0] if rest else "", given) if given else ""
        place = value.offset(error.column - 1)
        options.faults.add(place, "wrong-answer", f"':answer:' has no value. {error}", fix)
        return None


def _check_tempting(number: Number, value: float, reading: Reading) -> None:
    """Every tempting value is a number, and a wrong one."""
    for one in number.tempting:
        try:
            tempting = number_of(one.value, number.given)
        except UnreadableError as error:
            reading.faults.add(one.place, "wrong-type", f"The tempting value {one.value!r} is not a number. {error}")
            continue
        if math.isclose(tempting, value, rel_tol=number.rtol, abs_tol=number.atol):
            message = f"The tempting value {one.value!r} counts as right."
            reading.faults.add(one.place, "right-tempting", message, "Remove it, or make ':rtol:' smaller.")
