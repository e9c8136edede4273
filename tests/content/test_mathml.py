"""Formulas as browsers set them: MathML alone, without a style, and bounded whatever is written."""

import re
from contextlib import suppress
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from app.content.blocks import Grad
from app.content.text.course_page import CoursePage
from app.content.text.mathml import (
    LONG,
    MATH,
    FormulaError,
    accessible_name_attribute,
    kept_together,
    render_mathml,
    words_of,
)
from app.course.parse import parse_lesson

TAGS = r"math|semantics|annotation|mrow|m[ino]|mtext|mspace|mpadded|mphantom|mfrac|msqrt|mroot|mtable|mt[rd]|b"
TAGS += r"|m(?:sub|sup|under|over)+"
NAMES = r"encoding|display|displaystyle|scriptlevel|stretchy|lspace|rspace|form|minsize|maxsize|width|height|accent"
NAMES += r"|accentunder|mathvariant|data-as|movablelimits|linethickness"
PIECES = (
    r"x y _ ^ { } & \\ 12 + - = ( ) , ' < > \frac \sqrt \left( \right) \begin{aligned} \end{aligned} \text{a<b} \, \!"
)
PIECES += r" \begin{cases} \end{cases} \sum \bigl( \overline \boxed \mathbf \log"
PIECES += r" \begin{array}{c|c} \hline \end{array} \R"
PIECES += r" \color{red} \cancel \text{\textbf{a}} \mathbin \middle| \displaystyle"
UNWRITTEN = ["\0", "\x01", "\ufffe", "\ud800"]


def tags_and_attributes(markup: Markup) -> set[str]:
    elements = list(fromstring(f"<p>{markup}</p>").iter())[1:]
    return {one.tag for one in elements} | {name for one in elements for name in one.attrib}


@given(st.lists(st.sampled_from([*PIECES.split(" "), *UNWRITTEN]), max_size=14).map(" ".join), st.booleans())
def test_whatever_is_written_becomes_mathml_without_styles_or_is_refused(tex: str, display: bool) -> None:
    with suppress(FormulaError):
        seen = tags_and_attributes(render_mathml(tex, display=display))

        assert [one for one in seen if not re.fullmatch(f"{TAGS}|{NAMES}", one)] == []


@pytest.mark.parametrize("tex", [*UNWRITTEN[1:], r"> \mathbin\middle|\displaystyle"])
def test_what_cannot_be_written_as_mathml_is_refused(tex: str) -> None:
    with pytest.raises(FormulaError, match="cannot be written"):
        render_mathml(tex)


@pytest.mark.parametrize("deep", [r"{" * 5000 + "}" * 5000, r"\sqrt " * 5000 + "x", "x^{" * 5000 + "}" * 5000])
def test_a_formula_deeper_than_the_stack_is_refused_before_it_is_read(deep: str) -> None:
    with pytest.raises(FormulaError, match="letters, and at most"):
        render_mathml(deep)


@pytest.mark.parametrize(
    ("tex", "parts"),
    [
        (r"y = \sigma(x) = 1/(1 + e^{-x})", ["y=", "σ(x)=", "1/(1+", "e−x)"]),
        (r"u = (-0.926,\ -0.463, \dots, 0)", ["u=", "(−0.926,−0.463,...,0)"]),
        (r"y = x + 1", ["y=x+1"]),
        (r"\left(y = \sigma(x) = 1/(1 + e^{-x})\right)", ["(y=σ(x)=1/(1+e−x))"]),
    ],
)
def test_a_long_inline_formula_may_break_after_a_binary_sign(tex: str, parts: list[str]) -> None:
    found = [re.sub(r"<annotation.*?</annotation>|<[^>]+>|\s", "", one) for one in MATH.findall(render_mathml(tex))]

    assert found == parts
    assert len(MATH.findall(render_mathml(tex, display=True))) == 1


def test_a_formula_is_said_once_by_its_source_also_where_it_comes_in_parts() -> None:
    tex = r"y < \sigma(x) = 1/(1 + e^{-x})"
    html = Markup("<p>So <em>much</em>: {}.</p>").format(render_mathml(tex))

    assert len(tex) >= LONG
    assert words_of(html) == f"So much: {tex}."
    assert accessible_name_attribute(html) == Markup(' aria-label="{}"').format(f"So much: {tex}.")
    assert accessible_name_attribute(Markup("<em>no</em>")) == ""


@pytest.mark.parametrize(("before", "behind"), [("", "."), ("(", "),"), ("“", "”"), ("&quot;", "&quot;?")])
def test_what_stands_close_to_a_formula_stays_in_its_line(before: str, behind: str) -> None:
    html = Markup(f"<p>a {before}{render_mathml('x')}{behind} b</p>")

    assert kept_together(html) == f'<p>a <span class="together">{before}{render_mathml("x")}{behind}</span> b</p>'
    assert kept_together(Markup(f"a {render_mathml('x')} b.")) == f"a {render_mathml('x')} b."


BOX = """---
title: t
id: t
estimate: 1 min
---

```{forward} f
:dims: N: 3
:inputs: {x: [N]}
:output: y

y = 2 * x
```

:::{grad} box
:forward: f
:require: dx

Write `dx`.

```{solution}
dx = 2 * dy
```

```{mistake} It is $\\pd{y}{x}$, no `$\\pd$`.
dx = dy
```
:::
"""


def test_a_macro_of_the_course_is_put_into_the_message_of_a_mistake() -> None:
    course = CoursePage({"pd": r"\frac{\partial #1}{\partial #2}"})

    lesson, errors = parse_lesson(BOX, "01-t.md", course=course)

    assert lesson is not None, errors
    (mistake,) = next(one for one in lesson.blocks if isinstance(one, Grad)).mistakes
    assert mistake.message == r"It is $\frac{\partial y}{\partial x}$, no `$\pd$`."
    assert "<mfrac>" in mistake.html
