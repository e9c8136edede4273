"""Lines that are right by a road of their own, and right lines that borrow from wrong ones: none is called wrong."""

from dataclasses import replace

import pytest

from app.content.blocks import Course, Grad
from app.engine.grade.engine import Engine
from app.engine.task import grad_task_of
from app.grading.judge.verdict import OTHER_ROAD
from tests.courses import LESSONS, course_in
from tests.grading.boxes.load import Box, OpenJail, make_forward

ROPE = Box(
    "rope",
    make_forward(
        "rope",
        "N: 5, H: 3",
        "x: [N, 2*H]; cos: [N, H]; sin: [N, H]",
        "y",
        "x1 = x[:, :H]\nx2 = x[:, H:]\ny1 = x1 * cos - x2 * sin\ny2 = x2 * cos + x1 * sin\ny = torch.cat((y1, y2), 1)",
    ),
    ("dy2", "dy1", "dx"),
    "dy1 = dy[:, :H]\ndy2 = dy[:, H:]\ndx = torch.cat((dy1 * cos + dy2 * sin, dy2 * cos - dy1 * sin), 1)\n",
)
LAYER_NORM = Box(
    "layernorm",
    make_forward(
        "layernorm",
        "N: 6, C: 4",
        "inp: [N, C]; weight: [C]; bias: [C]",
        "out",
        "u = inp.mean(-1, keepdim=True)\nxc = inp - u\nv = (xc ** 2).mean(-1, keepdim=True)\n"
        "rstd = (v + 1e-5) ** -0.5\nnorm = xc * rstd\nout = norm * weight + bias",
    ),
    ("dbias", "dweight", "dnorm", "dinp"),
    "dbias = dout.sum(0)\ndweight = (dout * norm).sum(0)\ndnorm = dout * weight\n"
    "dinp = rstd * (dnorm - dnorm.mean(-1, keepdim=True) - norm * (dnorm * norm).mean(-1, keepdim=True))\n",
)
RESIDUAL = Box(
    "residual",
    make_forward(
        "residual",
        "N: 5, C: 4, H: 6",
        "x: [N, C]; Wo: [C, C]; Wfc: [C, H]; Wp: [H, C]",
        "y",
        "o = x @ Wo\nh = o @ Wfc\na = torch.tanh(h)\np = a @ Wp\ny = o + p",
    ),
    ("dp", "da", "dh", "do", "dx"),
    "dp = dy\nda = dp @ Wp.T\ndh = da * (1 - a ** 2)\ndo = dy + dh @ Wfc.T\ndx = do @ Wo.T\n",
)
CROSS_ENTROPY = Box(
    "crossentropy",
    make_forward(
        "crossentropy",
        "N: 6, V: 5",
        "norm_logits: [N, V]; t: [N] ints(V)",
        "loss",
        "counts = norm_logits.exp()\ncounts_sum = counts.sum(1, keepdim=True)\nprobs = counts / counts_sum\n"
        "logprobs = probs.log()\nloss = -logprobs[range(N), t].mean()",
    ),
    ("dlogprobs", "dprobs", "dcounts_sum", "dcounts", "dnorm_logits"),
    "dlogprobs = torch.zeros_like(logprobs)\ndlogprobs[range(N), t] = -1 / N\ndprobs = dlogprobs / probs\n"
    "dcounts_sum = -(dprobs * counts / counts_sum ** 2).sum(1, keepdim=True)\n"
    "dcounts = dprobs / counts_sum + dcounts_sum\ndnorm_logits = dcounts * counts\n",
)
SMOOTHED = Box(
    "smoothed",
    make_forward(
        "smoothed",
        "N: 6, V: 5",
        "z: [N, V]; t: [N] ints(V)",
        "loss",
        "logp = F.log_softmax(z, 1)\nnll = -logp[range(N), t]\nflat = -logp.mean(1)\n"
        "loss = (0.9 * nll + 0.1 * flat).mean()",
    ),
    ("dnll", "dflat", "dlogp", "dz"),
    "dnll = torch.full_like(nll, 0.9 / N)\ndflat = torch.full_like(flat, 0.1 / N)\n"
    "dlogp = (-dflat / V)[:, None].repeat(1, V)\ndlogp[range(N), t] -= dnll\n"
    "dz = dlogp - logp.exp() * dlogp.sum(1, keepdim=True)\n",
)
SEQUENCE = Box(
    "sequence",
    make_forward(
        "sequence",
        "N: 4, T: 3, V: 5",
        "logits: [N, T, V]; y: [N, T] ints(V); m: [N, T]",
        "loss",
        "logp = F.log_softmax(logits, -1)\ntok = -logp.gather(-1, y[..., None])[..., 0]\nloss = (tok * m).sum() / N",
    ),
    ("dtok", "dlogp", "dlogits"),
    "dtok = m / N\ndlogp = torch.zeros_like(logp).scatter(-1, y[..., None], -dtok[..., None])\n"
    "dlogits = dlogp - logp.exp() * dlogp.sum(-1, keepdim=True)\n",
)
MIXTURE = Box(
    "mixture",
    make_forward(
        "mixture",
        "N: 6, K: 3",
        "x: [N]; pi: [K]; mu: [K]",
        "loss",
        "logpi = F.log_softmax(pi, 0)\nd = x[:, None] - mu\nlp = logpi - 0.5 * d ** 2\n"
        "lse = torch.logsumexp(lp, 1)\nloss = -lse.sum()",
    ),
    ("dlse", "dlp", "dlogpi", "dpi"),
    "dlse = -torch.ones_like(lse)\ndlp = dlse[:, None] * F.softmax(lp, 1)\ndlogpi = dlp.sum(0)\n"
    "dpi = dlogpi - logpi.exp() * dlogpi.sum()\n",
)
MACHINE = Box(
    "machine",
    make_forward(
        "machine",
        "N: 5, D: 4, K: 3",
        "X: [N, D]; w: [D]; V: [D, K]",
        "y",
        "xv = X @ V\nx2 = X ** 2\nv2 = V ** 2\ninter = 0.5 * (xv ** 2 - x2 @ v2).sum(1)\nlin = X @ w\ny = lin + inter",
    ),
    ("dlin", "dinter", "dxv", "dx2", "dX"),
    "dlin = dy\ndinter = dy.clone()\ndxv = dinter[:, None] * xv\n"
    "dx2 = -0.5 * dinter[:, None] * v2.sum(1)\ndX = dxv @ V.T + 2 * X * dx2 + dlin[:, None] * w\n",
)
LOGDET = Box(
    "logdet",
    make_forward("logdet", "N: 4", "A: [N, N]", "y", "S = A @ A.T + torch.eye(N)\ny = torch.logdet(S)"),
    ("dS", "dA"),
    "dS = torch.linalg.inv(S).T * dy\ndA = (dS + dS.T) @ A\n",
)

MIXED = (
    (ROPE, "dx = dy * torch.cat((cos, cos), 1) + torch.cat((dy2, -dy1), 1) * torch.cat((sin, sin), 1)"),
    (
        LAYER_NORM,
        "dinp = rstd * (dout * weight - dnorm.mean(-1, keepdim=True) - norm * (dnorm * norm).mean(-1, keepdim=True))",
    ),
    (
        LAYER_NORM,
        "dinp = rstd * (dnorm - dnorm.mean(-1, keepdim=True) - norm * (dout * weight * norm).mean(-1, keepdim=True))",
    ),
    (RESIDUAL, "dx = (dy + dh @ Wfc.T) @ Wo.T"),
    (CROSS_ENTROPY, "dnorm_logits = dlogprobs + probs / N"),
    (SMOOTHED, "dz = dlogp + logp.exp() / N"),
    (SEQUENCE, "dlogits = dlogp + logp.exp() * dtok[..., None]"),
    (MIXTURE, "dpi = dlogpi + N * logpi.exp()"),
    (MACHINE, "dX = dxv @ V.T + 2 * X * dx2 + dinter[:, None] * w"),
    (LOGDET, "dA = 2 * dS @ A"),
)


def with_line(box, line):
    """The solution of *box* with *line* in the place of the one that writes the same name."""
    name = line.split()[0]
    lines = box.solution.splitlines()
    at = max(at for at, one in enumerate(lines) if one.split()[0] == name)
    return "\n".join([*lines[:at], line, *lines[at + 1 :]])


def standing(engine, box, code, **options):
    verdict = engine.check(box.task(**options), code)
    return verdict, {one.name: one.verdict for one in verdict.names}


@pytest.mark.parametrize("box", {box.name: box for box, _ in MIXED}.values(), ids=lambda box: box.name)
def test_the_solution_passes(engine, box):
    assert set(standing(engine, box, box.solution)[1].values()) == {"right"}


@pytest.mark.parametrize(("box", "line"), MIXED, ids=lambda one: getattr(one, "name", None))
@pytest.mark.parametrize("grade", ["value", "rule"])
def test_a_line_of_several_roads_that_is_right_end_to_end_is_right(engine, box, line, grade):
    verdict, found = standing(engine, box, with_line(box, line), grade=grade)

    name = line.split()[0]
    assert verdict.passed, [one for one in verdict.names if one.name == name]
    assert found == dict.fromkeys(box.require, "right") | {name: "right-other-road"}


TRIPLET = Box(
    "triplet",
    make_forward(
        "triplet",
        "N: 6, D: 3",
        "a: [N, D]; p: [N, D]; n: [N, D]",
        "loss",
        "near = ((a - p) ** 2).sum(1)\nfar = ((a - n) ** 2).sum(1)\nhinge = torch.relu(near - far + 1.0)\n"
        "loss = hinge.mean()",
    ),
    ("dhinge", "dnear", "dfar", "da"),
    "dhinge = torch.ones_like(hinge) / N\ndnear = dhinge * (hinge > 0)\ndfar = -dnear\n"
    "da = 2 * (a - p) * dnear[:, None] + 2 * (a - n) * dfar[:, None]\n",
)
BATCH_NORM = Box(
    "batchnorm",
    make_forward(
        "batchnorm",
        "N: 6, D: 4",
        "x: [N, D]; gamma: [D]; beta: [D]",
        "out",
        "mu = x.mean(0)\nxc = x - mu\nvar = (xc ** 2).mean(0)\nistd = (var + 1e-5) ** -0.5\nxhat = xc * istd\n"
        "out = xhat * gamma + beta",
    ),
    ("dbeta", "dgamma", "dx"),
    "dbeta = dout.sum(0)\ndgamma = (dout * xhat).sum(0)\ndx = gamma * istd / N * (N * dout - dbeta - xhat * dgamma)\n",
)
SOLVED = Box(
    "solved",
    make_forward("solved", "N: 4", "A: [N, N]; b: [N]", "x", "x = torch.linalg.solve(A, b)"),
    ("db", "dA"),
    "db = torch.linalg.solve(A.T, dx)\ndA = -torch.outer(db, x)\n",
)
BORROWING = (
    (TRIPLET, "dnear = -dhinge * (hinge > 0)", {"dnear": "wrong", "dfar": "follows", "da": "follows"}),
    (TRIPLET, "dhinge = torch.ones_like(hinge)", dict.fromkeys(("dnear", "dfar", "da"), "follows")),
    (BATCH_NORM, "dbeta = dout.mean(0)", {"dbeta": "wrong", "dx": "follows"}),
    (BATCH_NORM, "dgamma = (dout * x).sum(0)", {"dgamma": "wrong", "dx": "follows"}),
    (SOLVED, "db = torch.linalg.solve(A, dx)", {"db": "wrong", "dA": "follows"}),
)


@pytest.mark.parametrize(("box", "line", "stands"), BORROWING, ids=lambda one: getattr(one, "name", None))
def test_a_right_line_follows_from_a_wrong_one_that_it_borrows_from(engine, box, line, stands):
    assert standing(engine, box, box.solution)[0].passed

    verdict, found = standing(engine, box, with_line(box, line))

    name = line.split()[0]
    assert found == dict.fromkeys(box.require, "right") | {name: "wrong"} | stands
    followers = [one for one in verdict.names if one.verdict == "follows"]
    assert all(f"`{name}`" in one.message or "`dnear`" in one.message for one in followers), followers


FUSED = (
    ("dx = -gamma * istd / N * (N * dout - dbeta - xhat * dgamma)", "dx:sign"),
    ("dx = gamma * istd / N * 2 * (N * dout - dbeta - xhat * dgamma)", "dx:doubled"),
)


@pytest.mark.parametrize(("line", "code"), FUSED)
def test_a_slip_in_a_line_that_borrows_is_named(engine, line, code):
    verdict, _ = standing(engine, BATCH_NORM, with_line(BATCH_NORM, line))

    assert [one.code for one in verdict.names if one.verdict == "wrong"] == [code]


TANH = Box(
    "tanh",
    make_forward("tanh", "N: 5, D: 3", "x: [N, D]; w: [D]", "y", "h = x * w\ny = torch.tanh(h)"),
    ("dh", "dx"),
    "dh = dy * (1 - y ** 2)\ndx = dh * w\n",
)
THROUGH = (
    "g = []\n{}\ng.append(dh)\ndx = g[0] * w",
    "g = []\n{}\ng.extend([dh])\ndx = g[-1] * w",
    "g = []\n{}\ng.insert(0, dh)\ndx = g[0] * w",
    "{}\ng = [dh]\ndx = g[0] * w",
    "{}\ng = (dh, 1)\ndx = g[0] * w",
    "g = []\n{}\ng += [dh]\ndx = g[0] * w",
    "g = {{}}\n{}\ng['h'] = dh\ndx = g['h'] * w",
    "grads = {{}}\n{}\ngrads.update(h=dh)\ndx = grads['h'] * w",
    "grads = {{}}\n{}\ngrads.update({{'h': dh}})\ndx = grads['h'] * w",
    "grads = {{}}\n{}\ngrads.setdefault('h', dh)\ndx = grads['h'] * w",
    "{}\ndef back(g):\n    return g * w\ndx = back(dh)",
    "{}\ng = []\nfor one in (dh,):\n    g.append(one * w)\ndx = g.pop()",
    "g = []\ndef keep(one):\n    g.append(one)\n{}\nkeep(dh)\ndx = g[0] * w",
)


@pytest.mark.parametrize("code", THROUGH)
def test_a_right_line_follows_through_whatever_carries_the_wrong_gradient(engine, code):
    assert standing(engine, TANH, code.format("dh = dy * (1 - y ** 2)"))[0].passed

    verdict, found = standing(engine, TANH, code.format("dh = dy * (1 - y)"))

    assert found == {"dh": "wrong", "dx": "follows"}
    assert verdict.names[1].word == "follows from dh"


LONG = Box(
    "long",
    make_forward("long", "N: 20_000", "x: [N]; w: []", "y", "y = x * w"),
    ("dw",),
    "dw = (dy * x).sum()\n",
)


def test_what_rounding_adds_up_to_in_a_loop_is_right(engine):
    code = "dw = torch.zeros(())\nfor one in dy * x * 1000:\n    dw = dw + one\ndw = dw / 1000"

    verdict, found = standing(engine, LONG, code)

    assert found == {"dw": "right"}, verdict
    assert verdict.passed


def test_a_right_line_follows_from_the_wrong_one_it_takes_from_a_list(engine):
    code = "g = []\ndh = dy * (1 - y)\ndw = dy.mean(0)\ng.append(dh)\ndx = g[0] * w"

    verdict, found = standing(engine, TANH, code, require=("dh", "dw", "dx"))

    assert found == {"dh": "wrong", "dw": "wrong", "dx": "follows"}
    assert {one.name: one.word for one in verdict.names}["dx"] == "follows from dh"


ADDED = Box(
    "added",
    make_forward("added", "N: 5, D: 3", "X: [N, D]; B: [D]; W: [D]", "a", "v = X + B\na = v + W"),
    ("dv", "dW", "dX", "dB"),
    "dv = da\ndW = da.sum(0)\ndX = dv\ndB = dv.sum(0)\n",
)


@pytest.mark.parametrize("line", ["dX = da", "dB = da.sum(0)", "dB = dW", "dW = dv.sum(0)"])
def test_of_what_is_the_same_thing_any_may_be_taken(engine, line):
    verdict, found = standing(engine, ADDED, with_line(ADDED, line), grade="rule")

    assert verdict.passed, verdict
    assert found[line.split()[0]] == "right-other-road"
    assert "Right end to end" in next(one.message for one in verdict.names if one.verdict != "right")


@pytest.fixture(scope="module")
def course():
    return course_in(LESSONS)


def task_in(course: Course, lesson: str, name: str):
    home = course.lesson(lesson)
    box = home.exercise(name)
    assert isinstance(box, Grad)
    return grad_task_of(home, box)


@pytest.mark.parametrize(
    ("lesson", "box", "code"),
    [
        ("entry-by-entry", "swish-backward", "ds = dy * x\ndx = dy * (s + x * s * (1 - s))"),
        ("copies-add-up", "row-subtract", "dA = dY\ndm = -dA.sum(0, True)"),
        ("ten-minutes", "fork-box", "db = a\nda = b + a\ndx = da * 2 * x + db"),
        ("forks-and-order", "fork-in-order", "db = a\nda = b + a\ndx = 2 * x * da + db"),
        ("local-times-upstream", "walk-backward", "dr = 2 * r\ndq = dr\ndz = dq\ndx = dz * y\ndy = dr * x"),
    ],
)
def test_a_textbook_formula_is_right_in_the_boxes_of_the_course(engine, course, lesson, box, code):
    verdict = engine.check(task_in(course, lesson, box), code)

    assert verdict.passed, verdict


def test_of_a_product_swapped_on_both_sides_each_line_is_told_its_own_side(engine, course):
    code = "dr = 2 * r\ndq = dr\ndz = dr\ndx = dq * x\ndy = dq * y"

    verdict = engine.check(task_in(course, "local-times-upstream", "walk-backward"), code)

    said = {one.name: one.message for one in verdict.names if one.verdict == "wrong"}
    assert {name: text.partition(": ")[2] for name, text in said.items()} == {
        "dx": "`q` moves `y` times as far as `x`.",
        "dy": "`q` moves `x` times as far as `y`.",
    }


@pytest.mark.parametrize(
    ("lesson", "box", "code"),
    [
        ("ten-minutes", "first-line", "dx = 3"),
        ("ten-minutes", "first-line", "dx = 3 * torch.ones(())"),
        ("entry-by-entry", "swish-backward", "ds = dy * x\ndx = dy * s"),
        ("copies-add-up", "row-subtract", "dA = dY\ndm = dA.sum(0, True)"),
    ],
)
def test_what_is_right_because_of_an_upstream_of_one_is_wrong(engine, course, lesson, box, code):
    assert not engine.check(task_in(course, lesson, box), code).passed


def test_a_box_that_says_why_refuses_another_road(engine):
    code = with_line(ADDED, "dB = dW")

    verdict, found = standing(engine, ADDED, code, grade="rule", one_road="The sum is what this is about.")

    assert found["dB"] == "wrong"
    assert verdict.names[-1].message == (
        "The values are right, but this box asks for the step from `dv` on its own. The sum is what this is about."
    )
    assert verdict.names[-1].code == f"dB:{OTHER_ROAD}"


SHIFTED = Box(
    "maxima",
    make_forward(
        "maxima",
        "N: 6, V: 5",
        "z: [N, V]; t: [N] ints(V)",
        "loss",
        "m = z.max(1, keepdim=True).values\ns = z - m\nlogp = F.log_softmax(s, 1)\nloss = -logp[range(N), t].mean()",
    ),
    ("ds", "dm", "dz"),
    "ds = (F.softmax(s, 1) - F.one_hot(t, V)) / N\ndm = -ds.sum(1, keepdim=True)\n"
    "dz = ds + F.one_hot(z.argmax(1), V) * dm\n",
)


def test_a_share_that_is_zero_by_nature_may_not_be_left_out(engine):
    verdict, found = standing(engine, SHIFTED, with_line(SHIFTED, "dz = ds"))

    assert found == {"ds": "right", "dm": "right", "dz": "wrong"}
    told = verdict.names[-1]
    assert told.code == "dz:share-missing:m"
    assert told.message.endswith(
        "For this loss that share comes to zero, so autograd's numbers are the same; for another it does not."
    )


def test_a_gradient_is_not_taken_for_one_that_differs_by_a_zero_share(engine):
    box = Box(
        "below",
        make_forward(
            "below",
            "N: 6, V: 5, D: 3",
            "h: [N, D]; W: [D, V]; t: [N] ints(V)",
            "loss",
            "z = h @ W\n" + SHIFTED.forward.source,
        ),
        (*SHIFTED.require, "dh"),
        SHIFTED.solution + "dh = dz @ W.T\n",
    )

    assert standing(engine, box, box.solution)[0].passed
    assert standing(engine, box, with_line(box, "dh = ds @ W.T"))[1]["dh"] == "wrong"


@pytest.mark.parametrize(
    ("box", "slips"),
    [
        (CROSS_ENTROPY, ("dprobs = -dlogprobs / probs", "dnorm_logits = dcounts * probs")),
        (SHIFTED, ("dm = ds.sum(1, keepdim=True)",)),
    ],
    ids=["two slips", "zero by nature"],
)
def test_a_wrong_line_of_no_road_is_told_without_a_second_run(box, slips):
    jail, wrong = OpenJail(), box
    for slip in slips:
        wrong = replace(wrong, solution=with_line(wrong, slip))

    found = standing(Engine(jail, None), box, wrong.solution)[1]

    assert [name for name, verdict in found.items() if verdict == "wrong"] == [slip.split()[0] for slip in slips]
    assert len([job for job in jail.jobs if job.driver == "attempt"]) == 1


def test_the_road_of_the_author_is_no_other_road(engine):
    echo = Box(
        "echo",
        make_forward("echo", "B: 8, H: 7", "a: [B, H]; h: [B, H]; W: [H, H]", "y", "y = torch.tanh(a + h @ W)\n"),
        ("da", "dh"),
        "da = dy * (1 - y ** 2)\ndh = da @ W.T\n",
    )
    verdict = engine.check(echo.task(), echo.solution)
    other = engine.check(echo.task(), "da = dy * (1 - y ** 2)\ndh = (dy * (1 - y ** 2)) @ W.T\n")

    assert verdict.passed
    assert other.passed
    assert {(one.word, one.message) for one in verdict.names} <= {("", ""), ("right", "")}


def test_a_loss_that_is_not_read_is_no_upstream(engine):
    loss = Box("half", make_forward("half", "N: 5", "x: [N]", "L", "L = (x * x).sum() / 2\n"), ("dx",), "dx = x\n")
    line = Box("twice", make_forward("twice", "N: 5", "x: [N]", "y", "y = 2 * x\n"), ("dx",), "dx = 2 * dy\n")

    assert not engine.check(loss.task(), loss.solution).any_upstream
    assert engine.check(line.task(), line.solution).any_upstream
