"""Both sides of every predicate: what leaves one side out, or asks something else, never passes."""

from dataclasses import replace
from itertools import combinations

import pytest

from app.engine.grade.edges import NO_NUMBER, ON_EDGE
from app.engine.grade.engine import Engine
from app.engine.grade.facts_cache import FactsCache
from app.engine.grade.forward_references import ForwardReferences
from app.engine.grade.hidden_draws import HIDDEN
from app.engine.grade.hidden_pairs import more_pairs, one_sided_statements
from app.engine.grade.prepared_task import PreparedTask
from tests.grading.boxes.load import Box, OpenJail, make_forward

SIZES = ["N: 6, D: 4", "N: 2, D: 3", "N: 40, D: 64"]


def box(program, inputs, solution, require="dx", dims="N: 6, D: 4", output="y"):
    return Box("b", make_forward("f", dims, inputs, output, f"{program}\n"), tuple(require.split()), solution)


def passes(engine, one, code):
    return engine.check(one.task(grade="value"), code).passed


THRESHOLDS = [
    ("y = F.relu6(x)", "dx = dy * ((x > 0) & (x < 6))", "dx = dy * (x > 0)"),
    ("y = x.clamp(-3, 3)", "dx = dy * (x.abs() <= 3)", "dx = dy"),
    ("y = torch.where(x.abs() > 5, 0.0, x)", "dx = dy * (x.abs() <= 5)", "dx = dy"),
    ("y = F.threshold(x, -3.0, 0.0)", "dx = dy * (x > -3)", "dx = dy"),
    (
        "y = F.hardswish(x)",
        "dx = dy * torch.where(x < -3, 0.0, torch.where(x > 3, 1.0, (2 * x + 3) / 6))",
        "dx = dy * (2 * x + 3) / 6",
    ),
    (
        "y = F.hardswish(x)",
        "dx = dy * torch.where(x < -3, 0.0, torch.where(x > 3, 1.0, (2 * x + 3) / 6))",
        "dx = dy * torch.where(x < -3, 0.0, (2 * x + 3) / 6)",
    ),
    (
        "a = x.abs()\ny = torch.where(a < 4.0, 0.5 * x ** 2, 4.0 * (a - 2.0))",
        "dx = dy * torch.where(x.abs() < 4, x, 4 * x.sign())",
        "dx = dy * x",
    ),
    ("y = F.leaky_relu(x + 4, 0.1)", "dx = dy * torch.where(x > -4, 1.0, 0.1)", "dx = dy"),
    ("y = F.softshrink(x, 2.5)", "dx = dy * (x.abs() > 2.5)", "dx = 0 * dy"),
    ("y = F.hardtanh(x, -4, 4)", "dx = dy * (x.abs() < 4)", "dx = dy * (x < 4)"),
]


@pytest.mark.in_turn
@pytest.mark.parametrize("dims", SIZES)
@pytest.mark.parametrize(("program", "right", "wrong"), THRESHOLDS)
def test_a_gate_without_one_of_its_sides_is_refused(engine, program, right, wrong, dims):
    one = box(program, "x: [N, D]", right, dims=dims)

    assert passes(engine, one, right)
    assert not passes(engine, one, wrong)


LOSS = """e = p - t
ab = e.abs()
per = torch.where(ab <= 1.0, 0.5 * e ** 2, ab - 0.5)
y = per.mean()"""
HUBER = "dper = dy / N * torch.ones(N)\nde = dper * torch.where({gate}, e, e.sign())\ndp = de\n"
RATIO = """ratio = torch.exp(new - old)
first = ratio * adv
second = torch.clamp(ratio, 0.8, 1.2) * adv
per = torch.minimum(first, second)
y = -per.mean()"""
POLICY = """dper = -dy / N * torch.ones(N)
dfirst = dper * ((first < second) + 0.5 * (first == second))
dsecond = dper - dfirst
dratio = dfirst * adv + dsecond * adv * (ratio >= 0.8) * ({gate})
dnew = dratio * ratio
"""


@pytest.mark.in_turn
@pytest.mark.parametrize("size", [2, 3, 8, 32])
@pytest.mark.parametrize("gate", ["ab <= 1.5", "per <= 1.0", "ab <= 0.5", "e <= 1.0", "ab >= 0"])
def test_another_threshold_of_a_huber_loss_is_refused(engine, gate, size):
    one = box(LOSS, "p: [N]; t: [N]", HUBER.format(gate="ab <= 1.0"), "dper de dp", f"N: {size}")

    assert passes(engine, one, one.solution)
    assert not passes(engine, one, HUBER.format(gate=gate))


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("gate", ["adv < 1.2", "ratio < 1.5", "first < 1.2", "ratio >= 0", ""])
def test_another_gate_of_a_clipped_ratio_is_refused(engine, gate):
    inputs = "new: [N]; old: [N]; adv: [N]"
    one = box(RATIO, inputs, POLICY.format(gate="ratio <= 1.2"), "dper dfirst dsecond dratio dnew", "N: 8")
    wrong = one.solution.replace("dper - dfirst", "0 * dper") if not gate else POLICY.format(gate=gate)

    assert passes(engine, one, one.solution)
    assert not passes(engine, one, wrong)


def test_a_gate_of_one_number_is_not_forgotten(engine):
    code = "ds = (dy * x).sum()\ndn = -ds / n ** 2{gate}\ndx = dy * s + dn * x / n\n"
    program = "n = x.norm()\ns = torch.clamp(1.0 / n, max=1.0)\ny = x * s"
    one = box(program, "x: [D]", code.format(gate=" * (n > 1)"), "ds dn dx")

    assert passes(engine, one, one.solution)
    assert not passes(engine, one, code.format(gate=""))


@pytest.mark.parametrize("wrong", ["dx = torch.zeros_like(x)", "dx = dy", "dx = dy * (x > 0)"])
def test_the_larger_of_two_far_apart_is_each_of_them(engine, wrong):
    one = box("y = torch.maximum(x, z + 4)", "x: [D]; z: [D]", "dx = dy * (x > z + 4)")

    assert passes(engine, one, one.solution)
    assert not passes(engine, one, wrong)


GATES = [
    "dy", "0 * dy", "dy * ({a} > 0)", "dy * ({b} > 0)", "dy * ({a} < 0)", "dy * ({b} < 0)", "dy * ({a} + {b} > 0)",
    "dy * ({a} > {b})", "dy * ({a} < {b})", "dy * (({a} > 0) & ({b} > 0))", "dy * (({a} > 0) | ({b} > 0))",
    "dy * (s < 0)", "dy * (s > 1)", "dy * (s * s > 0)", "-dy * (s > 0)", "dy * (dy > 0)",
]  # fmt: skip
NAMES = [*combinations("abcdefgh", 2)][:16]
RARE = pytest.mark.prove


@pytest.mark.parametrize(("first", "second"), [NAMES[0], *(pytest.param(*one, marks=RARE) for one in NAMES[1:])])
def test_no_other_gate_of_a_single_number_passes(engine, first, second):
    code = "ds = {gate}\nd{a} = ds * {b}\nd{b} = ds * {a}\n"
    right = code.format(gate="dy * (s > 0)", a=first, b=second)
    require = f"ds d{first} d{second}"
    one = box(f"s = {first} * {second}\ny = torch.relu(s)", f"{first}: []; {second}: []", right, require)

    assert passes(engine, one, right)
    wrong = [code.format(gate=gate.format(a=first, b=second), a=first, b=second) for gate in GATES]
    assert [one_gate for one_gate, text in zip(GATES, wrong, strict=True) if passes(engine, one, text)] == []


MICROGRAD = """c1 = a + b
d1 = a * b + b ** 3
c2 = 2 * c1 + 1
c = 1 + 2 * c2 - a
r = torch.relu(b + a)
d2 = 3 * d1 + r
q = torch.relu(b - a)
d = 4 * d2 + q
e = c - d
f = e ** 2
y = f / 2.0 + 10.0 / f"""


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("gate", ["b - c > 0", "-a > 0", "b > 0", "b + a > 0", "q >= 0"])
def test_no_other_gate_passes_in_the_example_of_micrograd(engine, gate):
    rest = "dr = dd2\ndd1 = 3 * dd2\n"
    head = "df = dy * (0.5 - 10 / f ** 2)\nde = df * 2 * e\ndd = -de\ndc = de\ndd2 = 4 * dd\ndq = dd\n" + rest
    tail = "dc2 = 2 * dc\ndc1 = 2 * dc2\n"
    last = "da = dc1 + dd1 * b - dc + dr * (b + a > 0) - dq * ({gate})\n"
    require = "df de dd dc dd2 dq dr dd1 dc2 dc1 da"
    one = box(MICROGRAD, "a: []; b: []", head + tail + last.format(gate="b - a > 0"), require, "N: 2")

    assert passes(engine, one, one.solution)
    assert not passes(engine, one, head + tail + last.format(gate=gate))


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("dims", ["N: 32, D: 27", "N: 3, D: 8", "N: 64, D: 5"])
@pytest.mark.parametrize("program", ["y = x.max(1).values", "y = x.amax(1)", "y = 2 * x.max(1).values"])
def test_winners_as_one_hot_rows_need_the_number_of_classes(engine, program, dims):
    factor = 2 if "2" in program else 1
    right = f"dx = {factor} * F.one_hot(x.argmax(1), D) * dy[:, None]"
    one = box(program, "x: [N, D]", right, dims=dims)

    assert passes(engine, one, right)
    assert not passes(engine, one, right.replace(", D)", ")"))


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        ("y = F.relu(x)", "x: [N, D]"),
        ("y = F.relu(x - 1.5)", "x: [N, D]"),
        ("y = torch.where(m == 0, x, 2 * x)", "x: [N, D]; m: [N, D] mask"),
        ("y = (x - z).abs()", "x: [N, D]; z: [N, D]"),
        ("y = x.sign() * x ** 2", "x: [N, D]"),
        ("y = F.elu(x + 3)", "x: [N, D]"),
        ("y = torch.minimum(x, z - 3)", "x: [N, D]; z: [N, D]"),
        ("y = F.smooth_l1_loss(x, z, beta=3.0, reduction='none')", "x: [N, D]; z: [N, D]"),
    ],
)
def test_each_hidden_run_meets_both_sides(program, inputs):
    study = ForwardReferences(
        make_forward("f", "N: 6, D: 4", inputs, "y", f"{program}\n"), OpenJail(), FactsCache(None)
    )

    assert one_sided_statements(study) == ()
    assert all(one.below and one.above for asked in study.asked for one in asked), study.asked
    assert len(study.asked) == len(HIDDEN)


def test_data_that_meet_both_sides_are_drawn_as_usual():
    programs = ["y = torch.relu(x)", "y = x * 2", "y = torch.softmax(x, 1)", "y = F.normalize(x, dim=1)"]
    for program in programs:
        study = ForwardReferences(
            make_forward("f", "N: 6, D: 4", "x: [N, D]", "y", f"{program}\n"), OpenJail(), FactsCache(None)
        )

        assert [one.again for one in study.draws.values()] == [0, 0, 0]
        assert [one.spread for one in study.draws.values()] == [1.0, 1.0, 0.25]


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        ("y = F.threshold(x, -1e9, 0.0)", "x: [N, D]"),
        ("y = torch.relu(x)", "x: [N, D] positive"),
        ("k = t == -100\ny = torch.where(k, 0.0, x)", "x: [N]; t: [N] ints(D)"),
    ],
)
def test_a_side_that_no_draw_reaches_is_told_with_its_line(engine, program, inputs):
    told = engine.facts(make_forward("f", "N: 6, D: 4", inputs, "y", f"h = x * 2\n{program}\n")).one_sided

    assert [line for line, _ in told] == list(range(2, 2 + len(told)))


def test_a_program_of_many_numbers_is_looked_at_once():
    jail = OpenJail()
    study = ForwardReferences(
        make_forward("f", "N: 32, D: 64", "x: [N, D]", "y", "y = torch.relu(x)\n"), jail, FactsCache(None)
    )

    assert more_pairs(study) == ()
    assert len(jail.jobs) == 1


def test_predicates_are_seen_in_the_jail(jailed):
    one = box("s = a * b\ny = F.relu6(s)", "a: []; b: []", "ds = dy * ((s > 0) & (s < 6))", "ds")

    assert passes(jailed, one, one.solution)
    assert not passes(jailed, one, "ds = dy * (s > 0)")


CORNERS = [
    ("y = torch.relu(x)", "dx = dy * (x > 0)", "dx = dy * (x >= 0)", ON_EDGE),
    ("y = torch.relu(x)", "dx = dy * (x > 0)", "dx = dy * y / x", NO_NUMBER),
    ("y = x.abs()", "dx = dy * x.sign()", "dx = dy * torch.where(x > 0, 1.0, -1.0)", ON_EDGE),
    ("y = x.abs()", "dx = dy * x.sign()", "dx = dy * x / x.abs()", NO_NUMBER),
    ("y = x.clamp(-1, 1)", "dx = dy * (x.abs() <= 1)", "dx = dy * (x.abs() < 1)", ON_EDGE),
    (
        "y = F.leaky_relu(x, 0.1)",
        "dx = dy * torch.where(x > 0, 1, 0.1)",
        "dx = dy * torch.where(x >= 0, 1, 0.1)",
        ON_EDGE,
    ),
]


@pytest.mark.parametrize(("program", "right", "other", "remark"), CORNERS)
def test_another_slope_at_a_corner_is_right_with_a_remark(engine, program, right, other, remark):
    one = box(program, "x: [N, D]", right)
    usual, verdict = (engine.check(one.task(grade="value"), code) for code in (right, other))

    assert (usual.passed, usual.names[0].note) == (True, "")
    assert (verdict.passed, verdict.names[0].note) == (True, remark)


@pytest.mark.parametrize(
    ("program", "inputs", "right"),
    [("y = torch.relu(x)", "x: [N, D]", "dx = dy * (x > 0)"), ("y = torch.relu(x)", "x: []", "dx = dy * (x > 0)")],
)
def test_edge_numbers_and_further_pairs_are_judged_in_the_same_run(program, inputs, right):
    jail = OpenJail()
    engine, one = Engine(jail, None), box(program, inputs, right)
    engine.check(one.task(grade="value"), right)
    before = len(jail.jobs)

    assert passes(engine, one, f"{right}\n")
    assert len(jail.jobs) == before + 1


class Narrow(OpenJail):
    """A jail that ends whatever has more runs than those of the box alone."""

    def run(self, job):
        reply = super().run(job)
        return replace(reply, ending="timeout") if len(job.header["runs"]) > len(PreparedTask.runs) else reply


def test_a_right_text_is_not_refused_because_further_runs_were_slow():
    one = box("y = torch.relu(x)", "x: []", "dx = dy * (x > 0)")

    assert passes(Engine(Narrow(), None), one, one.solution)
    assert not passes(Engine(Narrow(), None), one, "dx = dy")


def test_a_solution_that_has_another_slope_itself_hears_nothing_of_it(engine):
    one = box("y = torch.relu(x)", "x: [N, D]", "dx = dy * (x >= 0)")

    assert engine.check(one.task(grade="value"), one.solution).names[0].note == ""
