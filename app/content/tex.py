"""Formulas before KaTeX sees them: what is wrong with them as text, and the macros of a course put in."""

import re
from collections.abc import Iterator, Mapping

BARRED = re.compile(r"\\(?:href|url|includegraphics|html[A-Za-z]*|tag|label|(?:eq)?ref|newcommand|g?def)(?![A-Za-z])")
LONG = re.compile(r"(?<![\d.])\d{3,9}(?:\.\d{0,9})? ?(?:em|ex|cm|mm|in|pt|px|mu)(?![A-Za-z])")
COMMAND = re.compile(r"\\([A-Za-z]+|.)", re.DOTALL)
MACRO = re.compile(r"[A-Za-z]+")
DEEPEST = 8
LONGEST = 20_000


def problems(tex: str) -> Iterator[tuple[str, str, str]]:
    """What is wrong with a formula: where it begins, what was seen, what to write instead."""
    first = next((part for part in tex.split("\n") if part.strip()), "").strip()
    if problem := unbalanced(tex):
        yield first, f"The formula has {problem}.", ""
    if any(not line.strip() for line in tex.strip().split("\n")[1:]):
        yield "", "This formula holds an empty line.", "Close it with '$$' above, or leave the line out."
    if barred := BARRED.search(tex):
        fix = "Macros stand in 'course.md', a number is given by '$$ (name)', links and pictures stand outside."
        yield barred[0], f"A formula cannot hold '{barred[0]}'.", fix
    if long := LONG.search(tex):
        yield long[0], f"'{long[0]}' is wider than any page.", "Keep lengths below 100em."


def unbalanced(tex: str) -> str:
    """What is wrong with the braces or environments of *tex*; empty when nothing is."""
    depth = 0
    for match in re.finditer(r"\\.|[{}]", tex, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth < 0:
            return "a '}' without its '{'"
    if depth:
        return "a '{' that is never closed"
    begins, ends = (sorted(re.findall(rf"\\{word}\{{(\w+\*?)\}}", tex)) for word in ("begin", "end"))
    return "" if begins == ends else "a '\\begin' without its '\\end'"


def expanded(tex: str, macros: Mapping[str, str]) -> str:
    """*tex* with *macros* put in, which may hold others and take arguments `#1` to `#9`; bounded whatever they say."""
    for _ in range(DEEPEST if macros else 0):
        before, tex = tex, _once(tex, macros)
        if tex == before or len(tex) > LONGEST:
            break
    return tex[:LONGEST]


def _once(tex: str, macros: Mapping[str, str]) -> str:
    parts, at = [], 0
    while match := COMMAND.search(tex, at):
        parts.append(tex[at : match.start()])
        body, at = macros.get(match[1]), match.end()
        if body is None:
            parts.append(match[0])
            continue
        for number in range(1, max(map(int, re.findall(r"#([1-9])", body)), default=0) + 1):
            argument, at = _argument(tex, at)
            body = body.replace(f"#{number}", argument)
        joins = body[-1:].isalpha() and tex[at : at + 1].isalpha()  # \mathrm d and x are not \mathrm dx
        parts.append(f"{body} " if joins else body)
    return "".join([*parts, tex[at:]])


def _argument(tex: str, at: int) -> tuple[str, int]:
    """What stands at *at* in braces, or the next sign; and where it ends."""
    while tex[at : at + 1].isspace():
        at += 1
    if tex[at : at + 1] != "{":
        match = COMMAND.match(tex, at)
        return (match[0], match.end()) if match else (tex[at : at + 1], at + 1)
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(tex, at):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return tex[at + 1 : match.start()], match.end()
    return tex[at + 1 :], len(tex)
