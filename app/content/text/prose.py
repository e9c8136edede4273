"""Markdown to HTML: raw HTML never passes, TeX and code are escaped, and what is faulty is told.

What a page needs is in the markup: formulas are MathML, code carries Pygments classes, headings have anchors, tables
scroll inside a labelled region that the keyboard reaches.
"""

import re
from collections.abc import Mapping, Sequence
from posixpath import basename, dirname, normpath
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from app.content.blocks import Link
from app.content.blocks.places import SourceFile
from app.content.text.addresses import page_url
from app.content.text.course_page import NO_PAGE, CoursePage
from app.content.text.errors import ErrorCollector, did_you_mean
from app.content.text.fences import OPENS, lesson_markdown
from app.content.text.leftover_markup import check_table, check_text, notice_lost
from app.content.text.markup_rules import MARKUP_RULES, plain_text
from app.content.text.mathml import kept_together
from app.content.text.options import NAME_PATTERN
from app.content.text.tex import set_formula

LANGUAGES = (
    "python",
    "pycon",
    "pytb",
    "text",
    "bash",
    "console",
    "json",
    "yaml",
    "toml",
    "markdown",
    "latex",
    "c",
    "cpp",
)
PICTURE_KINDS = ("png", "jpg", "jpeg", "gif", "webp", "svg")
PIXELS = re.compile(r"[1-9][0-9]{1,3}")
PICTURE = re.compile(rf"(?:[a-z0-9][a-z0-9_-]*/)*[a-z0-9][a-z0-9_-]*\.(?:{'|'.join(PICTURE_KINDS)})")
NOTE = re.compile(r" {0,3}(\[\^[^\]\s]+\]):")
FOOTNOTE = re.compile(r"\[\^([^\]\s]+)\]")
SENTENCE = frozenset({"text", "code_inline", "math_inline", "em_open", "em_close", "softbreak"})
"""What `render_sentence` knows of markdown."""
LONGEST_MESSAGE = 600


class ProseRenderer:
    """Renders the markdown of one lesson file and remembers what can be linked to."""

    def __init__(self, file: SourceFile, faults: ErrorCollector, course: CoursePage = NO_PAGE) -> None:
        self.course = course
        self.lang = ""  # of the directive that is read, where it names one
        self.file = file
        self.faults = faults
        self.anchors: list[str] = []
        self.links: list[Link] = []
        self.jumps: list[Link] = []
        self.pictures: list[Link] = []
        self.equations: dict[str, int] = {}
        self.env: dict[str, Any] = {}
        self._notes: set[str] = set()
        self._numbered: set[int] = set()
        self._level = 1  # of the heading above; the title is the first
        self.md: MarkdownIt = lesson_markdown()
        notice_lost(self.md)
        for name, rule in MARKUP_RULES.items():
            self.md.add_render_rule(name, rule)

    def tokens(self, text: str, line: int) -> list[Token]:
        """Parse one body; link definitions are shared by the whole file."""
        env: dict[str, Any] = {"references": dict(self.env.get("references", {}))}
        tokens = self.md.parse(text, env)
        self._notes |= _unused_notes(env)
        self._check_twice(text, tokens, line)
        return tokens

    def page(self, text: str, line: int) -> list[Token]:
        """Parse the body of the page itself, whose link definitions and footnotes hold everywhere."""
        tokens = self.md.parse(text, self.env)
        self._notes |= _unused_notes(self.env)
        self._check_twice(text, tokens, line)
        for token in tokens:
            if (
                token.type == "math_block_label"
                and NAME_PATTERN.fullmatch(token.info)
                and token.info not in self.equations
            ):
                self.equations[token.info] = len(self.equations) + 1
                self.anchors.append(token.info)
        return tokens

    def _check_twice(self, text: str, tokens: Sequence[Token], line: int) -> None:
        """Add a fault for every footnote that is defined a second time: only one of them would be shown."""
        fenced = {
            index for token in tokens if token.map and token.type.endswith("fence") for index in range(*token.map)
        }
        seen: dict[str, int] = {}
        for index, written in enumerate(text.split("\n")):
            match = NOTE.match(written) if index not in fenced else None
            if match and match[1] in seen:
                message = f"The footnote {match[1]} stands on line {seen[match[1]]} already."
                self.faults.add(self.file.place(line + index), "twice", message, "Give it another name.")
            elif match:
                seen[match[1]] = line + index

    def render(self, tokens: Sequence[Token], line: int, *, inside: bool = True) -> Markup:
        """The HTML of *tokens*, whose maps count from *line* of the file."""
        self._inspect(tokens, line)
        env = {"docId": str(line)} if inside else self.env  # so that notes of two directives keep apart
        return self._with_language(Markup(self.md.renderer.render(tokens, self.md.options, env).strip()), "div")

    def inline(self, text: str, line: int) -> Markup:
        """One line of markdown without a paragraph around it."""
        tokens = self.md.parseInline(text, {})
        self._inspect(tokens, line)
        return self._with_language(Markup(self.md.renderer.render(tokens, self.md.options, {}).strip()), "span")

    def _with_language(self, html: Markup, tag: str) -> Markup:
        html = kept_together(html)
        return Markup('<{} lang="{}">{}</{}>').format(tag, self.lang, html, tag) if self.lang and html else html

    def check_message(self, text: str, line: int) -> None:
        """Add faults for what `render_sentence` would not show as it is meant."""
        place = self.file.place(line, text[:20])
        tokens = self.md.parseInline(text, {})
        self._inspect(tokens, line)
        if any(child.type not in SENTENCE for token in tokens for child in token.children or []):
            fix = "Write plain text with `code`, $formulas$ and *stress*."
            self.faults.add(place, "message", "A message is no markdown: this would be shown as it is written.", fix)
        if len(text) > LONGEST_MESSAGE:
            message = f"This message has {len(text)} characters, and a learner reads it beside a line of code."
            self.faults.add(place, "too-long", message, f"Keep it below {LONGEST_MESSAGE}.")

    def claim(self, anchor: str) -> str:
        """Reserve *anchor* on the page; a heading that repeats one gets a number."""
        free, number = anchor, 1
        while free in self.anchors:
            number += 1
            free = f"{anchor}-{number}"
        self.anchors.append(free)
        return free

    def check_jumps(self) -> None:
        """Add a fault for every `#name` link of this page that leads nowhere."""
        for jump in self.jumps:
            if jump.anchor not in self.anchors:
                fix = did_you_mean(jump.anchor, self.anchors)
                self.faults.add(
                    jump.place, "broken-link", f"There is nothing called '#{jump.anchor}' on this page.", fix
                )

    def check_footnotes(self) -> None:
        """Add a fault for every footnote that nothing refers to: it would not be shown."""
        for note in sorted(self._notes):
            sign = f"[^{note}]"
            line = next(
                (number for number, text in enumerate(self.file.lines, 1) if text.lstrip().startswith(f"{sign}:")), 1
            )
            fix = f"Write '{sign}' where it belongs, or remove it."
            self.faults.add(self.file.place(line, sign), "unused-footnote", f"Nothing refers to {sign}.", fix)

    def _inspect(self, tokens: Sequence[Token], line: int) -> None:
        current = line
        check_table(tokens, line, self.file, self.faults)
        for index, token in enumerate(tokens):
            if token.map:
                current = line + token.map[0]
            if token.type == "heading_open":
                self._heading(token, tokens[index + 1], current)
            elif token.type == "fence":
                self._check_closed(token, current)
                self._language(token, current)
            elif token.type in ("math_block", "math_block_label", "math_inline", "math_inline_double"):
                self._math(token, current)
            elif token.type == "inline":
                check_text(token, current, self.file, self.faults)
                token.children = token.children or []
                self._inline(token.children, current)

    def _inline(self, children: list[Token], line: int) -> None:
        for index, child in reversed(tuple(enumerate(children))):
            if child.type == "link_open" and children[index + 1].type == "link_close":
                self._empty_link(children, index, line)
        for child in children:
            if child.type in ("softbreak", "hardbreak"):
                line += 1
            elif child.type == "link_open":
                self._link(child, line)
            elif child.type == "image":
                self._picture(child, line)
            elif child.type in ("math_inline", "math_inline_double"):
                self._math(child, line)
            elif child.type == "text" and (match := FOOTNOTE.search(child.content)):
                self.faults.add(
                    self.file.place(line, match[0]),
                    "unknown-footnote",
                    f"The footnote {match[0]} is not defined here.",
                    f"Write '{match[0]}: …' on a line of its own; a directive has footnotes of its own.",
                )

    def _heading(self, token: Token, inline: Token, line: int) -> None:
        if token.tag == "h1":
            self.faults.add(
                self.file.place(line), "heading", "A heading starts with '##'.", "The title stands in the front matter."
            )
        level = int(token.tag[1:])
        if level > self._level + 1:
            message = f"A heading of level {level} stands below one of level {self._level}."
            self.faults.add(self.file.place(line), "heading", message, f"Write it with '{'#' * (self._level + 1)}'.")
        self._level = level
        words = re.findall(r"[a-z0-9]+", plain_text(inline).lower())
        if not plain_text(inline).strip():
            self.faults.add(self.file.place(line), "heading", "This heading is empty.", "Write it, or remove the line.")
        token.attrSet("id", self.claim("-".join(words) or "section"))

    def _check_closed(self, token: Token, line: int) -> None:
        """Add an error for code that runs on to the end of its container, with all that was to follow it."""
        inner = next((part for part in token.content.split("\n") if OPENS.match(part)), "")
        if inner.startswith(token.markup):
            message = f"This '{token.markup}' is still open where {inner.split()[0]!r} begins."
            self.faults.add(self.file.place(line), "unclosed", message, f"Add a line '{token.markup}' above that.")
            return
        last = self.file.lines[line + token.map[1] - token.map[0] - 2] if token.map else ""
        if set(last.strip()) != {token.markup[0]} or len(last.strip()) < len(token.markup):
            fix = f"Add a line '{token.markup}' below it."
            self.faults.add(self.file.place(line), "unclosed", f"This '{token.markup}' is never closed.", fix)

    def _language(self, token: Token, line: int) -> None:
        language = token.info.strip().split()[0] if token.info.strip() else "text"
        if language not in LANGUAGES:
            message = f"The language {language!r} is not known."
            self.faults.add(self.file.place(line), "unknown-language", message, did_you_mean(language, LANGUAGES))
            language = "text"
        token.meta = {**token.meta, "language": language}

    def _math(self, token: Token, line: int) -> None:
        set_formula(token, line, self.course.macros, self.file, self.faults)
        if token.type == "math_block_label":
            self._number(token, line)

    def _number(self, token: Token, line: int) -> None:
        """A numbered formula shows its number, and has an address."""
        number = self.equations.get(token.info)
        if number is None or number in self._numbered:
            fix = "Numbers are given to formulas outside of directives, each with a name of its own."
            self.faults.add(self.file.place(line), "equation", f"'({token.info})' cannot be numbered here.", fix)
            return
        self._numbered.add(number)
        token.meta["number"] = number

    def _picture(self, token: Token, line: int) -> None:
        """An image file of the course, with its width and what it shows."""
        target, width = str(token.attrGet("src") or ""), str(token.attrGet("width") or "")
        place = self.file.place(line, f"]({target}")
        path = normpath(f"{basename(dirname(self.file.path))}/{target}")
        if not PICTURE.fullmatch(path):
            fix = f"Name a file in the folder of the course, one of {', '.join(PICTURE_KINDS)}, by letters a to z."
            self.faults.add(place, "image", f"{target!r} is no picture of this course.", fix)
        if not plain_text(token).strip():
            self.faults.add(
                place, "image", "This picture says nothing to those who do not see it.", "Write ![what it shows](…)."
            )
        if not PIXELS.fullmatch(width):
            message = f"The width {width!r} is no number of pixels." if width else "This picture has no width."
            meant = width.lower().removesuffix("px").strip()
            number = meant if PIXELS.fullmatch(meant) else "320"
            fix = f"Write '![…]({target}){{width={number}}}': a number of pixels, 10 to 9999, with no unit."
            self.faults.add(place, "image", message, fix)
        self.pictures.append(Link(place=place, target=path))
        token.attrSet("src", f"/pictures/{path}")
        token.attrSet("loading", "lazy")

    def _link(self, token: Token, line: int) -> None:
        href = str(token.attrGet("href") or "")
        target, _, anchor = href.partition("#")
        place = self.file.place(line, f"]({href}")
        if re.match(r"https?://", href):
            token.attrSet("rel", "noopener noreferrer")
        elif href.startswith("#") and len(href) > 1:
            self.jumps.append(Link(place=place, target="", anchor=anchor))
        elif href.startswith("mailto:"):
            return
        else:
            self._lesson_link(token, Link(place=place, target=target, anchor=anchor))

    def _empty_link(self, children: list[Token], index: int, line: int) -> None:
        """A link without words leads to a formula and shows its number."""
        href = str(children[index].attrGet("href") or "")
        number = self.equations.get(href.removeprefix("#"))
        if number is None:
            fix = "Write what it leads to between the square brackets; only a numbered formula needs no words."
            self.faults.add(self.file.place(line, f"]({href}"), "broken-link", "This link has no words.", fix)
        children.insert(index + 1, Token("text", "", 0, content=f"({number})"))

    def _lesson_link(self, token: Token, link: Link) -> None:
        url = page_url(self.file.path, link.target)
        if not url:
            message = f"The link {link.target!r} leads to no lesson."
            self.faults.add(link.place, "broken-link", message, "Link to a lesson file, such as '07-matmul.md'.")
            return
        self.links.append(link)
        token.attrSet("href", url + (f"#{link.anchor}" if link.anchor else ""))


def _unused_notes(env: Mapping[str, Any]) -> set[str]:
    defined: Mapping[str, int] = env.get("footnotes", {}).get("refs", {})
    return {name.removeprefix(":") for name, used in defined.items() if used < 0}
