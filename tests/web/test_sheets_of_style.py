"""One class is styled in one sheet, once: of two that mean different things by one name, each spoils the other."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.web.views.occasion_view import TriedItem

CSS = Path(__file__).resolve().parents[2] / "static" / "css"
OF_EVERY_PART = ("fades.css", "print.css", "touch.css")
SHEETS = {file.name: file.read_text("utf-8") for file in sorted(CSS.glob("*.css")) if file.name not in OF_EVERY_PART}
"""All but what scrolls, what paper leaves out, and what a finger needs."""
Rule = tuple[str, bool]


def rules(css: str) -> Iterator[Rule]:
    """Every selector, and whether it is alone and always; what is nested in a rule is the business of that rule."""
    css = re.sub(r'/\*.*?\*/|url\("[^"]*"\)', "", css, flags=re.DOTALL)
    around: list[str] = []
    for before, end in re.findall(r"([^{};]*)([{};])", css):
        if end == "{":
            if all(one.startswith("@") for one in around) and not before.strip().startswith("@"):
                selectors = _split(before, ",")
                yield from ((one, len(selectors) == 1 and not around) for one in selectors)
            around.append(before.strip())
        elif end == "}":
            around.pop()


def _split(selector: str, signs: str) -> list[str]:
    """*selector* at each of *signs* that stands in no brackets."""
    depth, parts = 0, [""]
    for letter in selector.strip():
        depth += (letter in "([") - (letter in "])")
        if letter in signs and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def leading(selector: str) -> list[str]:
    """The classes that *selector* begins with: several within `:is()`."""
    first = re.sub(r":(?:not|has)\(.*", "", _split(selector, " >+~")[0])
    return re.findall(r"\.([a-z][\w-]*)", first)


def is_bare(selector: str) -> bool:
    return len(_split(selector, " >+~")) == 1 and bool(leading(selector))


def homes(sheets: dict[str, str]) -> dict[str, set[str]]:
    """The sheets of each class: where it stands alone, or, if it never does, where selectors begin with it."""
    alone, first = defaultdict(set), defaultdict(set)
    for sheet, css in sheets.items():
        for selector, _ in rules(css):
            for name in leading(selector):
                (alone if is_bare(selector) else first)[name].add(sheet)
    return dict(first) | dict(alone)


def strays(sheets: dict[str, str]) -> list[str]:
    """Selectors that stand in the sheet of none of their classes, and classes that stand alone in two."""
    at = homes(sheets)
    alone = {name for css in sheets.values() for one, _ in rules(css) if is_bare(one) for name in leading(one)}
    found = [f"{name}: {', '.join(sorted(at[name]))}" for name in sorted(alone) if len(at[name]) > 1]
    for sheet, css in sheets.items():
        for selector, _ in rules(css):
            known = [at[name] for name in re.findall(r"\.([a-z][\w-]*)", selector) if name in at]
            if known and not selector.startswith("[") and not any(sheet in one for one in known):
                found.append(f"{sheet}: {selector}")
    return found


def test_each_class_is_styled_in_one_sheet() -> None:
    assert strays(SHEETS) == []


def test_no_sheet_says_twice_what_one_selector_is() -> None:
    twice = {
        sheet: [one for one, count in Counter(one for one, alone in rules(css) if alone).items() if count > 1]
        for sheet, css in SHEETS.items()
    }

    assert {sheet: those for sheet, those in twice.items() if those} == {}


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (".way { top: 0 }", ".way { left: 0 }", ["way: a.css, b.css"]),
        (".way { top: 0 }", ".way > p { left: 0 }", ["b.css: .way > p"]),
        (".way { top: 0 }", "@media print { .way > p { left: 0 } }", ["b.css: .way > p"]),
        (".way { top: 0 } .map { top: 0 }", ".list { top: 0 } .list .way { left: 0 }", []),
        (".way { top: 0; &:hover { left: 0 } }", "[data-wide] .way { left: 0 }", []),
    ],
)
def test_a_class_with_two_homes_is_found(one: str, other: str, said: list[str]) -> None:
    assert strays({"a.css": one, "b.css": other}) == said


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [None, False, True])
def test_every_mark_of_a_try_has_a_shape(right: bool | None, left: bool) -> None:
    mark = TriedItem("Softmax", right, "/practice/1", None, left=left).mark

    assert f'.mark[data-mark="{mark}"]' in SHEETS["quiz.css"]
