"""Code in colours, and messages that are sentences and no markdown: what is escaped, and what is set apart."""

import re
from collections.abc import Callable
from functools import lru_cache

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer, get_lexer_by_name

FORMULA = re.compile(r"(?<![\\$\w])\$(?=[^\s$])([^$]+)(?<=[^\s\\])\$(?![$\w])")
CODE_SPAN = re.compile(r"`([^`]+)`")
STRESSED = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]+)(?<=[^\s*])\*(?![\w*])")

_formatter = HtmlFormatter[str](nowrap=True)


def highlighted(source: str, language: str = "python") -> Markup:
    """*source* with Pygments classes (`nowrap`: no `<pre>` around it).

    Raises:
        ClassNotFound: The language is not known.
    """
    if language == "text":
        return Markup(escape(source))
    lexer = PythonLexer(stripnl=False) if language == "python" else get_lexer_by_name(language, stripnl=False)
    return Markup(highlight(source, lexer, _formatter))


@lru_cache(maxsize=1024)
def sentence(text: str) -> Markup:
    """Plain text with `code`, $formulas$ and *stressed* words, escaped: for messages that are no markdown."""
    return _marked(text, CODE_SPAN, Markup("<code>{}</code>"), _formulas)


def _formulas(text: str) -> Markup:
    return _marked(text, FORMULA, Markup('<span class="math" data-display="false">{}</span>'), _stressed)


def _stressed(text: str) -> Markup:
    return _marked(text.replace("\\$", "$"), STRESSED, Markup("<em>{}</em>"))


def _marked(text: str, span: re.Pattern[str], tag: Markup, rest: Callable[[str], Markup] = escape) -> Markup:
    parts = span.split(text)
    return Markup("").join(tag.format(part) if index % 2 else rest(part) for index, part in enumerate(parts))
