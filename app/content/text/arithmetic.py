"""Small sums read from text: sizes such as `block*n_embd`, answers such as `1/(n-1)`.

Total and bounded: any text gives a number or an `UnreadableError`, quickly. Nothing is ever handed to Python's own
evaluator, and no power grows beyond what a float holds.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from app.content.text.lookalikes import IN_SUMS

Value = Fraction | float
Names = Mapping[str, int] | Mapping[str, float] | Mapping[str, Value]

MAX_EXPRESSION_CHARS = 400
MAX_EXPRESSION_DEPTH = 40
WIDEST_BITS = 1024

PLAIN_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "ln": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "tanh": math.tanh,
    "sigmoid": lambda x: (1.0 + math.tanh(x / 2.0)) / 2.0,
    "relu": lambda x: max(x, 0.0),
    "sin": math.sin,
    "cos": math.cos,
    "abs": abs,
}
FRACTIONS = ("frac", "dfrac", "tfrac")
CONSTANTS: Mapping[str, float] = {"e": math.e, "pi": math.pi, "π": math.pi}
"""Known where no number of the same name is given."""

Signs = Mapping[str, Callable[[Value, Value], Value]]
SUMS: Signs = {"+": operator.add, "-": operator.sub}
PRODUCTS: Signs = {"*": operator.mul, "/": operator.truediv, "//": lambda left, other: Fraction(left // other)}

SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
BRACES = str.maketrans("{}", "()")

# Sums as other places write them, each with the same sum in the signs that are read here.
NOTATIONS: Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = (
    (re.compile(r"\\(?:left|right|[,;! ])|\$"), ""),
    (re.compile(r"\\(?:cdot|times)(?![a-z])"), "*"),
    (re.compile(r"\\(?=[a-z])"), ""),
    (re.compile(r"[⁺⁻⁰¹²³⁴-⁹]+"), lambda powers: "^" + powers[0].translate(SUPERSCRIPTS)),
    (re.compile(r"(?<![\d.])([1-9]\d{0,99})\s{0,99}[xX]\s{0,99}(?=\d)"), r"\1*"),
    (re.compile(r"\b(?:np|numpy|math|torch|F)\.(?=[a-z])"), ""),
)

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|//|[-+*/^()]))",
)


class UnreadableError(ValueError):
    """The text is not a sum of known names; *column* counts from 1."""

    def __init__(self, message: str, column: int = 1) -> None:
        super().__init__(message)
        self.column = column


def value_of(text: str, names: Names | None = None) -> Value:
    """The value of *text*: exact where only whole numbers and fractions take part, a finite float otherwise.

    Raises:
        UnreadableError: Nothing else is ever raised.
    """
    if len(text) > MAX_EXPRESSION_CHARS:
        raise UnreadableError(f"That is longer than {MAX_EXPRESSION_CHARS} characters.")
    parser = _Parser(text, names or {})
    try:
        value = parser.sum()
    except ZeroDivisionError:
        raise UnreadableError("That divides by zero.") from None
    except (OverflowError, ArithmeticError):
        raise UnreadableError("That is too large.") from None
    except UnreadableError:
        raise
    except ValueError:
        raise UnreadableError("That has no value among the real numbers.") from None
    parser.end()
    return _finite(value)


def number_of(text: str, names: Names | None = None) -> float:
    """Like `value_of`, as a float."""
    try:
        return float(value_of(text, names))
    except OverflowError:
        raise UnreadableError("That is too large.") from None


def integer_of(text: str, names: Names | None = None) -> int:
    """Like `value_of`, but the value must be whole."""
    value = value_of(text, names)
    if value != int(value):
        raise UnreadableError(f"{text.strip()} is {float(value):g}, which is not a whole number.")
    return int(value)


def _finite(value: Value) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        raise UnreadableError("That is too large.")
    if isinstance(value, Fraction) and max(value.numerator.bit_length(), value.denominator.bit_length()) > WIDEST_BITS:
        raise UnreadableError("That is too large.")
    return value


def _power(base: Value, exponent: Value) -> Value:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if bits * abs(exponent) <= WIDEST_BITS:
            return Fraction(base ** int(exponent))
    return math.pow(base, exponent)


def _in_plain_signs(text: str) -> str:
    """*text* with the signs of TeX, of phones and of numpy in the place of which others are read here."""
    plain = text.translate(IN_SUMS)
    for pattern, meaning in NOTATIONS:
        plain = pattern.sub(meaning, plain)
    return plain.translate(BRACES)


class _Parser:
    """Recursive descent over `TOKEN`; depth is counted so that brackets cannot exhaust the stack."""

    def __init__(self, text: str, names: Names) -> None:
        self.text = _in_plain_signs(text)
        self.names = names
        self.at = 0
        self.depth = 0
        self.closed = False
        self.kind, self.token, self.column = "", "", 1
        self.step()

    def step(self) -> None:
        self.closed = self.kind == "number" or self.token == ")"
        match = TOKEN.match(self.text, self.at)
        if match is None:
            rest = self.text[self.at :].lstrip()
            self.column = len(self.text) - len(rest) + 1
            if rest:
                raise UnreadableError(f"The sign {rest[0]!r} cannot be read here.", self.column)
            self.kind, self.token = "end", ""
            return
        self.kind = match.lastgroup or ""
        self.token = match[self.kind]
        self.column = match.start(self.kind) + 1
        self.at = match.end()

    def take(self, *signs: str) -> str:
        if self.kind == "sign" and self.token in signs:
            sign = self.token
            self.step()
            return sign
        return ""

    def end(self) -> None:
        if self.kind != "end":
            raise UnreadableError(f"{self.token!r} was not expected here.", self.column)

    def sum(self) -> Value:
        self.depth += 1
        if self.depth > MAX_EXPRESSION_DEPTH:
            raise UnreadableError("That is nested too deeply.", self.column)
        value = self.combine(self.product, SUMS)
        self.depth -= 1
        return value

    def product(self) -> Value:
        value = self.combine(self.parse_signed, PRODUCTS)
        # `(2)(-1)` and `2pi`: what follows a number or a bracket without a sign is one more factor.
        while self.follows_closely():
            value = _finite(value * self.combine(self.power, PRODUCTS))
        return value

    def follows_closely(self) -> bool:
        return self.closed and (self.kind == "name" or self.token == "(")

    def combine(self, part: Callable[[], Value], signs: Signs) -> Value:
        value = part()
        while sign := self.take(*signs):
            value = _finite(signs[sign](value, part()))
        return value

    def parse_signed(self) -> Value:
        negative = False
        while sign := self.take("-", "+"):
            negative ^= sign == "-"
        value = self.power()
        return -value if negative else value

    def power(self) -> Value:
        base = self.atom()
        if not self.take("**", "^"):
            return base
        self.depth += 1
        if self.depth > MAX_EXPRESSION_DEPTH:
            raise UnreadableError("That is nested too deeply.", self.column)
        value = _finite(_power(base, self.parse_signed()))
        self.depth -= 1
        return value

    def atom(self) -> Value:
        kind, token, column = self.kind, self.token, self.column
        if kind == "end":
            raise UnreadableError("A number is missing here.", column)
        if self.take("("):
            return self.bracket()
        self.step()
        if kind == "number":
            return _number(token, column)
        if kind != "name":
            raise UnreadableError(f"{token!r} was not expected here.", column)
        if token in self.names:
            value = self.names[token]
            return Fraction(value) if isinstance(value, int | Fraction) else float(value)
        if token in FRACTIONS and self.take("("):
            above = self.bracket()
            if self.take("("):
                return above / self.bracket()
            raise UnreadableError("What is below the fraction is missing.", self.column)
        if token in PLAIN_FUNCTIONS and self.take("("):
            return PLAIN_FUNCTIONS[token](float(self.bracket()))
        if token in PLAIN_FUNCTIONS and self.kind == "number":  # `ln 10`
            return PLAIN_FUNCTIONS[token](float(self.atom()))
        if token in CONSTANTS:
            return CONSTANTS[token]
        raise UnreadableError(f"The name {token!r} is not known here.", column)

    def bracket(self) -> Value:
        value = self.sum()
        if not self.take(")"):
            raise UnreadableError("A closing bracket is missing.", self.column)
        return value


def _number(token: str, column: int) -> Value:
    text = token.replace(",", ".")
    exponent = text.lower().partition("e")[2]
    if len(exponent) > 4 or abs(int(exponent or 0)) > 300:
        raise UnreadableError("That exponent is too large.", column)
    return Fraction(text) if not text.startswith(".") else Fraction("0" + text)
