"""Python has many ways to write a gradient; in each of them the right one passes and the wrong one has its name."""

import pytest

from tests.engine.grade.test_catalogue import BOXES, QUIET
from tests.grading.boxes.load import OpenJail

FORMS = {
    "augmented": ("fork", "dh = da @ A.T\ndh += db @ B.T", "dh = da @ A.T\ndh -= db @ B.T", "dh:share-sign:b"),
    "augmented product": ("linear", "db = dY.sum(0)\ndb *= 1", "db = dY.sum(0)\ndb *= 2", "db:doubled"),
    "subscript": (
        "picked",
        "dq = torch.zeros(N, V)\ndq[range(N), t] = -1 / N",
        "dq = torch.zeros(N, V)\ndq[range(N), t] = 1 / N",
        "dq:sign",
    ),
    "augmented subscript": (
        "picked",
        "dq = torch.zeros_like(q)\ndq[range(N), t] -= 1 / N",
        "dq = torch.zeros_like(q)\ndq[range(N), t] += 1 / N",
        "dq:sign",
    ),
    "slices": (
        "linear",
        "db = torch.zeros_like(b)\ndb[:1] = dY[:, :1].sum(0)\ndb[1:] = dY[:, 1:].sum(0)",
        "db = torch.zeros_like(b)\ndb[:1] = dY[:, :1].sum(0)",
        "db:slice-missing",
    ),
    "index_add_": (
        "tied",
        "dE = dz.T @ h\ndE.index_add_(0, ix, de)",
        "dE = dz.T @ h\ndE.index_copy_(0, ix, de)",
        "dE:overwritten:e",
    ),
    "scatter_add_": (
        "picked",
        "dq = torch.zeros_like(q).scatter_add_(1, t[:, None], torch.full((N, 1), -1 / N))",
        "dq = torch.zeros_like(q).scatter_add_(1, t[:, None], torch.full((N, 1), -1.0))",
        "dq:factor:N",
    ),
    "scatter_": (
        "picked",
        "dq = torch.zeros_like(q)\ndq.scatter_(1, t[:, None], -1 / N)",
        "dq = torch.zeros_like(q)\ndq.scatter_(1, t[:, None], -1 / V)",
        "dq:factor:N/V",
    ),
    "index_put_": (
        "picked",
        "dq = torch.zeros_like(q).index_put_((torch.arange(N), t), torch.tensor(-1 / N))",
        "dq = torch.zeros_like(q).index_put_((torch.arange(N), t), torch.tensor(1 / N))",
        "dq:sign",
    ),
    "addmm_": (
        "fork",
        "dh = torch.zeros_like(h).addmm_(da, A.T)\ndh.addmm_(db, B.T)",
        "dh = torch.zeros_like(h).addmm_(da, A.T)\ndh.addmm_(da, B.T)",
        "dh:wrong-upstream:da",
    ),
    "add_ and mul_": (
        "linear",
        "db = torch.zeros_like(b)\ndb.add_(dY.sum(0))",
        "db = torch.zeros_like(b)\ndb.add_(dY.sum(0)).mul_(-1)",
        "db:sign",
    ),
    "tuple targets": (
        "linear",
        "dW, db = X.T @ dY, dY.sum(0)",
        "dW, db = X.T @ dY, dY.mean(0)",
        "db:mean",
    ),
    "names on one line": ("linear", "dW = X.T @ dY; db = dY.sum(0)", "dW = X.T @ dY; db = dY.mean(0)", "db:mean"),
    "a loop over examples": (
        "linear",
        "db = torch.zeros_like(b)\nfor n in range(N):\n    db += dY[n]",
        "db = torch.zeros_like(b)\nfor n in range(N):\n    db = dY[n]",
        "db:one-slice",
    ),
    "a loop that stops early": (
        "linear",
        "dW = torch.zeros_like(W)\nfor n in range(N):\n    dW += torch.outer(X[n], dY[n])",
        "dW = torch.zeros_like(W)\nfor n in range(N - 1):\n    dW += torch.outer(X[n], dY[n])",
        "dW:slice-missing",
    ),
    "a comprehension": (
        "linear",
        "db = sum(row for row in dY)",
        "db = sum(row for row in dY) / len(dY)",
        "db:mean",
    ),
    "a helper function": (
        "chain",
        "def slope(y):\n    return 1 - y ** 2\ndx = dh * slope(h)",
        "def slope(y):\n    return 1 - y\ndx = dh * slope(h)",
        "dx:square-missing",
    ),
    "a lambda": (
        "chain",
        "slope = lambda y: 1 - y ** 2\ndx = dh * slope(h)",
        "slope = lambda y: 1 + y ** 2\ndx = dh * slope(h)",
        "dx:minus-missing",
    ),
    "a helper that fills a buffer": (
        "linear",
        "def fill(total, rows):\n    for row in rows:\n        total.add_(row)\ndb = torch.zeros_like(b)\nfill(db, dY)",
        "def fill(total, rows):\n    for row in rows:\n        total.sub_(row)\ndb = torch.zeros_like(b)\nfill(db, dY)",
        "db:sign",
    ),
    "a name of the learner's own": (
        "chain",
        "slope = 1 - h ** 2\ndx = dh * slope",
        "slope = 1 - x ** 2\ndx = dh * slope",
        "dx:input-for-output",
    ),
    "a view of a buffer": (
        "classes",
        "dC = torch.zeros_like(C)\nrows = dC.view(V, D)\nrows.index_add_(0, ix.view(-1), de.reshape(-1, D))",
        "dC = torch.zeros_like(C)\nrows = dC.view(V, D)\nrows[ix.view(-1)] = de.reshape(-1, D)",
        "dC:scatter-overwrite",
    ),
    "a skipped step": (
        "chain",
        "dx = dt * s * (1 - h ** 2)",
        "dx = dt * s * (1 - x ** 2)",
        "dx:input-for-output",
    ),
    "a fused formula": (
        "normed",
        "dx = g * r / N * (N * dy - dy.sum(0) - N / (N - 1) * u * (dy * u).sum(0))",
        "dx = g * r / N * (N * dy - dy.sum(0) - u * (dy * u).sum(0))",
        "dx:share-factor:v:bessel",
    ),
}


def filled(name, lines):
    """The right lines of the program, with *lines* in the place of those that write the same names."""
    from tests.engine.grade.test_catalogue import Row, submission

    box, written = BOXES[FORMS[name][0]], FORMS[name][3].split(":")[0]
    return box, submission(Row(number=0, program=box.name, lines=lines, code=f"{written}:x", words=()))


@pytest.mark.parametrize("name", FORMS)
def test_a_right_gradient_passes_in_every_form(engine, name):
    box, code = filled(name, FORMS[name][1])

    verdict = engine.check(box.task(grade="value"), code)

    assert verdict.passed, [one for one in verdict.names if one.verdict in {"wrong", "not-yet"}] or verdict


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("name", FORMS)
def test_a_wrong_gradient_has_its_name_in_every_form(engine, name):
    box, code = filled(name, FORMS[name][2])

    verdict = engine.check(box.task(grade="value"), code)

    faults = {one.name: one.code for one in verdict.names if one.verdict not in QUIET}
    assert faults == {FORMS[name][3].split(":")[0]: FORMS[name][3]}


def test_a_right_submission_asks_for_no_diagnosis(engine, monkeypatch):
    asked = []
    monkeypatch.setattr("app.engine.grade.tape_queries.diagnose", lambda case: asked.append(case))
    monkeypatch.setattr("app.engine.grade.tape_queries.describe_unrecognised", lambda case: asked.append(case))
    for box in BOXES.values():
        engine.check(box.task(grade="value"), box.solution)
    jobs = []
    monkeypatch.setattr(OpenJail, "run", lambda self, job, run=OpenJail.run: jobs.append(job) or run(self, job))

    passed = [engine.check(box.task(grade="value"), box.solution).passed for box in BOXES.values()]

    assert all(passed)
    assert asked == []
    # One run each, and one more for what has a corner: there a slope is looked at where data seldom stand.
    drivers = [job.driver for job in jobs]
    assert set(drivers) == {"attempt"}
    assert len(BOXES) <= len(drivers) <= len(BOXES) * 2
