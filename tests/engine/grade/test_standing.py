"""Each verdict of the table, each with the submission that earns it."""

import pytest

from tests.grading.boxes.load import BOXES, Box, make_forward

LINEAR = Box(
    "linear",
    make_forward("linear", "N: 6, D: 4, H: 3", "X: [N, D]; W: [D, H]; b: [H]", "Y", "Y = X @ W + b\n"),
    ("dX", "dW", "db"),
    "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n",
)
SOFTMAX = Box(
    "softmax",
    make_forward(
        "softmax",
        "N: 6, V: 4",
        "z: [N, V]; t: [N] ints(V)",
        "L",
        "m = z.max(1, keepdim=True).values\ns = z - m\np = torch.softmax(s, 1)\n"
        "q = p.log()\nL = -q[range(N), t].mean()\n",
    ),
    ("dq", "dp", "ds", "dm", "dz"),
    "dq = torch.zeros_like(q)\n"
    "dq[range(N), t] = -1 / N\n"
    "dp = dq / p\n"
    "ds = p * (dp - (p * dp).sum(1, keepdim=True))\n"
    "dm = -ds.sum(1, keepdim=True)\n"
    "dz = ds.clone()\n"
    "dz += F.one_hot(z.argmax(1), V) * dm\n",
)
RECURRENT = Box(
    "recurrent",
    make_forward(
        "recurrent",
        "N: 5, H: 3",
        "h0: [N, H]; W: [H, H]; b: [H]",
        "h3",
        "h1 = torch.tanh(h0 @ W + b)\nh2 = torch.tanh(h1 @ W + b)\nh3 = torch.tanh(h2 @ W + b)\n",
    ),
    ("dW", "db", "dh0"),
    "dW = torch.zeros_like(W)\n"
    "db = torch.zeros_like(b)\n"
    "dh = dh3\n"
    "for h, before in [(h3, h2), (h2, h1), (h1, h0)]:\n"
    "    dz = dh * (1 - h ** 2)\n"
    "    dW += before.T @ dz\n"
    "    db += dz.sum(0)\n"
    "    dh = dz @ W.T\n"
    "dh0 = dh\n",
)


def standing(engine, box, code, **options):
    verdict = engine.check(box.task(**options), code)
    return verdict, {one.name: one.verdict for one in verdict.names}


def named(verdict, name):
    return next(one for one in verdict.names if one.name == name)


def replaced(box, line, text):
    lines = box.solution.splitlines()
    lines[line - 1] = text
    return "\n".join(lines)


@pytest.mark.parametrize("box", [LINEAR, SOFTMAX, RECURRENT], ids=lambda box: box.name)
@pytest.mark.parametrize("grade", ["rule", "value"])
def test_solutions_pass(engine, box, grade):
    verdict, found = standing(engine, box, box.solution, grade=grade)

    assert verdict.passed, verdict
    assert set(found.values()) <= {"right"}


def test_names_stand_in_backward_order(engine):
    verdict, _ = standing(engine, SOFTMAX, SOFTMAX.solution, require=("dz", "dm", "dq", "ds", "dp"))

    assert [one.name for one in verdict.names] == ["dq", "dp", "ds", "dm", "dz"]


def test_one_wrong_line_gives_one_wrong_name_and_the_rest_follows(engine):
    verdict, found = standing(engine, SOFTMAX, replaced(SOFTMAX, 3, "dp = dq * p"))

    assert found == {"dq": "right", "dp": "wrong", "ds": "follows", "dm": "right", "dz": "follows"}
    assert not verdict.passed
    assert "`dp`" in named(verdict, "ds").message
    assert named(verdict, "ds").word == "follows from dp"
    assert named(verdict, "dp").line == 3
    assert named(verdict, "dp").worst
    assert named(verdict, "ds").code is None


@pytest.mark.parametrize("blank", ["dW = ____", "dW = X.___ @ dY", "dW = ...", "dW = None", "pass"])
def test_a_blank_is_neither_right_nor_wrong_and_the_rest_is_judged(engine, blank):
    verdict, found = standing(engine, LINEAR, f"dX = dY @ W.T\n{blank}\ndb = dY.mean(0)\n")

    assert verdict.outcome == "graded"
    assert found == {"dX": "right", "dW": "not-yet", "db": "wrong"}
    assert named(verdict, "dW").code is None


def test_lines_below_a_blank_are_judged_with_right_numbers(engine):
    verdict, found = standing(engine, SOFTMAX, replaced(SOFTMAX, 3, "dp = ____"))

    assert verdict.outcome == "graded"
    assert found["dp"] == "not-yet"
    assert {found["ds"], found["dz"]} <= {"right", "follows"}


def test_a_name_that_waits_for_a_blank_helper_is_not_yet_there(engine):
    _, found = standing(engine, LINEAR, "g = ____\ndX = g @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)")

    assert found == {"dX": "not-yet", "dW": "right", "db": "right"}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("dX = ____\ndb = dY.sum(0)", {"dX": "not begun", "dW": "not begun"}),
        ("dX = dY @ W.T\ndX += ____\ndW = X @ dY\ndb = ____", {"dX": "not finished", "db": "not begun"}),
        ("g = ____\ndX = g @ W.T\ndW, db = zzz, dY.sum(0)", {"dX": "not judged", "db": "not judged"}),
        (
            "dX = None\nq = zzz\ndW = X.T @ q\ndb = q.sum(0)",
            {"dX": "not finished", "dW": "not judged", "db": "not judged"},
        ),
    ],
)
def test_each_gradient_that_is_not_there_says_why_in_a_word(engine, code, words):
    verdict = engine.check(LINEAR.task(), code)

    assert {name.name: name.word for name in verdict.names if name.verdict == "not-yet"} == words


def test_nothing_at_all_is_not_yet(engine):
    verdict, found = standing(engine, LINEAR, "")

    assert verdict.outcome == "graded"
    assert set(found.values()) == {"not-yet"}
    assert not verdict.passed


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("db = 3.0", "db:not-a-tensor"),
        ("db = (dY, dY)", "db:not-a-tensor"),
        ("db = [1.0]", "db:not-a-tensor"),
        ("db = dY.sum(0).tolist()", "db:not-a-tensor"),
        ("db = dY.sum(0).numpy()", "db:not-a-tensor"),
    ],
)
def test_what_is_not_a_tensor_is_said_to_be_none(engine, line, code):
    verdict = engine.check(LINEAR.task(), replaced(LINEAR, 3, line), gate=False)

    assert named(verdict, "db").code == code


def test_a_number_serves_where_the_gradient_is_a_scalar(engine):
    box = next(one for one in BOXES if one.name == "L03.c1")
    verdict, found = standing(engine, box, "db = a\nda = b + db\ndx = float(2 * x * da + db)")

    assert verdict.passed, found


def test_right_values_of_the_wrong_number_type_are_right_with_a_remark(engine):
    forward = make_forward("count", "N: 4", "x: [N]", "L", "L = x.sum()\n")
    box = Box("count", forward, ("dx",), "dx = torch.ones_like(x)\n")

    verdict, _ = standing(engine, box, "dx = torch.ones(N, dtype=torch.int64)")

    assert verdict.passed
    assert "int64" in verdict.names[0].note


@pytest.mark.parametrize("fill", ["float('nan')", "float('inf')"])
def test_numbers_that_are_not_finite_are_wrong(engine, fill):
    verdict, found = standing(engine, LINEAR, replaced(LINEAR, 3, f"db = torch.full_like(b, {fill})"))

    assert found["db"] == "wrong"
    assert not verdict.passed
    assert named(verdict, "db").maxdiff is None


def test_a_shape_that_broadcasts_is_still_wrong(engine):
    for line in ("db = dY.sum(0, keepdim=True)", "db = dY.sum()"):
        assert standing(engine, LINEAR, replaced(LINEAR, 3, line))[1]["db"] == "wrong"


def test_an_alias_that_is_written_later_is_named(engine):
    verdict, found = standing(engine, SOFTMAX, replaced(SOFTMAX, 6, "dz = ds"))

    assert found["ds"] == "aliased"
    assert named(verdict, "ds").code == "ds:aliased"
    assert "`dz`" in named(verdict, "ds").message
    assert not verdict.passed


def test_a_buffer_filled_by_a_helper_is_finished_when_the_helper_is_done(engine):
    code = (
        "def fill(total, values):\n    total.add_(values)\n"
        "dX = dY @ W.T\ndW = X.T @ dY\ndb = torch.zeros_like(b)\nfill(db, dY.sum(0))"
    )

    assert engine.check(LINEAR.task(), code).passed


def test_an_alias_that_nobody_writes_is_fine(engine):
    box = next(one for one in BOXES if one.name == "L02.c1")

    assert engine.check(box.task(), box.solution).passed


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("dX = dY @ W.T\ndW = X.T @ dY\ndb = dY\ndb *= 1.5\ndb = db.sum(0)", "dY"),
        ("dX = dY @ W.mul_(2).T\ndW = X.T @ dY\ndb = dY.sum(0)", "W"),
        ("X += 1\ndX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)", "X"),
    ],
)
def test_a_forward_tensor_that_is_edited_is_its_own_verdict(engine, code, changed):
    verdict, found = standing(engine, LINEAR, code)

    assert "mutated" in found.values(), found
    assert any(one.code == f"{one.name}:mutated" and f"`{changed}`" in one.message for one in verdict.names)
    assert not verdict.passed


def test_the_line_that_edits_a_forward_tensor_is_pointed_at(engine):
    verdict, _ = standing(engine, LINEAR, "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\nX += 1")

    found = next(one for one in verdict.names if one.verdict == "mutated")
    assert found.message.startswith("Line 4 ")
    assert found.line == 4


def test_an_edit_through_data_is_noticed_as_well(engine):
    code = "W.data[0] = 0\n" + LINEAR.solution
    verdict = engine.check(LINEAR.task(), code, gate=False)

    assert not verdict.passed


def test_a_size_written_as_a_number_works_on_the_lesson_only(engine):
    for line in ("db = dY.mean(0) * 6", "db = sum(dY[i] for i in range(6))", "db = torch.ones(6) @ dY"):
        verdict, found = standing(engine, LINEAR, replaced(LINEAR, 3, line))

        assert found["db"] == "wrong", line
        assert named(verdict, "db").exact or named(verdict, "db").approx
        assert named(verdict, "db").code == "db:size-hard-coded", named(verdict, "db")


def test_an_exception_is_told_at_its_line_with_the_operands(engine):
    verdict, found = standing(engine, LINEAR, replaced(LINEAR, 2, "dW = X @ dY"))

    assert verdict.outcome == "error"
    assert verdict.line == 2
    assert "`X` (6, 4)" in verdict.message
    assert "`dY` (6, 3)" in verdict.message
    assert found == {"dX": "right", "dW": "wrong", "db": "right"}
    assert named(verdict, "dW").code == "dW:error:matmul"


def test_a_crash_that_follows_from_a_wrong_shape_is_explained_there(engine):
    box = next(one for one in BOXES if one.name == "L07.c3")
    code = box.solution.replace("dA = dY @ W2.T", "dA = W2 @ dY.T")

    verdict, found = standing(engine, box, code)

    assert verdict.outcome == "error"
    assert verdict.line == 3
    assert found["dA"] == "wrong"
    assert "`dA`" in verdict.message
    assert {found[name] for name in ("dW2", "dH", "dW1", "dX")} <= {"right", "follows"}


def test_a_name_used_before_it_is_written_is_an_error_at_that_line(engine):
    verdict, _ = standing(engine, SOFTMAX, "dp = dq / p\n" + SOFTMAX.solution)

    assert (verdict.outcome, verdict.line) == ("error", 1)
    assert "`dq`" in verdict.message


def test_an_error_inside_of_a_function_is_told_at_the_line_inside(engine):
    code = "def left(g):\n    return g @ W\ndX = left(dY)\ndW = X.T @ dY\ndb = dY.sum(0)"
    verdict, _ = standing(engine, LINEAR, code)

    assert (verdict.outcome, verdict.line) == ("error", 2)


@pytest.mark.parametrize(
    "code", ["dX = (", "dX = dY @\n", "if True\n  x = 1", "dX = 'a\n", "return 3", "\x00", "dX == = 2"]
)
def test_text_that_is_no_python_is_an_error_with_a_line(engine, code):
    verdict, _ = standing(engine, LINEAR, code)

    assert verdict.outcome in {"error", "refused"}
    assert verdict.message


def test_tuples_semicolons_and_helpers_are_judged_like_single_lines(engine):
    together = "dX, dW = dY @ W.T, X.T @ dY; db = dY.sum(0)"
    helper = "def back(g):\n    return g @ W.T, X.T @ g, g.sum(0)\ndX, dW, db = back(dY)"
    short = "total = lambda g: g.sum(0)\ndX = dY @ W.T\ndW = X.T @ dY\ndb = total(dY)"

    for code in (together, helper, short):
        verdict, found = standing(engine, LINEAR, code, grade="rule")
        assert verdict.passed, (code, found)


def test_lines_under_no_grad_are_judged_one_by_one(engine):
    code = "with torch.no_grad():\n" + "\n".join("    " + line for line in SOFTMAX.solution.splitlines())

    verdict, found = standing(engine, SOFTMAX, code, grade="rule")

    assert verdict.passed, found
    assert engine.check(SOFTMAX.task(), code.replace("dp = dq / p", "dp = dq * p")).names[1].line == 4


def test_a_whole_backward_in_one_function_holds_by_value(engine):
    body = "\n".join("    " + line for line in SOFTMAX.solution.splitlines())
    code = f"def back():\n{body}\n    return dq, dp, ds, dm, dz\ndq, dp, ds, dm, dz = back()"

    verdict, found = standing(engine, SOFTMAX, code)

    assert found["dz"] == found["ds"] == found["dp"] == "right-other-road"
    # A gradient that is zero for this loss shows its rule only under a random upstream.
    assert found["dm"] == "wrong"
    assert not verdict.passed


def test_zeros_for_a_vacuous_gradient_are_not_the_rule(engine):
    verdict, found = standing(engine, SOFTMAX, replaced(SOFTMAX, 5, "dm = torch.zeros_like(m)"))

    assert found["dm"] == "wrong"
    assert "zero up to rounding" in named(verdict, "dm").note
    assert named(verdict, "dm").approx


POOLED = Box(
    "pooled",
    make_forward(
        "pooled",
        "B: 6, C: 2, S: 7, O: 4, k: 3, H: 5",
        "X: [B, C, S]; K: [O, C, k]; V: [O, H]",
        "Y",
        "Z = F.conv1d(X, K)\nA = torch.tanh(Z)\ntop = A.max(2).values\nY = top @ V",
    ),
    ("dA", "dZ"),
    "dA = torch.zeros_like(A).scatter(2, A.argmax(2, keepdim=True), (dY @ V.T).unsqueeze(2))\ndZ = dA * (1 - A ** 2)",
)


def test_a_gradient_zero_on_one_hidden_set_alone_is_not_called_zero(engine):
    # Its data are widened until another place wins, and there tanh is flat.
    study = engine._bench(POOLED.task()).study
    assert study.draws["a"].spread > 1

    verdict, found = standing(engine, POOLED, POOLED.solution)

    assert verdict.passed, found
    assert [named(verdict, name).note for name in ("dA", "dZ")] == ["", ""]


MAX_SHIFTED = Box(
    "max-shifted",
    make_forward(
        "max-shifted",
        "N: 5, D: 4",
        "z: [N, D]; w: [N, D]",
        "y",
        "e = torch.exp(z - z.amax(1, keepdim=True))\np = e / e.sum(1, keepdim=True)\ny = p * w",
    ),
    ("dp", "de", "dz"),
    "dp = dy * w\nde = (dp - (dp * p).sum(1, keepdim=True)) / e.sum(1, keepdim=True)\n"
    "dz = de * e - F.one_hot(z.argmax(1), D) * (de * e).sum(1, keepdim=True)",
)


def test_a_share_is_not_called_zero_where_one_of_its_two_ways_is(engine):
    verdict, found = standing(engine, MAX_SHIFTED, MAX_SHIFTED.solution)

    assert verdict.passed, found
    assert "share" not in named(verdict, "dz").note


def test_a_line_that_is_still_to_be_written_was_not_judged(engine):
    verdict, found = standing(engine, SOFTMAX, replaced(SOFTMAX, 5, "dm = ____"))

    assert found["dm"] == "not-yet"
    assert named(verdict, "dm").note == ""


def test_a_dropped_path_of_a_vacuous_share_is_wrong(engine):
    assert standing(engine, SOFTMAX, replaced(SOFTMAX, 7, "pass"))[1]["dz"] == "wrong"


def test_the_wrong_upstream_is_no_other_road_even_where_the_values_agree(engine):
    _, found = standing(engine, SOFTMAX, replaced(SOFTMAX, 7, "dz = dz * 1.0"))

    assert found["dz"] == "wrong"


def test_a_recurrent_loop_that_overwrites_is_wrong(engine):
    _, found = standing(engine, RECURRENT, RECURRENT.solution.replace("dW += before", "dW = before"))

    assert found == {"dW": "wrong", "db": "right", "dh0": "right"}


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [
        ("dp = dq / p", "dp = dq / p ** 2", "dp:square-extra"),
        ("dp = dq / p", "dp = -dq / p", "dp:sign"),
        ("(dp - (p * dp).sum(1, keepdim=True))", "dp", "ds:average-missing"),
        ("dm = -ds.sum(1", "dm = -ds.sum(0", "dm:wrong-axis"),
    ],
)
def test_a_mistake_in_a_step_that_nobody_asked_for_is_found_there(engine, right, wrong, code):
    verdict = engine.check(SOFTMAX.task(require=("dz",)), SOFTMAX.solution.replace(right, wrong))

    assert named(verdict, "dz").code == f"dz:through:{code}"
    assert named(verdict, "dz").message.startswith(f"It starts at `{code[:2]}` in line ")


def test_a_gradient_zero_for_every_upstream_is_not_held_to_rounding(engine):
    code = SOFTMAX.solution.replace("dm = -ds.sum(1, keepdim=True)", "dm = -(ds @ torch.ones(V, 1))")

    verdict = engine.check(SOFTMAX.task(require=("dq", "dm")), code)

    assert verdict.passed, verdict
    assert "any rule for zero is right" in named(verdict, "dm").note


def test_given_gradients_are_in_scope_and_random(engine):
    verdict = engine.check(
        SOFTMAX.task(require=("dm", "dz"), given=("ds",)),
        "dm = -ds.sum(1, keepdim=True)\ndz = ds + F.one_hot(z.argmax(1), V) * dm",
    )

    assert verdict.passed, verdict
    assert all(one.approx for one in verdict.names)


def test_print_is_shown_once_from_the_visible_run(engine):
    verdict, _ = standing(engine, LINEAR, "print('seen', dY.shape)\n" + LINEAR.solution)

    assert verdict.printed == "seen torch.Size([6, 3])\n"


def test_float_calls_mean_the_precision_of_the_lesson(engine):
    for line in ("db = torch.ones(N).float() @ dY", "db = torch.ones(N, dtype=torch.float32) @ dY"):
        verdict, _ = standing(engine, LINEAR, replaced(LINEAR, 3, line))
        assert verdict.passed, line


def test_names_of_the_box_that_shadow_nothing_may_be_reused(engine):
    verdict, _ = standing(engine, LINEAR, "N = X.shape[0]\nt = dY\n" + LINEAR.solution)

    assert verdict.passed


def test_run_shows_shapes_and_values_without_a_verdict(engine):
    run = engine.run(LINEAR.task(), "dW = X.T @ dY\nk = 3\nprint('hi')")

    assert run.outcome == "graded"
    assert run.printed == "hi\n"
    assert {one.name: one.shape for one in run.shown} == {"dW": (4, 3), "k": ()}
    assert next(one for one in run.shown if one.name == "dW").rows


def test_run_shows_the_first_entries_and_a_map_of_all(engine):
    code = "dW = X.T @ dY\nbig = torch.arange(1000.).view(20, 50) - 30\nbig[0, 0] = float('nan')\nnone = X[:0]"
    shown = {one.name: one for one in engine.run(LINEAR.task(), code).shown}

    assert [len(row) for row in shown["dW"].rows] == [3, 3, 3, 3]
    assert shown["big"].rows[0][:3] == ("nan", "-29", "-28")
    assert (len(shown["big"].map), {len(row) for row in shown["big"].map}) == (20, {40})
    assert (shown["big"].map[0][0], shown["big"].map[0][1].isupper(), shown["big"].map[-1][-1]) == ("?", True, "l")
    assert shown["none"].rows == ()


def test_run_shows_what_an_expression_comes_to(engine):
    run = engine.run(LINEAR.task(), "dY.shape\nk = 3\nprint('hi')\nk + 1\ndY.sum(0)")

    assert [one.name for one in run.shown] == ["dY.shape", "k + 1", "dY.sum(0)", "k"]
    assert [one.text for one in run.shown[:2]] == ["torch.Size([6, 3])", "4"]
    assert run.printed == "hi\n"


def test_run_tells_an_error_at_its_line(engine):
    run = engine.run(LINEAR.task(), "k = 1\ndW = X @ dY")

    assert (run.outcome, run.line) == ("error", 2)


SIBLINGS = Box(
    "siblings",
    make_forward("siblings", "N: 5", "x: [N]; y: [N]; z: [N]", "L", "q = x * y\nr = q + z\nL = (r ** 2).sum()\n"),
    ("dr", "dq", "dz", "dx"),
    "dr = 2 * r\ndq = dr.clone()\ndz = dr.clone()\ndx = dq * y\n",
)
SHIFTED = Box(
    "shifted",
    make_forward(
        "shifted",
        "N: 6, D: 4",
        "x: [N, D]; b: [D]; w: [D]",
        "y",
        "h = x + b\nm = h.mean(0)\nc = h - m\ny = c * w\n",
    ),
    ("dc", "dw", "dm", "dh", "db"),
    "dc = dy * w\ndw = (dy * c).sum(0)\ndm = -dc.sum(0)\ndh = dc + dm / N\ndb = dh.sum(0)\n",
)


def test_a_gradient_that_equals_another_may_be_borrowed(engine):
    verdict, found = standing(engine, SIBLINGS, replaced(SIBLINGS, 3, "dz = dq"))

    assert verdict.passed, found
    assert found["dz"] == "right-other-road"
    assert "`dq`" in named(verdict, "dz").message
    assert standing(engine, SIBLINGS, replaced(SIBLINGS, 3, "dz = dq"), one_road="Why.")[1]["dz"] == "wrong"


def test_a_borrowed_gradient_that_is_zero_for_these_data_proves_nothing(engine):
    lines = SHIFTED.solution.splitlines()
    code = "\n".join([lines[0], *lines[2:], "dw = (dy * c).sum(0) + db"])

    assert standing(engine, SHIFTED, SHIFTED.solution)[0].passed
    assert standing(engine, SHIFTED, code)[1]["dw"] == "wrong"


def test_a_borrowed_gradient_with_other_numbers_is_the_wrong_upstream(engine):
    verdict, _ = standing(engine, SIBLINGS, replaced(SIBLINGS, 4, "dx = dz.abs() * y"))

    assert named(verdict, "dx").verdict == "wrong"


def test_an_error_on_the_lessons_own_sizes_only_is_blamed_on_its_own_line(engine):
    verdict, found = standing(engine, LINEAR, replaced(LINEAR, 3, "db = dY[6]"))

    assert (verdict.outcome, verdict.line) == ("error", 3)
    assert found == {"dX": "right", "dW": "right", "db": "wrong"}
    assert named(verdict, "db").code == "db:error:index"
    assert "further up" not in verdict.message


def test_a_shape_of_numbers_written_out_is_a_hard_coded_size(engine):
    verdict, _ = standing(engine, LINEAR, replaced(LINEAR, 3, "db = torch.tensor([1.0, 2.0, 3.0])"))

    assert named(verdict, "db").code == "db:size-hard-coded"


@pytest.mark.parametrize("line", ["db = dY.sum(0).long()", "db = dY.sum(0).round().long()"])
def test_a_tensor_of_integers_is_named_as_such(engine, line):
    verdict, _ = standing(engine, LINEAR, replaced(LINEAR, 3, line))

    assert named(verdict, "db").code == "db:dtype"


def test_a_factor_near_one_is_shown_with_its_digits(engine):
    code = replaced(LINEAR, 3, "grown = lambda g: g * (1 + 1e-4)\ndb = grown(dY.sum(0))")
    verdict, _ = standing(engine, LINEAR, code)

    assert "1.0001 times" in named(verdict, "db").message


def test_hidden_sizes_are_not_told(engine):
    verdict, _ = standing(engine, SIBLINGS, "dr = 3 * r\ndq = dr.clone()\ndz = dr.clone()\ndx = dq * y\n")
    assert not verdict.passed
    box = SHIFTED
    code = box.solution.replace("dc = dy * w", "dc = dy").replace("dm = -dc.sum(0)", "dm = -dc.mean(0)")

    verdict, _ = standing(engine, SHIFTED, code)

    assert named(verdict, "dm").code == "dm:mean"
    assert "times here" not in named(verdict, "dm").message
