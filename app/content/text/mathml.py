"""Formulas as browsers set them: TeX to MathML Core, with no style in a tag and nothing that only some browsers draw.

The TeX stands in the page as well, as an annotation: what is read aloud or taken away as plain words has it from there.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from xml.etree.ElementTree import Element, ParseError, fromstring, tostring

from markupsafe import Markup
from math_core import LatexError, LatexToMathML

MAX_FORMULA_CHARS = 2000
"""Letters of TeX. The converter descends once for each brace: ten times as many are more than its stack holds."""
LONG = 24
"""Letters of TeX from which on a formula in a line may be broken where the line ends."""

ALIKE = {"text-align: left": "left", "text-align: right": "right", "margin-left:-0.16666667em": "back"}
ALIKE |= {"padding-left: 0": "close-left", "padding-right: 0": "close-right", "padding-left:1em": "apart"}
ALIKE |= {f"border-{side}: 0.05em solid currentcolor": f"line-{side}" for side in ("left", "right", "top", "bottom")}
"""What `math.css` calls the styles that a page's policy does not allow in a tag."""
NEEDLESS = re.compile(r"justify-items|math-shift|padding-(?:top|bottom)|width|padding-(?:left|right):[^ ]")
BREAKS = frozenset("=+−⋅×⊙≈≠<>≤≥≡∼∝→⇒⟹⟺↦∈")

SIGNED = re.compile(r"([,;=(] ?)(?:\\ |~)(?= ?[-+])")
"""A sign of a number behind a space, which the converter would set as if something were subtracted."""

MATH = re.compile(r"<math\b.*?</math>", re.DOTALL)
TEX = re.compile(r'<annotation encoding="application/x-tex">(.*?)</annotation>', re.DOTALL)
BESIDE = re.compile(rf"((?:[(\[“‘]|&quot;){{0,4}})({MATH.pattern})((?:[.,;:!?)\]”’]|&quot;){{0,4}})", re.DOTALL)

NOT_WRITTEN = "it holds what cannot be written as MathML, such as an invisible character"
_converter = LatexToMathML(macros={"R": r"\mathbb{R}"}, annotation=True, fancy_error=False)


class FormulaError(ValueError):
    """A formula that cannot be set: what is wrong, from which of its letters on."""

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(message)
        self.at = column


def render_mathml(tex: str, *, display: bool = False) -> Markup:
    """Convert *tex* to MathML; long inline formulas become several parts, so that a line may break between them.

    Raises:
        FormulaError: It is no TeX, or needs what a page does not have.
    """
    if len(tex) > MAX_FORMULA_CHARS:
        raise FormulaError(f"it has {len(tex)} letters, and at most {MAX_FORMULA_CHARS} are set")
    try:
        text = _converter.convert_with_local_state(SIGNED.sub(r"\1\;", tex), displaystyle=display)
    except LatexError as error:
        column, _, message = str(error).partition(": ")
        raise FormulaError(message.rstrip("."), int(column)) from None
    except UnicodeEncodeError:
        raise FormulaError(NOT_WRITTEN) from None
    try:
        math = fromstring(text.replace("&ApplyFunction;", "\u2061").replace("&InvisibleTimes;", "\u2062"))
    except ParseError:  # of what no page may hold, and of what the converter itself writes wrongly
        raise FormulaError(NOT_WRITTEN) from None
    for element in math.iter():
        _restrict(element)
    whole = display or len(tex) < LONG or tex.startswith(r"\left")
    return Markup("").join(Markup(tostring(part, encoding="unicode")) for part in ([math] if whole else _parts(math)))


def _restrict(element: Element) -> None:
    """Keep what every browser draws, and put words that `math.css` knows in the place of styles."""
    if element.tag == "menclose" and element.attrib.pop("notation", "") == "box":
        element.tag, element.attrib["data-as"] = "mrow", "boxed"
    if element.tag == "menclose":
        raise FormulaError("what is struck out or enclosed is not drawn by all browsers; they draw '\\boxed'")
    element.attrib.pop("class", None)
    style = [part.strip() for part in element.attrib.pop("style", "").split(";") if part.strip()]
    words = [ALIKE.get(name) for name in style if not NEEDLESS.match(name)]
    if None in words:
        raise FormulaError(f"it asks for '{'; '.join(style)}', and formulas have no colours or styles of their own")
    if words:
        element.set("data-as", " ".join(filter(None, words)))


def _parts(math: Element) -> Iterator[Element]:
    row, annotation = math[0]
    cuts = [index + 1 for index in range(1, len(row) - 1) if row.tag == "mrow" and _may_end(row[index])]
    if not cuts:
        yield math
        return
    for start, end in pairwise([0, *cuts, len(row)]):
        if end < len(row):
            row[end - 1].set("form", "infix")
        part = Element("mrow", row.attrib)
        part.extend(row[start:end])
        inside = Element("semantics")
        inside.extend([part, annotation])
        formula = Element("math")
        formula.append(part if start else inside)
        yield formula


def _may_end(sign: Element) -> bool:
    """True if a line may break after *sign*, which is between two sides; the sign of a number has no space after it."""
    return sign.tag == "mo" and sign.text in BREAKS and sign.get("rspace") != "0"


def kept_together(html: Markup) -> Markup:
    """*html* in which no line begins with the full stop of a formula, nor ends with the bracket before one."""

    def together(match: re.Match[str]) -> str:
        return f'<span class="together">{match[0]}</span>' if match[1] or match[3] else match[0]

    return Markup(BESIDE.sub(together, html))


@lru_cache(maxsize=1024)
def words_of(html: Markup) -> str:
    """*html* as words, formulas as TeX: what is said aloud of it, and what a notebook says."""
    return Markup(MATH.sub(lambda math: "".join(TEX.findall(math[0])), html)).striptags()


@lru_cache(maxsize=1024)
def accessible_name_attribute(html: Markup) -> Markup:
    """The attribute by which a control has its name from *html*, where that holds formulas: names are plain words."""
    return Markup(' aria-label="{}"').format(words_of(html)) if "<math" in html else Markup()
