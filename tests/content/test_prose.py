"""Prose to HTML: nothing raw passes, and what a page needs is in the markup."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from app.content.blocks import Lesson
from app.content.text.addresses import page_url
from app.content.text.errors import ErrorCollector
from app.content.text.prose import ProseRenderer
from app.content.text.sentences import code_span, highlight_code, render_sentence
from app.content.text.tex import balance_problem, expand_macros
from app.course.parse import file_of, parse_lesson

ANCHOR = '<a class="anchor" href="#{}" aria-label="Link to this section">#</a>'
FIXTURES = Path(__file__).parent / "fixtures"
LESS = (
    "<math><semantics><mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow>"
    '<annotation encoding="application/x-tex">a&lt;b</annotation></semantics></math>'
)
MATH_IN_DISPLAY = '<math display="block"'
FRONT = "---\ntitle: t\nid: t\nestimate: 1 min\n---\n"


def markup_in(part: object) -> Iterator[Markup]:
    """All rendered text in *part*."""
    if isinstance(part, Markup):
        yield part
    elif isinstance(part, tuple):
        for one in part:
            yield from markup_in(one)
    elif is_dataclass(part):
        for one in fields(part):
            yield from markup_in(getattr(part, one.name))


def html_of(text: str) -> str:
    read, errors = parse_lesson(FRONT + text, "2-unit/01-t.md")
    assert isinstance(read, Lesson), errors
    return "".join(block.html for block in read.blocks)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("$a<b$", f"<p>{LESS}</p>"),
        ("$$\na<b\n$$", f'<div class="math">{LESS.replace("<math", MATH_IN_DISPLAY)}</div>'),
        ("x $$a<b$$ y", f'<p>x <span class="math">{LESS.replace("<math", MATH_IN_DISPLAY)}</span> y</p>'),
        ("costs \\$5 and \\$6", "<p>costs $5 and $6</p>"),
        (
            "## A `b` c",
            f'<h2 id="a-b-c">A <code>b</code> c {ANCHOR.format("a-b-c")}</h2>',
        ),
        ("[x](07-matmul.md)", '<p><a href="/lessons/matmul">x</a></p>'),
        ("[x](https://example.org)", '<p><a href="https://example.org" rel="noopener noreferrer">x</a></p>'),
    ],
)
def test_markdown_becomes(text, html):
    assert html_of(text) == html


def shown(text: str) -> Markup:
    """What *text* becomes, with all its faults."""
    prose = ProseRenderer(file_of(text, "2-unit/01-t.md"), ErrorCollector(""))
    return prose.render(prose.page(text, 1), 1, inside=False)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
        ("<div>\nx\n</div>", "<p>&lt;div&gt;\nx\n&lt;/div&gt;</p>"),
        ("<script>1</script>", "<p>&lt;script&gt;1&lt;/script&gt;</p>"),
        ("[x](javascript:alert)", "<p>[x](javascript:alert)</p>"),
    ],
)
def test_what_is_refused_would_do_no_harm_either(text, html):
    assert shown(text) == html


def test_footnotes_of_two_directives_keep_apart():
    text = "".join(f"::::{{note}}\nA note[^a].\n\n[^a]: Number {one}.\n::::\n\n" for one in "12")

    read, errors = parse_lesson(FRONT + text, "2-unit/01-t.md")

    assert read is not None, errors
    names = re.findall(r' id="([^"]+)"', "".join(str(markup) for markup in markup_in(read.blocks)))
    assert len(names) == len(set(names)) == 4


def test_tables_scroll_in_a_labelled_region_without_inline_styles():
    html = html_of("| a | `b` |\n|:--|---:|\n| 1 | 2 |")

    assert html.startswith('<div class="table" role="region" tabindex="0" aria-label="Table: a, b">\n<table>')
    assert '<th scope="col" data-align="right"><code>b</code></th>' in html
    assert "style=" not in html


def test_code_is_highlighted_with_classes_and_reached_by_keyboard():
    html = html_of("```python\nx = '<b>'\n```")

    assert html.startswith(
        '<pre class="code" role="region" tabindex="0" aria-label="Code"><code class="highlight language-python">'
    )
    assert '<span class="n">x</span>' in html
    assert "<b>" not in html


@given(st.lists(st.sampled_from(["", "x = 1", "    y += 'a'  # b", "f(", ")", "@d", "def g(a, b=2):", "z = '<' \\"])))
@example(['s = """', "def g():", '"""'])
def test_code_has_the_colours_of_each_line_as_of_the_whole(lines: list[str]):
    source = "\n".join(lines) + "\n"

    assert highlight_code(source) == highlight(source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))


def test_repeated_headings_stay_apart():
    html = html_of("## Same\n\n## Same")

    assert re.findall(r'id="([^"]+)"', html) == ["same", "same-2"]


def test_a_heading_gives_way_to_an_exercise():
    text = "## Two paths\n\n:::{choice} two-paths\nWhich?\n\n- [x] a\n- [ ] b\n:::\n"

    read, _ = parse_lesson(FRONT + text, "01-t.md")

    assert read is not None
    assert read.anchors == ("two-paths", "two-paths-2")


@pytest.mark.parametrize(
    ("source", "target", "url"),
    [
        ("lessons/2-tensors/07-matmul.md", "../3-model/01-machine.md", "/lessons/machine"),
        ("lessons/2-tensors/07-matmul.md", "unit.md", "/units/tensors"),
        ("lessons/2-tensors/07-matmul.md", "../3-model/unit.md", "/units/model"),
        ("2-tensors/unit.md", "07-matmul.md", "/lessons/matmul"),
        ("07-matmul.md", "", ""),
        ("07-matmul.md", "picture.png", ""),
    ],
)
def test_files_have_addresses(source, target, url):
    assert page_url(source, target) == url


@pytest.mark.parametrize(
    ("tex", "problem"),
    [
        (r"\frac{1}{2}", ""),
        (r"\{ a", ""),
        ("{a", "a '{' that"),
        ("a}", "a '}' without"),
        (r"\begin{aligned} a", "a '\\begin'"),
    ],
)
def test_formulas_are_balanced(tex, problem):
    assert balance_problem(tex).startswith(problem)
    assert bool(balance_problem(tex)) == bool(problem)


def test_sentences_escape_everything_but_code():
    assert render_sentence("`a<b` is <i>") == Markup("<code>a&lt;b</code> is &lt;i&gt;")


@pytest.mark.parametrize(
    ("code", "whole"),
    [("y /= 3 * x", True), ("(N, D)", True), ("a-b", True), ("dW", False), ("y = x * w + b; z = y /= 2", False)],
)
def test_short_code_is_parted_at_no_end_of_a_line(code, whole):
    for html in (render_sentence(f"See `{code}`."), html_of(f"See `{code}`.")):
        assert ('<code class="together">' in html) is whole


def test_long_code_is_parted_between_its_words_alone():
    html = render_sentence("See `dlogits /= n; dW = (X.T/2) @ dY`.")

    assert html == Markup(
        'See <code>dlogits <span class="together">/=</span> n; dW = <span class="together">(X.T/2)</span> @ dY</code>.'
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("The *other* side: `y * x * 2`.", 'The <em>other</em> side: <code class="together">y * x * 2</code>.'),
        ("*Not* <b>, but *twice that*", "<em>Not</em> &lt;b&gt;, but <em>twice that</em>"),
        ("a*b*c, 2 * 3 * 4, x ** 2 and y ** 2", "a*b*c, 2 * 3 * 4, x ** 2 and y ** 2"),
        (
            "Of $a<b$, `$x$` and \\$5",
            f'Of <span class="together">{LESS},</span> <code>$x$</code> and $5',
        ),
        ("It costs $5 and $6, or a$b$c", "It costs $5 and $6, or a$b$c"),
        (r"Not $\unheardof$", r"Not <code>\unheardof</code>"),
    ],
)
def test_stressed_words_of_a_sentence_are_told_from_products(text, html):
    assert render_sentence(text) == Markup(html)


class Tags(HTMLParser):
    """Collects every tag and attribute name of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.seen |= {name for name, _ in attrs}
        assert not any(
            (value or "").strip().lower().startswith(("javascript:", "data:", "vbscript:")) for _, value in attrs
        )


TAGS = (
    "p|em|strong|code|pre|span|div|a|h2|h3|h4|h5|h6|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|hr|br|s|section|sup"
)
TAGS += "|img|math|semantics|annotation|mrow|mi|mn|mo|mtext|mspace|mfrac|msub|msup|msubsup|mtable|mtr|mtd|msqrt"
NAMES = "class|id|href|rel|title|role|tabindex|aria-label|data-align|scope|start|src|alt|width|loading|display|encoding"
NAMES += "|stretchy|lspace|rspace|form|data-as|displaystyle|scriptlevel"
ALLOWED = frozenset(f"{TAGS}|{NAMES}".split("|"))


@given(
    st.lists(
        st.sampled_from([*(FIXTURES / "pieces.txt").read_text().split("\n"), "\n", "\n\n"]),
        max_size=30,
    ).map(" ".join)
)
@example("A title\n=")
def test_no_tag_or_attribute_passes_that_is_not_ours(text):
    tags = Tags()

    tags.feed(shown(text))

    # A heading of the first level is a fault: no lesson that has one is shown.
    assert tags.seen - {"h1"} <= ALLOWED


@pytest.mark.parametrize(
    ("tex", "becomes"),
    [
        (r"\R^n", r"\mathbb{R}^n"),
        (r"\Rest \\R", r"\Rest \\R"),
        (r"\d L x", r"\mathrm{d} L x"),
        (r"\pd{L}{x_{1}} + \pd y x", r"\frac{\partial L}{\partial x_{1}} + \frac{\partial y}{\partial x}"),
        (r"\pd{L", r"\frac{\partial L}{\partial }"),
        (r"\once", r"\mathbb{R}^2"),
    ],
)
def test_macros_of_a_course_are_put_in(tex, becomes):
    macros = {"R": r"\mathbb{R}", "d": r"\mathrm{d}", "pd": r"\frac{\partial #1}{\partial #2}", "once": r"\R^2"}

    assert expand_macros(tex, macros) == becomes


@given(st.text("\\ab#12{} ", max_size=40), st.text("\\ab#12{} ", max_size=20))
def test_macros_that_hold_themselves_end(tex, body):
    assert len(expand_macros(tex, {"a": body, "b": r"\a\a\b#1"})) <= 20_000


NUMBERED = """As [](#chain) and [the chain](#chain) say:

$$
a
$$ (first)

$$
b
$$ (chain)

:::{note}
See [](#first).
:::
"""


def test_numbered_formulas_are_referred_to_by_their_numbers():
    read, errors = parse_lesson(FRONT + NUMBERED, "2-unit/01-t.md")

    assert read is not None, errors
    html = "".join(str(one) for one in markup_in(read.blocks))
    assert '<a href="#chain">(2)</a> and <a href="#chain">the chain</a>' in html
    assert '<div class="math" id="chain"><math display="block">' in html
    assert '<span class="number">(2)</span></div>' in html
    assert '<a href="#first">(1)</a>' in html


def test_a_picture_has_its_width_and_what_it_shows():
    text = "![A *cat*, seen from above](../pictures/cat.png){width=320}"

    read, errors = parse_lesson(FRONT + text, "2-unit/01-t.md")

    assert read is not None, errors
    assert [one.target for one in read.pictures] == ["pictures/cat.png"]
    assert '<img src="/pictures/pictures/cat.png" alt="A cat, seen from above" width="320" loading="lazy"' in html_of(
        text
    )


def test_a_directive_in_another_language_says_so_around_all_that_it_shows():
    text = "---\ntitle: A\nid: a\nestimate: 5 min\n---\n\n:::{choice} one\n:lang: fr\n:right: Voilà.\n\nLequel ?\n\n"
    text += "- [x] un\n- [ ] deux\n  > Non.\n:::\n\n:::{note}\nPlain.\n:::\n"

    lesson, errors = parse_lesson(text, "01-a.md")

    assert lesson is not None, errors
    choice, note = lesson.blocks
    assert choice.prompt == '<div lang="fr"><p>Lequel ?</p></div>'
    assert choice.right == '<span lang="fr">Voilà.</span>'
    assert choice.options[1].feedback == '<div lang="fr"><p>Non.</p></div>'
    assert "lang" not in note.html


def test_rows_of_a_sheet_and_what_is_revealed_have_languages_of_their_own():
    text = (
        "---\ntitle: A\nid: a\nestimate: 5 min\n---\n\n"
        "::::{sheet} two\n:lang: fr\n\nLesquels ?\n\n:::{number} un\n:answer: 1\n\nUn ?\n:::\n\n"
        ":::{number} eins\n:lang: de\n:answer: 1\n\nEins?\n:::\n::::\n\n"
        "::::{reveal} later\n:lang: fr\n\nVoilà.\n\n:::{note}\n:lang: de\nDa.\n:::\n::::\n"
    )

    lesson, errors = parse_lesson(text, "01-a.md")

    assert lesson is not None, errors
    sheet, reveal = lesson.blocks
    said = [one.prompt for one in sheet.rows] + [one.html for one in reveal.blocks]
    assert said == [
        f'<div lang="{lang}"><p>{text}</p></div>'
        for lang, text in (("fr", "Un ?"), ("de", "Eins?"), ("fr", "Voilà."), ("de", "Da."))
    ]


def test_a_minus_stays_with_its_name_where_long_code_breaks() -> None:
    shown = code_span("loss = -logprobs[torch.arange(n), Yb].mean()")

    assert shown == ('<code>loss = <span class="together">-logprobs[</span>torch.arange(n), Yb].mean()</code>')
