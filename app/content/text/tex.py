"""Formulas as authors write them: what is wrong with them, where, and the macros of a course put in."""

import re
from collections.abc import Iterator, Mapping

from markdown_it.token import Token
from markupsafe import Markup

from app.content.blocks.places import SourceFile, SourceLocation
from app.content.text.errors import ErrorCollector
from app.content.text.mathml import FormulaError, render_mathml

BARRED = re.compile(
    r"\\(?:href|url|includegraphics|html[A-Za-z]*|tag|label|(?:eq)?ref|(?:re)?newcommand|providecommand|[gex]?def|let)(?![A-Za-z])"
    r"|\\begin\{(?:align|equation|gather|multline)\}"
)
SPACED = re.compile(r"\\\\ ?\[-?[\d.]{1,9} ?[a-z]{2}\]")
COMMENT = re.compile(r"(?<!\\)%")
LONG = re.compile(r"(?<![\d.])\d{3,9}(?:\.\d{0,9})? ?(?:em|ex|cm|mm|in|pt|px|mu)(?![A-Za-z])")
COMMAND = re.compile(r"\\([A-Za-z]+|.)", re.DOTALL)
MACRO = re.compile(r"[A-Za-z]+")
MAX_MACRO_DEPTH = 8
MAX_TEX_CHARS = 20_000


def problems(tex: str) -> Iterator[tuple[str, str, str]]:
    """Find problems of a formula: where each begins, what was seen, what to write instead."""
    first = next((part for part in tex.split("\n") if part.strip()), "").strip()
    if problem := balance_problem(tex):
        yield first, f"The formula has {problem}.", ""
    if any(not line.strip() for line in tex.strip().split("\n")[1:]):
        yield "", "This formula holds an empty line.", "Close it with '$$' above, or leave the line out."
    if barred := BARRED.search(tex):
        fix = "Macros stand in 'course.md', rows in 'aligned', a number is '$$ (name)', links stand outside."
        yield barred[0], f"A formula cannot hold '{barred[0]}'.", fix
    if spaced := SPACED.search(tex):
        yield spaced[0], f"Rows have one distance, and '{spaced[0]}' would be shown.", "Leave out what is in brackets."
    if comment := COMMENT.search(tex):
        yield comment[0], "A '%' hides what stands behind it in TeX.", "Write '\\%' for the sign, or leave it out."
    if long := LONG.search(tex):
        yield long[0], f"'{long[0]}' is wider than any page.", "Keep lengths below 100em."


def set_formula(token: Token, line: int, macros: Mapping[str, str], file: SourceFile, faults: ErrorCollector) -> None:
    """Put the macros into the formula of *token*, and what a page shows of it into its `meta`; add its faults."""
    display = token.type != "math_inline"
    issues = list(problems(token.content))
    tex = token.content = expand_macros(token.content, macros).strip()
    try:
        token.meta = {**token.meta, "set": render_mathml(tex, display=display)}
    except FormulaError as error:
        token.meta = {**token.meta, "set": Markup("<code>{}</code>").format(tex)}
        rest = (tex[error.at :].strip() or tex).partition("\n")[0]
        fix = "Write what LaTeX knows, or a macro of 'course.md'."
        issues = issues or [(rest, f"The formula cannot be set: {error}.", fix)]
    for snippet, message, fix in issues:
        faults.add(_place(snippet, tex, line, file), "math", message, fix)


def _place(snippet: str, tex: str, line: int, file: SourceFile) -> SourceLocation:
    """Location of *snippet* of *tex*, whose first line is *line* or the one below; else the start of the formula."""
    first = tex.partition("\n")[0]
    for sought in (snippet, first) if snippet else ():
        for number, text in enumerate(file.lines[line - 1 : line + tex.count("\n") + 1], start=line):
            if sought in text:
                return file.place(number, sought)
    return file.place(line)


def balance_problem(tex: str) -> str:
    """Say what is wrong with the braces or environments of *tex*; empty if nothing is."""
    depth = 0
    for match in re.finditer(r"\\.|[{}]", tex, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth < 0:
            return "a '}' without its '{'"
    if depth:
        return "a '{' that is never closed"
    begins, ends = (sorted(re.findall(rf"\\{word}\{{(\w+\*?)\}}", tex)) for word in ("begin", "end"))
    return "" if begins == ends else "a '\\begin' without its '\\end'"


def expand_macros(tex: str, macros: Mapping[str, str]) -> str:
    """*tex* with *macros* put in, which may hold others and take arguments `#1` to `#9`; bounded whatever they say."""
    for _ in range(MAX_MACRO_DEPTH if macros else 0):
        before, tex = tex, _once(tex, macros)
        if tex == before or len(tex) > MAX_TEX_CHARS:
            break
    return tex[:MAX_TEX_CHARS]


def _once(tex: str, macros: Mapping[str, str]) -> str:
    parts, start = [], 0
    while match := COMMAND.search(tex, start):
        parts.append(tex[start : match.start()])
        body, start = macros.get(match[1]), match.end()
        if body is None:
            parts.append(match[0])
            continue
        for number in range(1, max(map(int, re.findall(r"#([1-9])", body)), default=0) + 1):
            argument, start = _argument(tex, start)
            body = body.replace(f"#{number}", argument)
        joins = body[-1:].isalpha() and tex[start : start + 1].isalpha()  # \mathrm d and x are not \mathrm dx
        parts.append(f"{body} " if joins else body)
    return "".join([*parts, tex[start:]])


def _argument(tex: str, start: int) -> tuple[str, int]:
    """Read the argument at *start*: a group in braces or the next sign; and its end."""
    while tex[start : start + 1].isspace():
        start += 1
    if tex[start : start + 1] != "{":
        match = COMMAND.match(tex, start)
        return (match[0], match.end()) if match else (tex[start : start + 1], start + 1)
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(tex, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return tex[start + 1 : match.start()], match.end()
    return tex[start + 1 :], len(tex)
