"""One slip in a sound lesson is one finding or few, and the first stands where the slip does."""

from pathlib import Path

import pytest

from app.check.findings import Finding, in_order, of_errors
from app.course.lint_lessons import prove_care
from app.course.parse import parse_lesson

SOUND = (Path(__file__).parent / "fixtures" / "slips" / "sound.md").read_text(encoding="utf-8")
PROGRAM, ALL, MESSAGE = "Y = X @ W + b", "dX = ____\ndW = ____\ndb = ____", "Do not average."
MASKED = "Y = (X * drop_mask) @ W + b"
DIMS, SAID = "{N: 8, D: 5, H: 3}", "One line.\n:::"

SLIPS = [
    # Fences and options.
    ("unclosed", ":::{shape} dw-shape", "That is the output.\n:::", "That is the output."),
    ("unclosed", "```{forward} linear", f"{PROGRAM}\n```", PROGRAM),
    ("unclosed", ":::{grad} box", "::::{grad} box", ":::{grad} box"),
    ("not-a-directive", "::{choice} pick", ":::{choice} pick", "::{choice} pick"),
    ("invisible", ":answer:\u00a01/3", ":answer: 1/3", ":answer:\u00a01/3"),
    ("not-an-option", ":answer:1/3", ":answer: 1/3", ":answer:1/3"),
    ("indented", "    Y = X @ W + b", PROGRAM, f"    {PROGRAM}"),
    ("not-yaml", "randn", "X: [N, D]", "X: [N, D] randn"),
    ("wrong-type", "[8, 5, 3]", DIMS, "[8, 5, 3]"),
    ("wrong-value", ":rtol: -1", ":answer: 1/3", ":answer: 1/3\n:rtol: -1"),
    ("wrong-value", ":atol: -1", ":answer: 1/3", ":answer: 1/3\n:atol: -1"),
    ("wrong-value", ":rtol: 2", ":answer: 1/3", ":answer: 1/3\n:rtol: 2"),
    # Programs.
    ("not-straight-line", "import torch", PROGRAM, f"import torch\n{PROGRAM}"),
    ("no-tensor", "inplace", PROGRAM, "Z = X @ W + b\nY = F.relu(Z, inplace=True)"),
    ("no-tensor", "manual_seed", PROGRAM, f"g = torch.manual_seed(0)\n{PROGRAM}"),
    ("no-tensor", "print(X)", PROGRAM, "Y = print(X) or X @ W + b"),
    ("equal-dims", "```{forward} linear", DIMS, "{N: 5, D: 5, H: 3}"),
    ("unused", "```{forward} linear", DIMS, "{N: 8, D: 5, H: 3, K: 4}"),
    ("unused", "```{forward} linear", PROGRAM, f"Q = X * 2\n{PROGRAM}"),
    (
        "no-mask",
        "```{forward} linear",
        f"b: [H]}}\n:output: Y\n{PROGRAM}",
        f"b: [H], drop_mask: [N, D]}}\n:output: Y\n{MASKED}",
    ),
    # Questions.
    ("feedback", "- (8, 3): That", "- `(8, 3)`: That", "- (8, 3): That"),
    ("feedback", "> Because.", "  > Because.", "> Because."),
    ("feedback", "- `0.25`", "- `0.25`: That is a quarter.", "- `0.25`"),
    ("no-feedback", "- [ ] wrong", "  > Because.\n", ""),
    ("all-right", ":::{choice} pick", "- [ ] wrong\n  > Because.", "- [x] wrong"),
    # Boxes.
    ("unknown-gradient", ":given: dZ", ":require: dX", ":given: dZ\n:require: dX"),
    ("starter-lacks", "```{starter}", ALL, "dX = ____\ndW = ____"),
    ("no-blank", "```{starter}", ALL, ALL.replace("____", "...", 1)),
    ("syntax", "dX = ____)", ALL, ALL.replace("____", "____)", 1)),
    ("given-away", ":::{hint}", "Which axis was copied?", "`dX = dY @ W.T`, `dW = X.T @ dY`, `db = dY.sum(0)`"),
    ("message", "**not**", MESSAGE, "Do **not** average."),
    ("message", "[This]", "They are equal.", "[This](#box) is equal."),
    ("message", "**twice**", "twice as", "**twice** as"),
    ("math", "$n", MESSAGE, "Do not divide by $n."),
    ("too-long", MESSAGE, MESSAGE, MESSAGE * 400),
    ("unexpected", "{mistake}: Do", "{mistake} Do", "{mistake}: Do"),
    # Prose.
    ("math", "$Y = XW and", "$Y = XW$", "$Y = XW"),
    ("math", "$$ and", "$Y = XW$", "$$"),
    ("math", r"\(Y", "$Y = XW$", r"\(Y = XW\)"),
    ("math", r"\alpha", "Prose", r"The \alpha of prose"),
    ("math", "{{n}}", "How much?", "How much is {{n}}?"),
    ("broken-link", "[ref]", "Prose", "[Some][ref] prose"),
    ("broken-link", "javascript:", "Prose", "[Some](javascript:alert(1)) prose"),
    ("broken-link", "[02-b.md]", "Prose", "(Some)[02-b.md] prose"),
    ("table", "| a | b |", "Prose", "| a | b |\n|---|\n| 1 | 2 |\n\nProse"),
    ("html", "<iframe", "Prose", '<iframe src="x"></iframe> prose'),
    ("math", r"\href", "$Y = XW$", r"$\href{x}{Y}$"),
    ("math", r"\includegraphics", "$Y = XW$", r"$\includegraphics{x}$"),
    ("math", "100000em", "$Y = XW$", r"$\rule{100000em}{1em}$"),
    ("invisible", "Pro\0se", "Prose", "Pro\0se"),
    ("invisible", "Pro\u202ese", "Prose", "Pro\u202ese"),
    ("note-to-self", "TODO", "Prose", "TODO: prose"),
    # Pictures.
    ("empty", ":::{visual}", SAID, ":::"),
    ("unknown-name", "[QQ]", SAID, f":given: {{highlight: [QQ]}}\n\n{SAID}"),
    ("wrong-type", ":given:", ":kind: graph\n:forward: linear", ":kind: broadcast\n:given: {from: [3, 4], to: [5, 6]}"),
]
FINE = [
    ("a loop", PROGRAM, "Z = X @ W\nfor i in range(2):\n    Z = Z + b\nY = Z * 1"),
    ("a function", PROGRAM, "def f(x):\n    return x @ W\nY = f(X) + b"),
    ("a lambda", PROGRAM, "f = lambda x: x @ W\nY = f(X) + b"),
    ("a branch on sizes", PROGRAM, "Y = X @ W + b if N > 3 else X @ W"),
    ("two names at once", PROGRAM, "Z, V = X @ W, b\nY = Z + V"),
    ("a power of a size", "X: [N, D], W: [D, H]", "X: [N, D**2], W: [D**2, H]"),
    ("a note of a directive", "Which one?", "Which one?[^a]\n\n[^a]: A note."),
    ("an address that is a link", "Prose", "[https://example.org/x](https://example.org/x) and <https://example.org>"),
    ("half as much", ":answer: 1/3", ":answer: 1/3\n:rtol: 0.2"),
    ("two blanks", ":of: dW", ":of: dW\n:ask: (?, ?)"),
    ("commas", "dX dW db", "dX, dW, db"),
    ("a letter that is no ASCII", "$Y = XW$", "$Y = Xβ → ∂$"),
    ("a single goal", "goals:\n  - Say something.", "goals: Say something."),
    ("other ends of lines", "\n", "\r\n"),
    ("the mark of a byte order", "---\ntitle", "\ufeff---\ntitle"),
]


def found(before: str = "", after: str = "") -> list[Finding]:
    text = SOUND.replace(before, after, 1 if before.strip() else -1) if before else SOUND
    assert not before or text != SOUND
    lesson, errors = parse_lesson(text, "1-unit/01-sound.md")
    return list(in_order([*of_errors(errors), *(prove_care(lesson) if lesson else ())]))


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize(("code", "where", "before", "after"), SLIPS)
def test_a_slip_is_told_where_it_stands(code: str, where: str, before: str, after: str) -> None:
    lines = SOUND.replace(before, after, 1).split("\n")

    first, *_ = found(before, after)

    assert (first.code, where in lines[first.place.line - 1]) == (code, True), first
    assert first.message


@pytest.mark.parametrize(("before", "after"), [one[1:] for one in FINE], ids=[one[0] for one in FINE])
def test_what_only_looks_like_a_slip_is_taken(before: str, after: str) -> None:
    assert found(before, after) == []


def test_the_lesson_that_all_of_them_change_is_sound() -> None:
    assert found() == []
