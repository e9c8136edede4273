"""`{number}`: ask for one number, or for several by name. An answer is a sum over the numbers of `:with:`."""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from app.content.directives.answer_lists import take_tempting
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import Drawn, ParseContext, is_variable
from app.content.directives.vary import parse_with_draws
from app.content.text.arithmetic import UnreadableError, number_of
from app.content.text.errors import did_you_mean
from app.content.text.fences import Directive
from app.content.text.options import Options, Value, items_of
from app.kinds.number.block import NumberQuestion, NumbersQuestion
from app.kinds.number.mark import counted_rounding


@parse_with_draws
def read_number(directive: Directive, reading: ParseContext) -> NumberQuestion | NumbersQuestion:
    options = reading.options(directive)
    constants = _parse_constants(options, reading.numbers)
    atol = options.number("atol")
    answers = _answers(options)
    answer = None if answers else options.needed_text("answer", "1/(n-1)")
    inside, tempting = take_tempting(reading.inside(directive), reading)
    number = NumberQuestion(
        **reading.asked(directive, options, inside),
        answer=answer or "0",
        given=constants,
        rtol=options.number("rtol"),
        atol=0.0 if atol is None else atol,
        tempting=tempting,
    )
    if answers:
        return _numbers(number, answers, options, reading)
    value = _value(options.entries["answer"], constants, options) if answer else None
    if value is not None:
        _check_tolerance(number, value, options)
        _check_tempting(number, value, reading)
    return number


def _answers(options: Options) -> Mapping[str, tuple[Value, object]]:
    """The answers of several numbers, by name; nothing where there is one answer."""
    value = options.entries.get("answer")
    if value is None or not value.text.lstrip().startswith("{"):
        return {}
    return items_of(value, options.faults, "':answer:'") or {}


def _numbers(
    number: NumberQuestion, answers: Mapping[str, tuple[Value, object]], options: Options, reading: ParseContext
) -> NumbersQuestion:
    """*number* as several, each with the tempting values that begin with its name."""
    parts = []
    for name, (entry, _) in answers.items():
        value = _value(entry, number.given, options)
        own = tuple(
            replace(distractor, value=text)
            for distractor in number.tempting
            if (text := _said_of(name, distractor.value))
        )
        prompt = reading.prose.inline(name, entry.place.line)
        part = replace(number, name=name, was=(), prompt=prompt, hints=(), answer=entry.text, tempting=own)
        if value is not None:
            _check_tolerance(part, value, options)
            _check_tempting(part, value, reading)
        parts.append(part)
    for distractor in number.tempting:
        if not any(_said_of(name, distractor.value) for name in answers):
            fix = f"Write '- `{next(iter(answers))} = 1/2`: what to say about it'."
            reading.faults.add(
                distractor.place, "unknown-name", f"{distractor.value!r} does not say which number it is.", fix
            )
    return NumbersQuestion(
        place=number.place,
        name=number.name,
        was=number.was,
        prompt=number.prompt,
        right=number.right,
        hints=number.hints,
        parts=tuple(parts),
    )


def _said_of(name: str, tempting: str) -> str:
    """The value in *tempting*, such as `n = 3`, where it is one of *name*."""
    before, sign, value = tempting.partition("=")
    return value.strip() if sign and before.strip() == name else ""


def _parse_constants(options: Options, drawn: Drawn) -> dict[str, float]:
    """The numbers of `:with:`, which may follow from those that were *drawn*."""
    value = options.entries.get("with")
    items = items_of(value, options.faults, "':with:'") if value else {}
    constants = {name: _plain(number) for name, number in drawn.items()}
    for name, (entry, _) in (items or {}).items():
        if name in drawn:
            options.faults.add(entry.place, "twice", f"{name!r} is drawn by ':vary:'.", "Remove it from ':with:'.")
        if not is_variable(name):
            options.faults.add(entry.place, "malformed-name", f"{name!r} cannot name a number.")
        try:
            number = number_of(entry.text, constants)
        except UnreadableError as error:
            options.faults.add(entry.offset(error.column - 1), "wrong-type", f"{name!r} is not a number. {error}")
        else:
            constants[name] = _plain(number)
    return constants


def _plain(number: float | Fraction) -> float:
    return int(number) if number == int(number) else float(number)


def _value(value: Value, constants: Mapping[str, float], options: Options) -> float | None:
    # As it stands in the file, so that the column is right; in quotes, their inside.
    text = value.text if value.text[:1] not in ("'", '"') else options.text("answer") or ""
    try:
        return number_of(text, constants)
    except UnreadableError as error:
        rest = text[error.column - 1 :].split()
        fix = did_you_mean(rest[0] if rest else "", constants) if constants else ""
        place = value.offset(error.column - 1)
        options.faults.add(place, "wrong-answer", f"':answer:' has no value. {error}", fix)
        return None


def _check_tolerance(number: NumberQuestion, value: float, options: Options) -> None:
    """Nothing at all is not right."""
    rtol = number.tolerance(value)
    if value and math.isclose(0, value, rel_tol=rtol, abs_tol=number.atol):
        key = "rtol" if rtol >= 1 else "atol"
        message = f"The answer is {value:g}, and so far from it even 0 counts as right."
        options.wrong(key, "wrong-value", message, f"Make ':{key}:' smaller.")


def _check_tempting(number: NumberQuestion, value: float, reading: ParseContext) -> None:
    """Every tempting value is a number, and a wrong one."""
    for item in number.tempting:
        try:
            tempting = number_of(item.value, number.given)
        except UnreadableError as error:
            reading.faults.add(item.place, "wrong-type", f"The tempting value {item.value!r} is not a number. {error}")
            continue
        if math.isclose(tempting, value, rel_tol=number.tolerance(value), abs_tol=number.atol):
            message = f"The tempting value {item.value!r} counts as right."
            reading.faults.add(item.place, "right-tempting", message, "Remove it, or make ':rtol:' smaller.")
        elif written := counted_rounding(value, float(tempting), number.tolerance(value)):
            message = f"The tempting value {item.value!r} counts as right where it is written as {written}."
            reading.faults.add(item.place, "right-tempting", message, "Make ':rtol:' smaller.")


READERS = (
    DirectiveReader(
        name="number",
        block=NumberQuestion,
        options=("answer", "with", "rtol", "atol", "vary"),
        read=read_number,
        row=True,
    ),
)
