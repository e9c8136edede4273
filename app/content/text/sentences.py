"""Code in colours, and messages that are sentences and no markdown: what is escaped, and what is set apart."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer, get_lexer_by_name

from app.content.text.mathml import FormulaError, kept_together, render_mathml
from app.content.text.tex import expand_macros

FORMULA = re.compile(r"(?<![\\$\w])\$(?=[^\s$])([^$]+)(?<=[^\s\\])\$(?![$\w])")
CODE_SPAN = re.compile(r"`([^`]+)`")
STRESSED = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]+)(?<=[^\s*])\*(?![\w*])")

BREAKS = re.compile(r"[\s/?!}|-]")
SPACES = re.compile(r"(\s+)")
BRACKETS = re.compile(r"(?<=[\[(,])")
SHORT = 24
"""Letters of code up to which it stays in one line: a phone shows as many beside the edge of a sheet."""

_formatter = HtmlFormatter[str](nowrap=True)
_PYTHON = PythonLexer(stripnl=False)
_LONG_STRING = re.compile(r"\"\"\"|'''")
"""Nothing else in Python goes on in the next line and is coloured otherwise there."""


def highlight_code(source: str, language: str = "python") -> Markup:
    """*source* with Pygments classes (`nowrap`: no `<pre>` around it).

    Raises:
        ClassNotFound: The language is not known.
    """
    if language == "text":
        return Markup(escape(source))
    if language == "python" and not _LONG_STRING.search(source):
        return Markup("").join(map(_highlight_line, source.removesuffix("\n").split("\n")))
    return Markup(highlight(source, get_lexer_by_name(language, stripnl=False), _formatter))


@lru_cache(maxsize=4096)
def _highlight_line(line: str) -> Markup:
    """Of a text that is checked again, one line is new; to colour all of an exam takes as long as to compare it."""
    return Markup(highlight(line, _PYTHON, _formatter))


def code_span(text: str) -> Markup:
    """Format *text* as inline code.

    A browser would break the line inside `/=`, so short text is never broken, long text only between its words, and no
    sign leaves its operand.
    """
    if len(text) <= SHORT and BREAKS.search(text):
        return Markup('<code class="together">{}</code>').format(text)
    return Markup("<code>{}</code>").format(Markup("").join(map(_word, SPACES.split(text))))


def _word(text: str) -> Markup:
    return Markup("").join(map(_piece, [text] if len(text) <= SHORT else BRACKETS.split(text)))


def _piece(text: str) -> Markup:
    parted = len(text) <= SHORT and BREAKS.search(text.strip())
    return Markup('<span class="together">{}</span>').format(text) if parted else escape(text)


@lru_cache(maxsize=1024)
def render_sentence(text: str) -> Markup:
    """Plain text with `code`, $formulas$ and *stressed* words, escaped: for messages that are no markdown."""
    return _render_spans(text, CODE_SPAN, code_span, _formulas)


def written_out(text: str, macros: Mapping[str, str]) -> str:
    """*text* of `render_sentence` with the *macros* of its course put into its formulas."""

    def plain(part: str) -> str:
        return FORMULA.sub(lambda formula: f"${expand_macros(formula[1], macros)}$", part)

    parts = re.split(r"(`[^`]+`)", text) if macros else [text]
    return "".join(part if index % 2 else plain(part) for index, part in enumerate(parts))


def _formulas(text: str) -> Markup:
    parts = (_formula(part) if index % 2 else _render_emphasis(part) for index, part in enumerate(FORMULA.split(text)))
    return kept_together(Markup("").join(parts))


def _formula(tex: str) -> Markup:
    try:
        return render_mathml(tex)
    except FormulaError:
        return code_span(tex)


def _render_emphasis(text: str) -> Markup:
    return _render_spans(text.replace("\\$", "$"), STRESSED, Markup("<em>{}</em>").format)


def _render_spans(
    text: str, span: re.Pattern[str], inside: Callable[[str], Markup], rest: Callable[[str], Markup] = escape
) -> Markup:
    parts = span.split(text)
    return Markup("").join(inside(part) if index % 2 else rest(part) for index, part in enumerate(parts))
