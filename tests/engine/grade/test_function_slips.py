"""Slips in the functions and classes of the course: the line is named, and what stands there."""

import time

import pytest

from app.content.blocks import FunctionBox
from app.engine.grade.slip_search import SlipSearch
from app.grading.judge.slips.slip import PHRASES, Slip
from app.syntax import parse_code
from tests.courses import LESSONS, course_in

BOXES = {
    name: one
    for lesson in course_in(LESSONS).lessons
    for one in lesson.exercises
    if isinstance(one, FunctionBox)
    for name in (one.name, f"{lesson.name}/{one.name}")
}
SELF, OTHER = "            self.grad += other.data * out.grad\n", "            other.grad += self.data * out.grad\n"
GATES = SELF + OTHER
BY_ENTROPY = "F.cross_entropy(logits, Y)"
STACK = "".join(BOXES["value-backward"].solution.source.partition("        order, seen, stack")[1:])
RECURSIVE = """\
        order, seen = [], set()

        def visit(node):
            if node not in seen:
                seen.add(node)
                for child in node.made_from:
                    visit(child)
                order.append(node)

        visit(self)
        for node in order:
            if node.made_from:
                node.grad = 0.0
        self.grad = 1.0
        for node in reversed(order):
            node._backward()
"""
CLEARING = "        for one in p:\n            one.grad = 0.0\n"
SLIPS = {
    "the Value for its number": (
        "value-gates",
        (GATES, "            self.grad += other * out.grad\n            other.grad += self * out.grad\n"),
        24,
        "`other` is a `Value`, and a number belongs there: the number that it holds is `other.data`.",
    ),
    "the Value in one line": ("value-gates", ("other.data * out.grad", "out.grad * other"), 24, "`other` is a `Value`"),
    "assigned": (
        "value-gates",
        (GATES, GATES.replace("+=", "=")),
        24,
        "`self.grad = …` writes over the share that came before. Shares add up: `+=`.",
    ),
    "plus behind": ("value-gates", (GATES, GATES.replace("+=", "=+")), 24, "`=+` puts a plus in front"),
    "a grad of its own": (
        "value-gates",
        (GATES, GATES.replace("out.grad", "grad")),
        24,
        "There is no `grad` of its own here. What comes back is kept by the result: `out.grad`.",
    ),
    "returned": (
        "value-gates",
        (GATES, "            return other.data * out.grad, self.data * out.grad\n"),
        24,
        "What `_backward` returns, nothing takes.",
    ),
    "swapped": (
        "value-gates",
        (GATES, GATES.replace("other.data", "X").replace("self.data", "other.data").replace("X", "self.data")),
        24,
        "The two shares stand the wrong way round: what goes to `self` belongs to `other`",
    ),
    "dedented": ("value-gates", (OTHER, OTHER[4:]), 25, "This line stands outside of `_backward`."),
    "all dedented": (
        "value-gates",
        (GATES, f"            pass\n{SELF[4:]}{OTHER[4:]}"),
        25,
        "This line stands outside of `_backward`.",
    ),
    "empty": ("value-gates", (GATES, "            pass\n"), 24, "`_backward` of `__mul__` is still empty"),
    "one share": ("value-gates", (OTHER, ""), 24, "`_backward` of `__mul__` adds nothing to `other.grad`"),
    "no upstream": (
        "value-gates",
        (GATES, GATES.replace(" * out.grad", "")),
        24,
        "`other.data` is the local derivative alone. It is multiplied by what comes back.",
    ),
    "called early": (
        "value-gates",
        (GATES + "\n        out._backward = _backward\n", GATES + "\n        out._backward = _backward()\n"),
        27,
        "`_backward()` with parentheses calls it now",
    ),
    "two slips": (
        "value-gates",
        (GATES, "            self.grad = other * out.grad\n            other.grad = self * out.grad\n"),
        24,
        "`other` is a `Value`",
    ),
    "from the front": (
        "value-backward",
        (STACK, RECURSIVE.replace("reversed(order)", "order")),
        51,
        "This loop walks `order` from its beginning, and so from the inputs.",
    ),
    "turned round twice": (
        "value-backward",
        (STACK, RECURSIVE.replace("        visit(self)\n", "        visit(self)\n        order.reverse()\n")),
        52,
        "`order` is turned round once too often",
    ),
    "reversed, and thrown away": (
        "value-backward",
        (
            STACK,
            RECURSIVE.replace("        self.grad = 1.0", "        reversed(order)\n        self.grad = 1.0").replace(
                "in reversed(order)", "in order"
            ),
        ),
        50,
        "`reversed(order)` makes something new and changes nothing",
    ),
    "never seen": (
        "value-backward",
        (
            STACK,
            RECURSIVE.replace("if node not in seen:", "if True:").replace("                seen.add(node)\n", ""),
        ),
        39,
        "`visit` visits a node again at every path that leads there",
    ),
    "never added": (
        "value-backward",
        (STACK, RECURSIVE.replace("                seen.add(node)\n", "")),
        40,
        "`visit` asks whether a node is in `seen`, and no line ever puts one in.",
    ),
    "appended early": (
        "value-backward",
        (
            STACK,
            RECURSIVE.replace("                order.append(node)\n", "").replace(
                "                seen.add(node)\n",
                "                seen.add(node)\n                order.append(node)\n",
            ),
        ),
        42,
        "`visit` puts a node into the list before what it was made from.",
    ),
    "no beginning": (
        "value-more",
        (STACK, RECURSIVE.replace("        self.grad = 1.0\n", "")),
        50,
        "Nothing gives the result itself its gradient. It is 1",
    ),
    "cleared again": (
        "value-more",
        (
            STACK,
            RECURSIVE.replace("        self.grad = 1.0\n", "").replace(
                "        for node in order:", "        self.grad = 1.0\n        for node in order:"
            ),
        ),
        47,
        "The gradient of the result is set here, and a loop further down clears it again.",
    ),
    "named and not called": (
        "value-backward",
        (STACK, RECURSIVE.replace("node._backward()", "node._backward")),
        52,
        "`node._backward` names the function and does not call it: `node._backward()`.",
    ),
    "thrown away": (
        "unbroadcast",
        ("g = g.sum(0)", "g.sum(0)"),
        3,
        "`g.sum(0)` makes something new and changes nothing: its result is kept nowhere. Give it a name, `g = …`.",
    ),
    "thrown away in two lines": (
        "unbroadcast",
        (
            "g = g.sum(0)\n    for axis, size in enumerate(shape):\n        if size == 1:\n            g = g.sum(axis",
            "g.sum(0)\n    for axis, size in enumerate(shape):\n        if size == 1:\n            g.sum(axis",
        ),
        3,
        "`g.sum(0)` makes something new and changes nothing: its result is kept nowhere.",
    ),
    "the sum of Python": (
        "unbroadcast",
        ("g.sum(axis, keepdim=True)", "sum(g, axis, keepdim=True)"),
        6,
        "This `sum` is Python's own",
    ),
    "the own gradient for what comes back": (
        "value-gates",
        (
            GATES,
            "            self.grad += other.data * self.grad\n            other.grad += self.data * other.grad\n",
        ),
        24,
        "`self.grad` is not what comes back. That is kept by the result, and is its gradient: `out.grad`.",
    ),
    "the value of the result for its gradient": (
        "value-gates",
        (GATES, GATES.replace("out.grad", "out.data")),
        24,
        "`out.data` is not what comes back.",
    ),
    "a gradient for a number": (
        "value-gates",
        (
            GATES,
            "            self.grad += other.grad * out.grad\n            other.grad += self.grad * out.grad\n",
        ),
        24,
        "`other.grad` is what has come back to `other` so far.",
    ),
    "divided": (
        "value-gates",
        (
            GATES,
            (
                "            other.grad += out.data / other.data * out.grad\n"
                "            self.grad += out.data / self.data * out.grad\n"
            ),
        ),
        24,
        "`out.data / other.data` has no answer where `other.data` is 0.",
    ),
    "stored together": (
        "value-gates",
        (
            GATES,
            (
                "            self.grad, other.grad = "
                "self.grad + other.data * out.grad, other.grad + self.data * out.grad\n"
            ),
        ),
        24,
        "Both sums on the right are made before either is stored.",
    ),
    "begun anew at each input": (
        "value-backward",
        (
            STACK,
            (
                "        self.grad = 1.0\n        self._backward()\n"
                "        for m in self.made_from:\n            m.backward()\n"
            ),
        ),
        40,
        "`m.backward()` begins a pass of its own: it sets that gradient to 1 again",
    ),
    "the whole pass for one share": (
        "value-backward",
        (STACK, RECURSIVE.replace("node._backward()", "node.backward()")),
        52,
        "`node.backward()` begins the whole pass again, without end.",
    ),
    "one list for all calls": (
        "topological-sort",
        (
            BOXES["topological-sort"].solution.source,
            (
                "def topological_sort(graph, root, order=[]):\n    if root not in order:\n"
                "        for m in graph[root]:\n            topological_sort(graph, m, order)\n"
                "        order.append(root)\n    return order\n"
            ),
        ),
        1,
        "`order=[]` is made once, when the function is defined, and not at each call",
    ),
    "another form without what comes back": (
        "value-more",
        ("out.data * out.grad", "math.exp(self.data)"),
        66,
        "`math.exp(self.data)` is the local derivative alone. It is multiplied by what comes back.",
    ),
    "a condition without what comes back": (
        "value-more",
        ("(self.data > 0) * out.grad", "1 if out.data > 0 else 0"),
        93,
        "`1 if out.data > 0 else 0` is the local derivative alone.",
    ),
    "a difference without brackets": (
        "value-more",
        ("(1 - out.data ** 2) * out.grad", "1 - out.data ** 2 * out.grad"),
        84,
        "The product `out.data ** 2 * out.grad` is made before the `-`.",
    ),
    "an exponent without brackets": (
        "value-more",
        ("self.data ** (exponent - 1) * out.grad", "self.data ** exponent - 1 * out.grad"),
        57,
        "The product `1 * out.grad` is made before the `-`.",
    ),
    "math for a method": (
        "softmax-nll",
        ("[one.exp() for one in z]", "[math.exp(one) for one in z]"),
        117,
        "`math.exp` takes a plain number and gives one",
    ),
    "math for two methods": (
        "softmax-nll",
        (
            (
                "    counts = [one.exp() for one in z]\n    total = sum(counts, Value(0.0))\n"
                "    loss = -(counts[label] / total).log()\n"
            ),
            (
                "    counts = [math.exp(one) for one in z]\n    total = sum(counts)\n"
                "    loss = -math.log(counts[label] / total)\n"
            ),
        ),
        117,
        "`math.exp` takes a plain number and gives one",
    ),
    "no pass": ("softmax-nll", ("    loss.backward()\n", ""), 120, "No line begins a backward pass"),
    "no pass in a training": ("xor-net", ("        loss.backward()\n", ""), 127, "No line begins a backward pass"),
    "cleared late": (
        "xor-net",
        (CLEARING + "        loss.backward()\n", "        loss.backward()\n" + CLEARING),
        126,
        "The gradients are cleared here, after `loss.backward()` has brought them",
    ),
    "returned in the first round": (
        "xor-net",
        ("\n    return loss.data", "\n        return loss.data"),
        130,
        "This `return` stands inside of the loop, and so ends it in its first round.",
    ),
    "the Value of the loss": (
        "xor-net",
        ("return loss.data", "return loss"),
        130,
        "`loss` is a `Value`, and a number belongs there",
    ),
    "input for output": (
        "value-more",
        ("out.data * out.grad", "self.data * out.grad"),
        66,
        "All fits here but for `self.data`: something else belongs there.",
    ),
    "a sign inside of what is averaged": ("newton", ("(s * -y * x)", "(s * y * x)"), 4, "the sign of `y`."),
    "a number inside of a root": ("adam", ("0.999 ** t", "0.99 ** t"), 5, "All fits here but for the number `0.99`."),
}
BPTT = """\
        dWx += X[:, t].T @ dz
        dWh += hs[t].T @ dz
"""
UPDATES = """\
        Wo -= 0.3 * (h.T @ dscores)
        Wx -= 0.3 * dWx
        Wh -= 0.3 * dWh
        b -= 0.3 * db
"""
REBOUND = """\
        for p, d in zip([Wo, Wx, Wh, b], [h.T @ dscores, dWx, dWh, db]):
            p = p - 0.3 * d
"""
PROBES = """\
        old = flat[i].item()
        flat[i] = old + h
        up = f(x)
        flat[i] = old - h
        down = f(x)
        flat[i] = old
"""
UNBROADCAST = """\
        g = g.sum(0)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.sum(axis, keepdim=True)
"""
NAMED = {
    "the axis not kept": (
        "unbroadcast",
        (UNBROADCAST, UNBROADCAST.replace("g = g.sum(0)", "g.sum(0)").replace(", keepdim=True", "")),
        "`g.sum(axis)` takes the axis away, and here it has to stay, with size 1.",
    ),
    "scores for probabilities": (
        "sample-a-name",
        ("torch.softmax(scores_of(context), 0)", "scores_of(context)"),
        "`scores_of(context)` gives scores",
    ),
    "a window that grows": ("sample-a-name", ("context[1:]", "context"), "`context` is taken whole, and only a part"),
    "a text for a number": ("sample-a-name", ("symbol == 0", "symbol == '.'"), "`'.'` in quotes is a text"),
    "arguments exchanged": (
        "split-loss",
        ("logits, Y", "Y, logits"),
        "the two arguments have changed places: `cross_entropy` takes `logits` first.",
    ),
    "sides exchanged": ("bptt", ("hs[t].T @ dz", "dz @ hs[t].T"), "the two sides of the `@` have changed places."),
    "replaced for added": (
        "bptt",
        ("dWh += hs[t].T @ dz", "dWh = hs[t].T @ dz"),
        "`dWh = …` replaces what `dWh` held before.",
    ),
    "a second value at x": (
        "num-grad",
        (PROBES, "        flat[i] += h\n        up = f(x)\n        flat[i] -= h\n        down = f(x)\n"),
        "The second value belongs to `x` itself and not to `x - h`",
    ),
    "no two and no mean": ("times-table", ("2 * (y - Y) / Y.numel()", "y - Y"), "Both are missing in `dy`."),
    "divided by rows": ("times-table", ("/ Y.numel()", "/ len(Y)"), "`len(Y)` counts the rows alone."),
    "both uphill": (
        "times-table",
        ("u - rate * du, v - rate * dv", "u + rate * du, v + rate * dv"),
        "The steps go uphill: `u` and `v` move",
    ),
    "no root and no epsilon": (
        "split-loss",
        ("* (variance + 1e-5) ** -0.5", "/ variance"),
        "Two things are missing in what is divided by",
    ),
    "two lines replaced for added": (
        "bptt",
        (BPTT, BPTT.replace("dWx +=", "dWx =").replace("dWh +=", "dWh =")),
        "`dWx = …` replaces what `dWx` held before.",
    ),
    "a whole for a part": (
        "one-weight-many-steps/remember",
        ("dH[:, -1] = dscores @ Wo.T", "dH = dscores @ Wo.T"),
        "`dH = …` replaces all of `dH`. Only a part of it is written here: brackets behind the name say which.",
    ),
    "a parameter of a loop": (
        "one-weight-many-steps/remember",
        (UPDATES, REBOUND),
        "`p = p - 0.3 * d` makes a new tensor and calls it `p`, and what the loop runs over stays as it was.",
    ),
    "no brackets around the run": (
        "num-grad",
        ("/ (2 * h)", "/ 2 * h"),
        "`/ 2 * h` divides by `2` alone and then multiplies by `h`.",
    ),
    "the first axis": (
        "bptt",
        ("dH[:, t]", "dH[t]"),
        "`dH[t]` picks along the first axis, and `t` counts along another",
    ),
    "sum of all": (
        "split-loss",
        (BY_ENTROPY, "-torch.log_softmax(logits, 1)[range(len(Y)), Y].sum()"),
        "adds up where an",
    ),
    "columns": ("split-loss", (BY_ENTROPY, "-torch.softmax(logits, 1)[:, Y].log().mean()"), "picks whole columns"),
    "turned round": ("momentum", ("p - rate * v, v", "v, p - rate * v"), "have changed places"),
    "old velocity back": (
        "momentum",
        ("v = keep * v + g\n    return p - rate * v, v", "return p - rate * (keep * v + g), v"),
        "The old velocity is returned",
    ),
    "rate and keep exchanged": (
        "momentum",
        ("v = keep * v + g\n    return p - rate * v, v", "v = rate * v + g\n    return p - keep * v, v"),
        "`rate` and `keep` have changed places",
    ),
    "rate in the velocity": (
        "momentum",
        ("v = keep * v + g\n    return p - rate * v, v", "v = keep * v + rate * g\n    return p - v, v"),
        "The rate is inside of the velocity here.",
    ),
    "velocity downhill": (
        "momentum",
        ("v = keep * v + g\n    return p - rate * v, v", "v = keep * v - g\n    return p + rate * v, v"),
        "The velocity points downhill here.",
    ),
    "numpy's word": ("calibrate", ("keepdim=True)\n", "keepdim=True, ddof=1)\n"), "is `correction` here"),
    "no tanh": (
        "bptt",
        ("torch.tanh(X[:, t] @ Wx + hs[-1] @ Wh + b)", "X[:, t] @ Wx + hs[-1] @ Wh + b"),
        "a function of it",
    ),
}


def changed(box: str, before: str, after: str) -> str:
    code = BOXES[box].solution.source
    assert before in code
    return code.replace(before, after, 1)


def first_fault(jailed, box, code):
    verdict = jailed.check(BOXES[box], code)
    wrong = [one for one in verdict.names if one.verdict == "wrong"]
    return wrong[0] if wrong else verdict


@pytest.mark.in_turn
@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_of_a_beginner_is_named_with_its_line(jailed, name) -> None:
    box, edit, line, begins = SLIPS[name]

    fault = first_fault(jailed, box, changed(box, *edit))

    assert begins in fault.message
    assert fault.line == line


@pytest.mark.in_turn
@pytest.mark.parametrize("name", NAMED)
def test_difference_is_named_by_what_it_is(jailed, name) -> None:
    box, edit, sentence = NAMED[name]

    assert sentence in first_fault(jailed, box, changed(box, *edit)).message


@pytest.mark.parametrize(
    ("edit", "begins"),
    [
        (("seen = [], set()", "seen = [], {}"), "`seen` is a dictionary, such as `{}`, and has no `.add`"),
        (("order, seen = [], set()", "order, seen = set(), set()"), "`order` is a set, such as `set()`"),
        (("    visit(root)\n", "    order = sorted_nodes(root)\n"), "`sorted_nodes` does not exist in this box."),
        (
            ("graph[node]", "node.parents"),
            "`.parents` is not available in a box: a node without a class is only a name.",
        ),
    ],
    ids=["dict", "set", "another box", "attribute"],
)
def test_what_a_name_cannot_do_is_told(jailed, edit, begins) -> None:
    fault = first_fault(jailed, "topological-sort", changed("topological-sort", *edit))

    assert begins in fault.message


@pytest.mark.parametrize(
    ("box", "edit"),
    [
        ("momentum", ("return p - rate * v, v", "p = p - rate * v")),
        ("momentum", ("return p - rate * v, v", "return p - rate * v")),
    ],
    ids=["no return", "one value"],
)
def test_a_line_that_may_be_right_is_not_told_to_be_another(jailed, box, edit) -> None:
    fault = first_fault(jailed, box, changed(box, *edit))

    assert "All fits here but for" not in fault.message


def test_a_line_too_many_is_told_of_no_two_slips() -> None:
    sentences = [slip_sentence for kind, slip_sentence in PHRASES.items() if Slip(kind, 1, parse_code("")).is_only]

    assert PHRASES["line-extra"] in sentences


def test_an_average_of_all_for_a_sum_is_named() -> None:
    own, right = (f"def size(x):\n    y = x * x\n    return y.{total}()\n" for total in ("mean", "sum"))
    search = SlipSearch(lambda text: frozenset(["a"] if text.strip() == right.strip() else []), ("a",), frozenset())

    (slip,) = search.slips_in(own, right)

    assert (slip.kind, slip.line) == ("mean-of-all", 3)


def test_a_second_slip_is_named_with_its_own_line(jailed) -> None:
    code = changed("value-gates", GATES, GATES.replace("self.grad += other.data", "self.grad = other"))

    message = first_fault(jailed, "value-gates", code).message

    assert "`other` is a `Value`" in message
    assert "`self.grad = …` writes over" in message


def test_only_the_first_case_that_fails_is_explained(jailed) -> None:
    verdict = jailed.check(
        BOXES["value-backward"],
        changed("value-backward", STACK, RECURSIVE.replace("reversed(order)", "order")),
    )

    wrong = [one for one in verdict.names if one.verdict == "wrong"]
    assert len(wrong) > 5
    assert [one.name for one in wrong if one.message] == [wrong[0].name]


def test_the_text_of_a_case_is_not_said_of_a_slip_that_no_case_survives(jailed) -> None:
    message = first_fault(jailed, "value-gates", changed("value-gates", *SLIPS["the Value for its number"][1])).message

    assert "scaled by" not in message


def test_of_a_program_that_is_another_one_no_slip_is_told(jailed) -> None:
    code = """\
class Value:
    def __init__(self, data, made_from=()):
        self.data = data
        self.grad = 7.0

    def __add__(self, other):
        return self

    def __mul__(self, other):
        return self
"""

    fault = first_fault(jailed, "value-gates", code)

    assert fault.line is None or "stopped with an error" in fault.message


def test_an_object_in_the_place_of_a_number_is_told_where_no_line_is_known(jailed) -> None:
    code = """\
class Value:
    def __init__(self, data, made_from=()):
        self.data, self.grad, self.back = data, 0.0, lambda: None

    def __mul__(self, other):
        product = Value(self.data * other.data)
        product.back = lambda: [self, other]
        return product

    def _backward(self):
        for node in self.back() or ():
            node.grad = node
"""

    message = first_fault(jailed, "value-gates", code).message

    assert message == (
        "It gave a `Value` where a number is wanted. The number that it holds is in one of its attributes."
    )


LONG_SECONDS = 2.0
DEEP = {
    "nested": f"        self.grad = {'(' * 90}1{' * 2)' * 90}\n",
    "turned signs": f"        self.grad = {'- ' * 90}1\n",
    "many lines": "        self.grad.sum(0)\n" * 700,
    "many factors": f"        self.grad = {' * '.join(f'self.x{n}' for n in range(90))}\n",
    "calls in calls": f"        self.grad = {'f(2 * g(' * 40}1{'))' * 40}\n",
}


@pytest.mark.in_turn
@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("solution", DEEP)
def test_to_look_for_slips_is_no_long_work(name, solution) -> None:
    head = "class Value:\n    def backward(self):\n"
    search = SlipSearch(lambda _: frozenset(), ("case 1",), frozenset())

    began = time.process_time()
    search.slips_in(head + DEEP[name], head + DEEP[solution])

    assert time.process_time() - began < LONG_SECONDS
