"""The line that is named is the one with the slip, also where it makes a step that nobody asked for."""

from dataclasses import replace

import pytest

from app.web.verdict_words import VerdictView
from tests.engine.grade.test_standing import named, standing
from tests.grading.boxes.load import Box, make_forward

STEPS = Box(
    "steps",
    make_forward(
        "steps",
        "B: 8, D: 5, H: 7",
        "x1: [B, D]; x2: [B, D]; h0: [B, H]; Wx: [D, H]; Wh: [H, H]; b: [H]",
        "h2",
        "h1 = torch.tanh(x1 @ Wx + h0 @ Wh + b)\nh2 = torch.tanh(x2 @ Wx + h1 @ Wh + b)\n",
    ),
    ("dh1", "dh0", "dWh", "dWx", "db"),
    "dz2 = dh2 * (1 - h2 ** 2)\n"
    "dh1 = dz2 @ Wh.T\n"
    "dz1 = dh1 * (1 - h1 ** 2)\n"
    "dh0 = dz1 @ Wh.T\n"
    "dWh = h1.T @ dz2 + h0.T @ dz1\n"
    "both = torch.stack([dz1, dz2])\n"
    "dWx = x1.T @ both[0] + x2.T @ both[1]\n"
    "db = both.sum((0, 1))\n",
)
CELL = Box(
    "cell",
    replace(
        make_forward(
            "cell",
            "B: 8, H: 7",
            "z: [B, 4*H]; c: [B, H]",
            "h_new",
            "i = torch.sigmoid(z[:, :H])\nf = torch.sigmoid(z[:, H:2*H])\no = torch.sigmoid(z[:, 2*H:3*H])\n"
            "g = torch.tanh(z[:, 3*H:])\ninner = f * c + i * g\ns = torch.tanh(inner)\n"
            "h_new = o * s\nc_new = inner.clone()\n",
        ),
        others=("c_new",),
    ),
    ("dc", "dz"),
    "ds = dh_new * o\n"
    "dcell = dc_new + ds * (1 - s ** 2)\n"
    "dc = dcell * f\n"
    "di = dcell * g\n"
    "df = dcell * c\n"
    "do = dh_new * s\n"
    "dg = dcell * i\n"
    "dz = torch.cat([di * i * (1 - i), df * f * (1 - f), do * o * (1 - o), dg * (1 - g ** 2)], 1)\n",
)
NEIGHBOURS = Box(
    "neighbours",
    make_forward(
        "neighbours",
        "N: 6, T: 4, D: 3, H: 5",
        "e: [N, T, D]; U: [D, H]; V: [D, H]; b: [H]; Wo: [H, D]",
        "y",
        "h = torch.tanh(e[:, :T - 1] @ U + e[:, 1:] @ V + b)\ny = h @ Wo\n",
    ),
    ("dU", "dV", "db", "de"),
    "dz = (dy @ Wo.T) * (1 - h ** 2)\n"
    "dU = e[:, :T - 1].reshape(-1, D).T @ dz.reshape(-1, H)\n"
    "dV = e[:, 1:].reshape(-1, D).T @ dz.reshape(-1, H)\n"
    "db = dz.sum((0, 1))\n"
    "de = torch.zeros_like(e)\n"
    "de[:, :T - 1] += dz @ U.T\n"
    "de[:, 1:] += dz @ V.T\n",
)
READER = Box(
    "reader",
    make_forward(
        "reader",
        "B: 8, D: 5, H: 7, V: 4",
        "x1: [B, D]; x2: [B, D]; h0: [B, H]; Wx: [D, H]; Wh: [H, H]; b: [H]; Wo: [H, V]",
        "y",
        "h1 = torch.tanh(x1 @ Wx + h0 @ Wh + b)\nh2 = torch.tanh(x2 @ Wx + h1 @ Wh + b)\ny = h2 @ Wo\n",
    ),
    ("dWo", "dWh", "dWx", "db"),
    "dWo = h2.T @ dy\n"
    "dz2 = dy @ Wo.T * (1 - h2 ** 2)\n"
    "dz1 = dz2 @ Wh.T * (1 - h1 ** 2)\n"
    "dWh = h1.T @ dz2 + h0.T @ dz1\n"
    "both = torch.stack([dz1, dz2])\n"
    "dWx = x1.T @ both[0] + x2.T @ both[1]\n"
    "db = both.sum((0, 1))\n",
)
ROWS = [
    (STEPS, [("(1 - h1 ** 2)", "(1 - h1) ** 2")], {"dz1": 3}, {"dWh", "dh0", "db"}, "follows from dz1"),
    (STEPS, [("dh1 * (1 - h1 ** 2)", "dh1 * (1 - h1 ** 3)")], {"dz1": 3}, {"dWh", "dh0", "db"}, "follows from dz1"),
    # Two lines are wrong, and each is named.
    (STEPS, [("(1 - h1 ** 2)", "(1 - h1) ** 2"), ("both.sum((0, 1))", "dz2.sum(0)")], {"dz1": 3, "db": 8}, set(), ""),
    # The same slip in all that read a step is a slip of the step.
    (NEIGHBOURS, [(" * (1 - h ** 2)", "")], {"dz": 1}, {"dU", "dV", "db"}, "follows from dz"),
    # So is one that mends all that are made by way of it: what else may be the gradient of another tensor is not.
    (READER, [(" * (1 - h2 ** 2)", "")], {"dz2": 2}, {"dWh", "db"}, "follows from dz2"),
    (READER, [(" * (1 - h1 ** 2)", "")], {"dz1": 3}, {"dWh", "db"}, "follows from dz1"),
    (READER, [("torch.stack", "-torch.stack")], {"both": 5}, {"db"}, "follows from both"),
    (READER, [("dWx = x1.T @ both[0]", "dWx = 2 * x1.T @ both[0]")], {"dWx": 6}, set(), ""),
    (CELL, [("dc_new + ds", "dc_new - ds")], {"dcell": 2}, {"dz"}, "follows from dcell"),
    (CELL, [("dc_new + ds * (", "(ds + dc_new) * (")], {"dcell": 2}, {"dz"}, "follows from dcell"),
    # What a right line is made of is right.
    (CELL, [("do = dh_new * s", "do = dcell * s")], {"do": 6}, set(), ""),
]


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize(("box", "edits", "lines", "after", "word"), ROWS, ids=[str(row[1]) for row in ROWS])
def test_the_line_of_a_wrong_step_is_named(engine, box, edits, lines, after, word):
    code = box.solution
    for old, new in edits:
        assert old in code
        code = code.replace(old, new, 1)

    verdict, found = standing(engine, box, code)

    view = VerdictView(verdict)
    assert {row.name: row.verdict.line for row in view.rows if row.fault} == lines
    assert {name for name, status in found.items() if status == "follows"} >= after
    assert all(named(verdict, name).word == word for name in after)
    assert view.title.startswith(f"{len(lines)} line")


def test_two_wrong_steps_of_one_gradient_are_two_lines(engine):
    code = CELL.solution.replace("di = dcell * g", "di = dcell * i").replace("dg = dcell * i", "dg = dcell * g")

    verdict, _ = standing(engine, CELL, code)

    assert VerdictView(verdict).title == "2 lines to fix"
    assert "`dg` in line 7 is not right either." in named(verdict, "dz").message


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("df = dcell * c", "df = dcell * c_new", "`df` in line 5 is not right either."),
        ("f * (1 - f)", "(1 - f)", "`dz` in line 8 is not right either."),
    ],
)
def test_what_follows_from_a_wrong_step_is_judged_on_the_right_one(engine, right, wrong, words):
    code = CELL.solution.replace("ds = dh_new * o", "ds = dh_new").replace(right, wrong, 1)

    verdict, _ = standing(engine, CELL, code)

    assert VerdictView(verdict).title.startswith("2 lines to fix")
    assert named(verdict, "dz").message.endswith(words)


def test_what_is_not_proved_wrong_takes_no_blame_for_what_reads_it(engine):
    lines = "s = dh2 * (1 - h2 ** 2)\ndh1 = s.cumsum(1) @ Wh.T\ndWx = x2.T @ s.cumsum(1)\n"

    verdict, _ = standing(engine, STEPS, lines, require=("dh1", "dWx"))

    assert "`s`" not in "".join(one.word for one in verdict.names)
    assert all("which line 1 makes" not in one.message for one in verdict.names)
