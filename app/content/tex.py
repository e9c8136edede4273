"""What can be said about a formula without typesetting it."""

import re


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
