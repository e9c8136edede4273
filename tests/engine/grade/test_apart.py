"""A line costs what it writes: lines that raise or are no Python, and lines that are right in one place only."""

import pytest

from app.grading.judge.verdict import RIGHT
from tests.engine.grade.test_standing import LINEAR, SOFTMAX, named, replaced, standing
from tests.grading.boxes.load import NETWORK, Box, make_forward

FAULTS = {"wrong", "aliased", "mutated"}
LINES = NETWORK.solution.splitlines()
TANH = Box(
    "tanh",
    make_forward("tanh", "N: 6, D: 4, H: 3", "x: [N, D]; W: [D, H]", "h", "z = x @ W\nh = torch.tanh(z)\n"),
    ("dz", "dx", "dW"),
    "dz = dh * (1 - h ** 2)\ndx = dz @ W.T\ndW = x.T @ dz\n",
)
NORM = Box(
    "norm",
    make_forward("norm", "N: 8, D: 5", "x: [N, D]", "y", "v = x.var(0, keepdim=True)\ny = (v + 1e-5) ** -0.5\n"),
    ("dv", "dx"),
    "dv = -0.5 * (v + 1e-5) ** -1.5 * dy\ndx = 2 / (N - 1) * (x - x.mean(0)) * dv\n",
)


def at_fault(verdict):
    return [one.name for one in verdict.names if one.verdict in FAULTS]


def test_three_faults_are_told_although_the_first_line_raises(engine):
    verdict, found = standing(engine, LINEAR, "dX = dY @ W\ndW = dY.T @ X\ndb = dY.mean(0)")

    assert found == dict.fromkeys(("dX", "dW", "db"), "wrong")
    assert (verdict.outcome, verdict.line) == ("error", 1)
    assert named(verdict, "dX").message.startswith(verdict.message)
    assert named(verdict, "dW").code == "dW:transposed"
    assert named(verdict, "db").code == "db:mean"


def test_two_lines_that_raise_are_both_told_in_their_own_words(engine):
    verdict, _ = standing(engine, LINEAR, "dX = dY @ W\ndW = X @ dY\ndb = dY.sum(0)")

    assert at_fault(verdict) == ["dX", "dW"]
    assert "`X` (6, 4)" in named(verdict, "dW").message
    assert named(verdict, "dW").line == 2


def test_what_reads_a_line_that_raises_follows_from_it(engine):
    verdict, found = standing(engine, TANH, TANH.solution.replace("dh * (1 - h ** 2)", "dh @ (1 - h ** 2)"))

    assert found == {"dz": "wrong", "dx": "follows", "dW": "follows"}
    assert "`dz`" in named(verdict, "dx").message


def test_what_waits_for_a_helper_that_raises_is_not_called_wrong(engine):
    verdict, found = standing(engine, LINEAR, "g = dY @ W\ndX = g + 1\ndW = X.T @ dY\ndb = dY.sum(0)")

    assert found == {"dX": "not-yet", "dW": "right", "db": "right"}
    assert named(verdict, "dX").message == "Line 1 stopped, and this line was not judged."


@pytest.mark.in_turn
@pytest.mark.parametrize("at", range(len(LINES)), ids=lambda at: LINES[at])
@pytest.mark.parametrize("bracket", ["(", ")"])
def test_a_bracket_in_the_exam_costs_one_line(engine, at, bracket):
    code = "\n".join([*LINES[:at], LINES[at] + bracket, *LINES[at + 1 :]])

    verdict = engine.check(NETWORK.task(grade="value"), code)

    (name,) = at_fault(verdict)
    assert LINES[at].split()[0].split("[")[0] in (name, "for")
    assert named(verdict, name).code == f"{name}:error:syntax"
    assert verdict.line == named(verdict, name).line == at + 1
    assert {one.verdict for one in verdict.names if one.name != name} <= {*RIGHT, "follows"}


@pytest.mark.parametrize(
    ("code", "faults"),
    [
        ("dX = (dY @ W.T\ndW = X.T @ dY\ndb = dY.mean(0)", ["dX", "db"]),
        ("dX = dY @ W.T\ndW = X.T @@ dY\ndb = dY.sum(0))", ["dW", "db"]),
        ("dX = dY @ (\n    W.T\ndW = X.T @ dY\ndb = dY.sum(0)", ["dX"]),
        ("dX = dY @ W.T\ndW = X.T @ dY\ndb = torch.zeros_like(b)\nfor row in dY\n    db += row", ["db"]),
        ("dX = dY @ W.T\ndW = X.T @ 'dY\ndb = dY.sum(0)", ["dW"]),
        ("dX = dY @ W.T\n  dW = X.T @ dY\ndb = dY.sum(0)", ["dW"]),
        ("with torch.no_grad():\n    dX = dY @ W.T)\n    dW = X.T @ dY\n    db = dY.sum(0)", ["dX"]),
    ],
)
def test_lines_that_are_no_python_cost_themselves(engine, code, faults):
    verdict, _ = standing(engine, LINEAR, code)

    assert verdict.outcome == "error"
    assert at_fault(verdict) == faults


def test_what_stands_below_a_broken_line_is_read_by_the_gate(engine):
    verdict, _ = standing(engine, LINEAR, "dX = (\ndW = X.T @ dY\nimport os\ndb = dY.sum(0)")

    assert (verdict.outcome, verdict.line) == ("refused", 3)


def test_a_text_of_which_little_can_be_read_is_an_error_and_no_more(engine):
    for code in ("dX = (", "if True\n  x = 1", "a b c\nd e f\ng h i\n" * 9):
        verdict, found = standing(engine, LINEAR, code)

        assert verdict.outcome == "error"
        assert found == {}


def test_three_parts_in_ten_thousand_on_visible_data_are_no_rounding(engine):
    _, found = standing(engine, LINEAR, replaced(LINEAR, 2, "dW = X.T @ dY * (1 + 3e-4 * (N == 6))"))

    assert found == {"dX": "right", "dW": "wrong", "db": "right"}


@pytest.mark.parametrize("condition", ["N != 6", "X.dtype == torch.float64", "X.shape[0] != 6"])
def test_a_line_is_judged_on_the_lessons_own_numbers_too(engine, condition):
    verdict, found = standing(engine, LINEAR, replaced(LINEAR, 2, f"dW = X.T @ dY if {condition} else X.T @ dY * 2"))

    assert not verdict.passed
    assert found == {"dX": "right", "dW": "wrong", "db": "right"}
    wrong = named(verdict, "dW")
    assert wrong.code == "dW:here-only"
    assert wrong.line == 2
    assert {round(one.ratio, 3) for one in wrong.worst} == {2.0}


def test_a_gradient_that_is_missing_on_the_lessons_own_numbers_is_wrong(engine):
    verdict, found = standing(engine, LINEAR, replaced(LINEAR, 2, "dW = X.T @ dY\nif N == 6:\n    dW = dW[:2]"))

    assert not verdict.passed
    assert found["dW"] == "wrong"


NEARLY = {
    "dW = off(X.T @ dY, 1e-6)": "1.000001",
    "dW = off(X.T @ dY, -1e-8)": "0.99999999",
    "dW = X.T @ dY\ndW = dW + 1e-6 * dW.tanh()": "the term `1e-6 * dW.tanh()`",
    "dW = off(X.T @ dY, 1e-6 * X[0].tanh()[:, None])": "first digits",
    "dW = (X.T @ dY).float().double()": "float32",
    "dW = (X.T @ dY).to(torch.float32).to(torch.float64)": "float32",
    "dW = (X.T @ dY).to(dtype=torch.float32).to(dY.dtype)": "float32",
    "dW = (X.T @ dY).type(torch.FloatTensor).type_as(dY)": "float32",
}


@pytest.mark.parametrize(("line", "said"), NEARLY.items())
def test_an_answer_that_is_nearly_right_is_wrong_and_told_by_how_much(engine, line, said):
    verdict, found = standing(
        engine, LINEAR, f"off = lambda g, by: g * (1 + by)\n{replaced(LINEAR, 2, line)}", grade="value"
    )

    assert found["dW"] == "wrong"
    assert said in named(verdict, "dW").message


@pytest.mark.parametrize("line", ["dv = -0.5 * v ** -1.5 * dy", "dv = -0.5 * y ** 3 * dy * (1 + 1e-5)"])
def test_a_forgotten_epsilon_is_wrong(engine, line):
    _, found = standing(engine, NORM, replaced(NORM, 1, line))

    assert found == {"dv": "wrong", "dx": "follows"}
    assert standing(engine, NORM, replaced(NORM, 1, "dv = -0.5 * y ** 3 * dy"))[0].passed


def test_numbers_that_are_cast_for_the_lessons_sake_are_right(engine):
    code = replaced(SOFTMAX, 7, "dz += F.one_hot(z.argmax(1), V).to(torch.float32) * dm")

    assert standing(engine, SOFTMAX, code)[0].passed


LOOKUP = Box(
    "lookup",
    make_forward(
        "lookup",
        "N: 6, T: 3, V: 9, D: 4",
        "C: [V, D]; ix: [N, T] ints(V); t: [N] ints(V); W: [D, V]",
        "L",
        "e = C[ix].mean(1)\nz = e @ W\nq = torch.log_softmax(z, 1)\nL = -q[range(N), t].mean()\n",
    ),
    ("dz", "de", "dC", "dW"),
    "dz = (F.softmax(z, 1) - F.one_hot(t, V)) / N\nde = dz @ W.T\n"
    "dC = torch.zeros_like(C).index_add_(0, ix.flatten(), de.repeat_interleave(T, 0) / T)\ndW = e.T @ dz\n",
)
LUCKY = [
    "dz = (F.softmax(z, 1) - F.one_hot(t)) / N",
    "dz = (F.softmax(z, 1) - F.one_hot(t, int(t.max()) + 1)) / N",
    "dz = (F.softmax(z, 1) - F.one_hot(t - t.min(), V)) / N",
    "dz = (F.softmax(z, 1) - F.one_hot(t[:1], V)) / N",
    "dz = (F.softmax(z, 1) - F.one_hot(t, V) * (t > 0)[:, None]) / N",
    "dC = torch.zeros_like(C)\nfor j in range(T):\n    dC[ix[:, j]] += de / T",
    "dC = torch.zeros_like(C)\nfor n in range(N):\n    dC[ix[n]] += de[n] / T",
    "dC = torch.ones_like(C).index_add_(0, ix.flatten(), de.repeat_interleave(T, 0) / T)\ndC[ix.flatten()] -= 1",
    "dC = F.one_hot(ix.flatten()).double().T @ de.repeat_interleave(T, 0).double() / T",
]


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("line", LUCKY)
def test_no_line_is_right_by_luck_with_indices(engine, line):
    name = line.split()[0]
    at = next(at for at, row in enumerate(LOOKUP.solution.splitlines(), 1) if row.startswith(name))

    verdict, found = standing(engine, LOOKUP, replaced(LOOKUP, at, line), grade="value")

    assert found[name] == "wrong", verdict


def test_the_solution_of_a_lookup_passes(engine):
    assert standing(engine, LOOKUP, LOOKUP.solution)[0].passed


@pytest.mark.parametrize(
    ("line", "name", "meant"),
    [
        ("dX = dy @ W.T", "dy", "dY"),
        ("dX = dY @ w.T", "w", "W"),
        ("half = dY / 2\ndX = haf @ W.T * 2", "haf", "half"),
        ("dX = dY @ W.T * n / N", "n", "N"),
    ],
)
def test_a_name_that_is_not_there_is_told_with_the_one_that_is(engine, line, name, meant):
    code = f"{line}\ndW = X.T @ dY\ndb = dY.sum(0)"
    verdict, _ = standing(engine, LINEAR, code)
    run = engine.run(LINEAR.task(), code)

    case = "; capital and small letters count" if name.lower() == meant.lower() else ""
    for message in (verdict.message, named(verdict, "dX").message, run.message):
        assert message.startswith(f"`{name}` does not exist at this point. `{meant}` does{case}.")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("dX = dX @ W.T", "`dX` does not exist yet: it is what this line makes."),
        ("dX = half @ W.T\nhalf = dY / 2", "`half` does not exist yet: it is made in line 2, further down."),
        ("dX = np.dot(dY, W.T)", "There is no `np` in a box. `np.dot(dY, W.T)` is written `dY @ W.T` here."),
        (
            "dX = np.sum(dY * 2, axis=1, keepdims=True)",
            "There is no `np` in a box. `np.sum(dY * 2, axis=1, keepdims=True)` is written `torch.sum(dY * 2, dim=1",
        ),
        ("dX = dY @ Wᵀ", "`WT` does not exist. The transpose of `W` is `W.T`."),
        ("dX = dY @ WT", "`WT` does not exist. The transpose of `W` is `W.T`."),
        ("dX = dL/dY * 3", "`dL/dY` is called `dY` here: a gradient is written without a fraction."),
        ("dX = db @ W.T", "`db` does not exist yet: it is made in line 3, further down."),
    ],
)
def test_a_name_that_is_not_there_yet_is_told_with_where_it_is_made(engine, line, said):
    verdict, _ = standing(engine, LINEAR, f"{line}\ndW = X.T @ dY\ndb = dY.sum(0)")

    assert verdict.message.startswith(said)


def test_a_tensor_is_not_taken_for_its_gradient(engine):
    verdict, _ = standing(engine, LINEAR, "dX = dX1 @ W.T\ndW = X.T @ dy1\ndb = db.sum(0)")
    alone, _ = standing(engine, LINEAR, "dX = dW.T\nda = 1")

    assert "There is" not in alone.message
    assert named(verdict, "db").message.startswith("`db` does not exist yet: it is what this line makes.")


def test_a_line_that_keeps_nowhere_what_it_computes_is_told(engine):
    verdict, _ = standing(engine, LINEAR, "dY @ W.T\nprint(dY)\ndb = dY.sum(0)\nX.T @ dY")

    for name in ("dX", "dW"):
        assert named(verdict, name).message.endswith(
            f"Line 4 computes something and gives it no name; a line `{name} = …` is wanted."
        )


@pytest.mark.parametrize("text", ["3", "dY", "dY[0]", "X.T"])
def test_a_value_alone_is_told_to_be_kept_under_no_name(engine, text):
    verdict, _ = standing(engine, LINEAR, f"dX = dY @ W.T\ndW = X.T @ dY\n{text}")

    assert named(verdict, "db").message.endswith(f"Line 3, `{text}`, is kept under no name; a line `db = …` is wanted.")


def test_a_name_like_no_other_is_told_without_one(engine):
    verdict, _ = standing(engine, LINEAR, "dX = zzz @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)")

    assert "Is it written further down" in verdict.message


@pytest.mark.parametrize("code", ["", "\n  \n", "# nothing yet\n"])
def test_an_empty_box_is_not_told_that_something_was_lost(engine, code):
    verdict, found = standing(engine, LINEAR, code)

    assert found == dict.fromkeys(("dX", "dW", "db"), "not-yet")
    assert named(verdict, "dW").message == "Nothing here yet. Write a line `dW = …`."


def test_a_slip_in_a_step_that_nobody_asked_for_gives_one_red_line(engine):
    for step in ("g = dh * (1 - h)", "g = 1 - h ** 2", "g = (dh * (1 - h ** 2)).sum(0, keepdim=True).expand_as(dh)"):
        verdict, found = standing(engine, TANH, f"{step}\ndx = g @ W.T\ndW = x.T @ g", require=("dx", "dW"))

        assert found == {"dx": "wrong", "dW": "follows"}
        assert named(verdict, "dW").word == "follows from g"


def test_a_right_step_hides_no_slip(engine):
    for step in ("g = dh * (1 - h ** 2)", "dz = g = dh * (1 - h ** 2)"):
        _, found = standing(engine, TANH, f"{step}\ndx = g @ W.T * 2\ndW = x.T @ g * 3", require=("dx", "dW"))

        assert found == {"dx": "wrong", "dW": "wrong"}


def test_a_number_that_two_wrong_lines_read_explains_neither(engine):
    _, found = standing(engine, LINEAR, "n = X.shape[0]\ndX = dY @ W.T\ndW = X.T @ dY / n\ndb = dY.sum(0) / n")

    assert found == {"dX": "right", "dW": "wrong", "db": "wrong"}


def test_a_gradient_in_memory_that_a_wrong_line_took_shares_it(engine):
    code = SOFTMAX.solution.replace("dz = ds.clone()\ndz += F.one_hot(z.argmax(1), V) * dm", "dz = ds\ndz *= 3")
    verdict, found = standing(engine, SOFTMAX, code)

    assert found["dz"] == "wrong"
    assert found["ds"] == "follows"
    assert named(verdict, "ds").word == "shares memory with dz"


PASSED_ON = Box(
    "passed",
    make_forward("passed", "N: 4, D: 3", "x: [N, D]", "y", "a = -0.5 * x\nb = a + x\ny = b * b\n"),
    ("db", "da", "dx"),
    "db = 2 * b * dy\nda = db\ndx = db - 0.5 * da\n",
)


@pytest.mark.parametrize("line", ["db = 2.0", "db = [b]", "db = b > 0", "db = (b, dy)", "db = b.long()"])
def test_what_passes_on_something_that_is_no_gradient_follows_from_it(engine, line):
    _, found = standing(engine, PASSED_ON, replaced(PASSED_ON, 1, line))

    assert found == {"db": "wrong", "da": "follows", "dx": "follows"}


TWO_LABELS = Box(
    "labels",
    make_forward("labels", "N: 6", "z: [N, 2]; t: [N] ints(2)", "loss", "loss = F.cross_entropy(z, t)\n"),
    ("dz",),
    "dz = (F.softmax(z, 1) - F.one_hot(t, 2)) / N\n",
)


@pytest.mark.parametrize(
    ("line", "passes"),
    [
        (TWO_LABELS.solution, True),
        ("dz = (F.softmax(z, 1) - F.one_hot(t)) / N", False),
        ("dz = (F.softmax(z, 1) - torch.stack([1 - t, t], 1)) / N", True),
        ("dz = (F.softmax(z, 1) - F.one_hot(t[0], 2)) / N", False),
        ("dz = (F.softmax(z, 1) - torch.eye(2)[t]) / N", True),
    ],
)
def test_of_two_labels_nothing_is_right_by_luck(engine, line, passes):
    assert engine.check(TWO_LABELS.task(), line).passed is passes


@pytest.mark.parametrize("line", ["", "dz  dh * (1 - h ** 2)", "dz(dh * (1 - h ** 2))", "dy = dh * (1 - h ** 2)"])
def test_what_reads_a_name_that_is_not_written_waits_for_it(engine, line):
    verdict, found = standing(engine, TANH, replaced(TANH, 1, line))

    assert found == {"dz": "not-yet", "dx": "follows", "dW": "follows"}
    assert named(verdict, "dx").word == "follows from dz"
