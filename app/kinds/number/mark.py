"""Numbers: `1/31`, `0.0323`, `3.2e-2`, `0,0323`, `−0.5`, `49 152`, `3.226 %`, `\\frac{1}{31}`.

A correct rounding is right when it has as many digits as the tolerance asks for (three for the usual 1e-3); with fewer
it is "right, but rounded too far". A whole number is asked for exactly, or as near to it as its author allows.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.content.blocks import Distractor, Forward
from app.content.blocks.exercises import ROUNDING, USUAL_TOLERANCE
from app.content.text.arithmetic import CONSTANTS, PLAIN_FUNCTIONS, UnreadableError, number_of
from app.content.text.mathml import words_of
from app.content.text.sizes import BRACKETS
from app.grading.quiz.feedback import (
    THAT_IS_IT,
    THOSE_ARE,
    Feedback,
    Shapes,
    count_text,
    right_feedback,
    unread_feedback,
    wrong_feedback,
)
from app.kinds.number.block import NumberQuestion, NumbersQuestion
from app.notations import plain_number

LEAD = re.compile(r"^\s*(?:[^\W\d]\w*\s*)?(?:=|≈|~|:=)\s*")
GROUPED = re.compile(r"^\s*([-+−]?)(\d{1,3}(?:([ ,.'’_\u00a0\u2009\u202f])\d{3})(?:\3\d{3})*)\s*$")
LISTED = re.compile(r" ?; ?| ?, |(?<!\d),|,(?!\d)| and |(?<=[\w.)]) (?=[-+−]?[\w.(])")  # single spaces
NO_BRACKETS = str.maketrans("[]{}", "    ")
PERCENT_ASKED = re.compile(r"%|per ?cent", re.IGNORECASE)
PERCENT = re.compile(r"(?:%|per ?cent)$", re.IGNORECASE)
WORDS = re.compile(r"[^\W\d_]\w{0,30}")
THOUSANDS = frozenset("kKM")
NEAR_ZERO = 1e-6  # what rounding leaves of a zero
MOST_DIGITS = 12
DECIMAL = re.compile(r"[-+−–]?(\d*)(?:[.,](\d*))?(?:[eE]([-+]?\d{1,3}))?")


@dataclass(frozen=True, slots=True)
class NumberReading:
    """One way to read an answer. *step* is the size of one unit in its last written digit; 0 for a sum."""

    value: float
    step: float = 0.0
    digits: int = 0


def mark_number(quiz: NumberQuestion, values: Sequence[str], _shapes: Shapes, forward: Forward | None) -> Feedback:
    text = plain_number(", ".join(values))
    if not text.strip():
        return unread_feedback("Write a number.")
    try:
        readings = readings_of(text, quiz)
        answer = number_of(quiz.answer, quiz.given)
    except UnreadableError as error:
        if several := _several(text, quiz):
            return several
        return unread_feedback(f"{_unread(text, quiz, forward) or f'This cannot be read as a number. {error}'}")
    likeliest = min(readings, key=lambda reading: abs(reading.value - answer))
    echo = echo_of(text, likeliest)
    for reading in readings:
        if _counts(reading, answer, quiz):
            return right_feedback(THAT_IS_IT, echo_of(text, reading))
    if _unwrapped(text) != text.strip() and (several := _several(text, quiz)):
        return several
    of_one = PERCENT_ASKED.search(words_of(quiz.prompt)) and not PERCENT_ASKED.search(text)
    if of_one and is_close(100 * readings[0].value, answer, quiz):
        return unread_feedback("That is a part of 1. Percent are asked for: multiply by 100.", echo)
    tempting = nearest_tempting(quiz, readings)
    rounded = next((number_reading for number_reading in readings if _is_rounding_of(number_reading, answer)), None)
    if tempting is None and rounded:
        # Neither right nor wrong: nobody is told "not right" and "right" in one breath.
        return unread_feedback(
            "Right, but rounded too far: give more digits, or the fraction itself.", echo_of(text, rounded)
        )
    if tempting:
        distractor, reading = tempting
        return wrong_feedback(distractor.html, echo_of(text, reading))
    if any(_counts(reading, -answer, quiz) for reading in readings):
        return wrong_feedback("The size is right, the sign is not.", echo)
    if any(_almost_whole(reading.value, answer, quiz) for reading in readings):
        return unread_feedback("Very near, but the answer is a whole number: give that number.", echo)
    return wrong_feedback(f"The answer is {'larger' if answer > likeliest.value else 'smaller'}.", echo)


def _unread(text: str, quiz: NumberQuestion, forward: Forward | None) -> str:
    """Say what to do with an answer that holds a letter: put in its value, or leave out a word, or the `k` of `12k`."""
    words = [word for word in WORDS.findall(text) if word not in {*PLAIN_FUNCTIONS, *CONSTANTS, *quiz.given, "percent"}]
    if not words:
        return ""
    question = f"{words_of(quiz.prompt)} {forward.source if forward else ''}"
    thousands = words[0] in THOUSANDS and words[0] not in WORDS.findall(question)
    if (len(words[0]) == 1 or words[0][:1] == "d") and not thousands:
        return f"`{words[0]}` stands for a number in the question: put that number in, and give what comes out."
    return f"A number alone is asked for, without `{words[0]}`." if any(map(str.isdecimal, text)) else ""


def mark_numbers(quiz: NumbersQuestion, values: Sequence[str], _shapes: Shapes, _forward: Forward | None) -> Feedback:
    """Each of several numbers on its own; the first that is not right is told why."""
    texts = spread_values(values, len(quiz.parts))
    answers = answered_each(quiz.parts, texts, "number", "numbers")
    if isinstance(answers, Feedback):
        return answers
    off = [(part, feedback) for part, feedback in zip(quiz.parts, answers, strict=True) if not feedback.correct]
    if not off:
        return right_feedback(THOSE_ARE)
    part, first = off[0]
    right = len(answers) - len(off)
    tally = Markup("<p>{} of {} {} right. {}:</p>").format(
        right, len(answers), "is" if right == 1 else "are", part.prompt
    )
    return wrong_feedback(Markup(" ").join((tally, first.message)))


def spread_values(values: Sequence[str], count: int) -> list[str]:
    """One text for each of *count* fields; a list that was put into a single field is dealt out to all of them."""
    texts = [*values, *[""] * count][:count]
    written = [text for text in texts if text.strip()]
    if len(written) != 1:
        return texts
    parts = LISTED.split(" ".join(_unwrapped(written[0]).translate(NO_BRACKETS).split()).strip(" ,;"))
    return parts if len(parts) == count else texts


def answered_each(
    parts: Sequence[NumberQuestion], texts: Sequence[str], thing: str, things: str
) -> list[Feedback] | Feedback:
    """The reply to each of *texts*; one reply to all where some are empty, or one cannot be read."""
    empty = sum(not text.strip() for text in texts)
    if empty:
        return unread_feedback(f"{count_text(empty, f'{thing} is', f'{things} are')} still empty.")
    feedbacks = [mark_number(part, [text], {}, None) for part, text in zip(parts, texts, strict=True)]
    for part, feedback in zip(parts, feedbacks, strict=True):
        if feedback.correct is None:
            return unread_feedback(f"`{part.name}`: {words_of(feedback.message)}")
    return feedbacks


def _several(text: str, quiz: NumberQuestion) -> Feedback | None:
    count = len(_parse_list(text, quiz))
    return unread_feedback(f"These are {count} numbers; the answer is a single one.") if count > 1 else None


def _parse_list(text: str, quiz: NumberQuestion) -> list[float]:
    """The numbers of a list such as `(5, 7, 9)` or `5, 7 and 9`; none where something in it is no number."""
    plain = _unwrapped(LEAD.sub("", text)).translate(str.maketrans("[](){}", "      "))
    parts = [part for part in re.split(r"[,;\s]+", plain) if part not in ("", "and")]
    try:
        return [number_of(part, quiz.given) for part in parts]
    except UnreadableError:
        return []


def _unwrapped(text: str) -> str:
    """Text inside the brackets of a list, a tuple or a tensor as Python prints it."""
    plain = text.strip()
    for name in ("torch.", "np.", "tensor", "array"):
        plain = plain.removeprefix(name)
    while plain and BRACKETS.get(plain[0]) == plain[-1] and plain[0] not in plain[1:]:
        plain = plain[1:-1].strip()
    return plain


def readings_of(text: str, quiz: NumberQuestion) -> list[NumberReading]:
    """Every way in which *text* can be meant: `49,152` is 49152 or 49.152.

    Raises:
        UnreadableError: There is none.
    """
    plain = _unwrapped(LEAD.sub("", text).strip().rstrip(".;")).rstrip(",").rstrip() or text.strip()
    hundredths = PERCENT.sub("", plain).rstrip()
    if PERCENT.search(hundredths):
        raise UnreadableError("There are two percent signs: write one, or the number itself.")
    if hundredths != plain:
        of = 1.0 if PERCENT_ASKED.search(words_of(quiz.prompt)) else 100.0
        return [
            NumberReading(number_reading.value / of, number_reading.step / of, number_reading.digits)
            for number_reading in readings_of(hundredths, quiz)
        ]
    grouped = GROUPED.match(plain)
    readings = []
    if grouped and not grouped[2].startswith("0"):
        sign = "-" if grouped[1] in ("-", "−") else ""
        readings.append(NumberReading(float(sign + re.sub(r"\D", "", grouped[2]))))
    try:
        readings.insert(0, _reading(plain, quiz))
    except UnreadableError:
        if not readings:
            raise
    return readings


def _reading(text: str, quiz: NumberQuestion) -> NumberReading:
    value = number_of(text, quiz.given)
    match = DECIMAL.fullmatch("".join(text.split()))
    if match is None:
        return NumberReading(value)
    decimals = match[2] or ""
    digits = len((match[1] + decimals).lstrip("0"))
    exponent = int(match[3] or 0) - len(decimals)
    return NumberReading(value, 10.0**exponent if abs(exponent) < 300 else 0.0, digits)


def is_close(value: float, answer: float, quiz: NumberQuestion) -> bool:
    """True if *value* counts as *answer* under the quiz's tolerances."""
    return math.isclose(
        value, answer, rel_tol=quiz.tolerance(answer), abs_tol=max(quiz.atol, 1e-12 if answer == 0 else 0.0)
    )


def _is_rounding_of(reading: NumberReading, exact: float) -> bool:
    """True if the written digits, at least one of them not zero, are those of *exact*."""
    enough = reading.digits >= 1 and reading.step > 0
    return enough and abs(reading.value - exact) <= reading.step * 0.5000001


def _counts(reading: NumberReading, exact: float, quiz: NumberQuestion) -> bool:
    """True if *reading* is *exact* within the tolerance, or rounded to as many digits as the tolerance asks for."""
    if is_close(reading.value, exact, quiz):
        return True
    return reading.digits >= _digits_asked(quiz.tolerance(exact)) and _is_rounding_of(reading, exact)


def _digits_asked(rtol: float) -> float:
    """Digits with which a rounding counts as right; none do where *rtol* is no part of the answer."""
    return math.ceil(-math.log10(rtol) - 1e-9) if 0 < rtol < 1 else math.inf


def counted_rounding(exact: float, value: float, rtol: float) -> str:
    """*value* as a rounding of *exact* that counts as right at *rtol*, such as `19.0` for 19.02; empty if none does."""
    asked = _digits_asked(rtol)
    if asked > MOST_DIGITS or not exact:
        return ""
    whole_digits = math.floor(math.log10(abs(exact))) + 1
    for digits in range(max(int(asked), 1), MOST_DIGITS + 1):
        if round(exact, digits - whole_digits) == value:
            return f"{value:.{max(digits - whole_digits, 0)}f}"
    return ""


def _almost_whole(value: float, answer: float, quiz: NumberQuestion) -> bool:
    """True if *value* would count as the whole number *answer* if that were no whole number."""
    fraction = quiz.tolerance(answer) == ROUNDING and not value.is_integer()
    return fraction and math.isclose(value, answer, rel_tol=USUAL_TOLERANCE, abs_tol=0.0 if answer else NEAR_ZERO)


def nearest_tempting(
    quiz: NumberQuestion, readings: Sequence[NumberReading]
) -> tuple[Distractor, NumberReading] | None:
    """The tempting value that was given, to the tolerance of the quiz or to the digits written, and how it was read."""
    near: list[tuple[float, Distractor, NumberReading]] = []
    for distractor in quiz.tempting:
        try:
            value = number_of(distractor.value, quiz.given)
        except UnreadableError:
            continue
        for reading in readings:
            close = is_close(reading.value, value, quiz) or (reading.digits >= 2 and _is_rounding_of(reading, value))
            if close:
                near.append((abs(reading.value - value), distractor, reading))
    return min(near, key=lambda row: row[0])[1:] if near else None


def echo_of(text: str, reading: NumberReading) -> str:
    """Show how the answer was read, if it does not already look like that."""
    shown = f"{reading.value:.6g}"
    return "" if text.strip() == shown else shown
