"""HTML for each kind of markdown token: everything is escaped, and no tag has a style."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape
from pygments.util import ClassNotFound

from app.content.text.sentences import code_span, highlight_code

CODE_BLOCK = Markup('<pre class="code" role="region" tabindex="0" aria-label="Code"><code class="{}">{}</code></pre>\n')


def plain_text(inline: Token) -> str:
    return " ".join(
        child.content for child in inline.children or [] if child.type in ("text", "code_inline", "math_inline")
    )


Rule = Callable[[RendererHTML, Sequence[Token], int, Any, Any], str]


def _math_rule(box: str) -> Rule:
    def render(_: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
        return Markup(box).format(tokens[index].meta["set"])

    return render


def _ordered_list(_: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    token = tokens[index]
    html = Markup('<div class="math" id="{}">{}<span class="number">({})</span></div>\n')
    return html.format(token.info, token.meta["set"], token.meta.get("number", "?"))


def _code_rule(_: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    token = tokens[index]
    language = token.meta.get("language", "text")
    try:
        code = highlight_code(token.content, language)
    except ClassNotFound:
        code = Markup(escape(token.content))
    return CODE_BLOCK.format(f"highlight language-{language}", code)


def _code_span(_: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    return code_span(tokens[index].content)


def _indented_rule(_: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    return CODE_BLOCK.format("highlight", tokens[index].content)


def _table_open(_: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    label = ", ".join(_header_cells(tokens, index))
    return Markup('<div class="table" role="region" tabindex="0" aria-label="Table: {}">\n<table>\n').format(label)


def _header_cells(tokens: Sequence[Token], index: int) -> list[str]:
    cells: list[str] = []
    for token in tokens[index:]:
        if token.type == "thead_close":
            break
        if token.type == "inline":
            cells.append(plain_text(token).strip())
    return [cell for cell in cells if cell]


def _table_close(_: RendererHTML, _tokens: Sequence[Token], _index: int, _options: Any, _env: Any) -> str:
    return "</table>\n</div>\n"


def _th_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """Column headers say so; alignment is a class, since the page's policy allows no inline style."""
    return _cell_open(renderer, tokens, index, options, env).replace("<th", '<th scope="col"', 1)


def _cell_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    style = str(token.attrs.pop("style", ""))
    if style.startswith("text-align:"):
        token.attrSet("data-align", style.partition(":")[2])
    return renderer.renderToken(tokens, index, options, env)


def _heading_close(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    opening = next(token for token in reversed(tokens[:index]) if token.type == "heading_open")
    anchor = Markup(' <a class="anchor" href="#{}" aria-label="Link to this section">#</a>').format(
        opening.attrGet("id") or ""
    )
    return anchor + Markup(renderer.renderToken(tokens, index, options, env))


MARKUP_RULES: Mapping[str, Rule] = {
    "math_inline": _math_rule("{}"),
    "math_inline_double": _math_rule('<span class="math">{}</span>'),
    "math_block": _math_rule('<div class="math">{}</div>\n'),
    "math_block_label": _ordered_list,
    "fence": _code_rule,
    "code_block": _indented_rule,
    "code_inline": _code_span,
    "table_open": _table_open,
    "table_close": _table_close,
    "th_open": _th_open,
    "td_open": _cell_open,
    "heading_close": _heading_close,
}
