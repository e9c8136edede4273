"""The gate: what honest learners write passes, everything else is met with a line, a column and a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.content.text.lookalikes import IN_SUMS
from app.sandbox.gate import MAX_BRACKET_DEPTH, MAX_GATED_CHARS, find_refusal, normalise

HONEST = [
    "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)",
    "dX = ____ @ W.T\ndW = X.____ @ dY",
    "for k in range(4):\n    dx[:, k:k + 6] += dy * w[k]",
    "def slope(f, x, h=1e-5):\n    return (f(x + h) - f(x - h)) / (2 * h)\ndx = slope(lambda v: v**2, x)",
    "dC = torch.zeros_like(C)\ndC.index_add_(0, ix.view(-1), dE.view(-1, 3))",
    "with torch.no_grad():\n    p.data += -lr * dp",
    "dz = F.softmax(z, 1)\ndz[torch.arange(n), y] -= 1\ndz /= n",
    "print(f'{dX.shape} {dX.max():.3f}')",
    "grad = dy * 2\ndx = grad",
    "dX, dW = dY @ W.T, X.T @ dY",
    "assert dX.shape == X.shape, 'shapes'",
    "grads = {}\ngrads['x'] = grads.get('x', 0) + dy",
    "dx = dy.masked_fill(x <= 0, 0.0).to(x.dtype)",
    "",
    "# only a remark, with a grad and an import",
]

REFUSED = {
    "import os": "imported",
    "from torch import autograd": "imported",
    "x.backward()": "by hand",
    "x.grad": "by hand",
    "x.grad = dx": "a name of its own",
    "torch.autograd.grad(y, x)": "by hand",
    "x.requires_grad_()": "by hand",
    "torch.ones(3, requires_grad=True)": "by hand",
    "torch.func.vjp": "by hand",
    "torch.ops.aten.tanh_backward": "by hand",
    "x.tanh_backward": "by hand",
    "x.__class__": "not available",
    "__import__('os')": "not available",
    "__builtins__": "not available",
    "open('/etc/passwd')": "not available",
    "eval('1')": "not available",
    "x = open('x').read()": "`open` is not available in a box: there are no files",
    "x = [float(one) for one in open('x').read().split()]": "there are no files",
    "x = eval('1').shapee": "`eval` is not available",
    "x = input()": "nobody to ask",
    "x = float(input('dW? ').strip())": "nobody to ask",
    "getattr(x, 'sum')": "not available",
    "'{0.__class__}'.format(x)": "not available",
    "x.storage()": "not available",
    "x.numpy()": "not available",
    "torch.load('x')": "not available",
    "torch.save(x, 'x')": "not available",
    "class A: pass": "function",
    "try:\n    x\nexcept Exception:\n    pass": "hide",
    "async def f(): pass": "not available",
    "def f():\n    yield 1": "not available",
    "match x:\n    case 1: pass": "not available",
    "with open('x') as f: pass": "no_grad",
    "𝐨𝐩𝐞𝐧('x')": "not available",
    "x.__𝐜𝐥𝐚𝐬𝐬__": "not available",
    "f'{x.__class__}'": "not available",
    "def f(*, __a=1): pass": "not available",
    "(" * 500 + "1" + ")" * 500: "nested",
    "-" * 9000 + "1": "signs",
    "x" + ".T" * 8000: "nested too deeply",
    "+".join(["x"] * 900): "nested",
    "x = 1\n" * MAX_GATED_CHARS: "300,000 characters; a box takes 50,000",
    "\ud800": "cannot be read",
}


@pytest.mark.parametrize(
    "code",
    [
        "Y2 = X @ W\nY2.backward(dY)\ndX = X.grad",
        "a = 1\nb = (c + [open('x')])\nx.grad",
        "\nif x:\n    eval('1')\ny.grad",
    ],
)
def test_of_two_lines_that_are_not_for_a_box_the_first_is_told(code):
    found = find_refusal(code)

    assert found is not None
    assert found.line == 2 + code.startswith("\n")


@pytest.mark.parametrize("code", HONEST)
def test_honest_code_passes(code):
    assert find_refusal(code) is None


@pytest.mark.parametrize(("code", "reason"), REFUSED.items(), ids=[code[:24] for code in REFUSED])
def test_what_a_box_is_not_for_is_refused_with_a_reason(code, reason):
    found = find_refusal(code)

    assert found is not None
    assert reason in found.message


@pytest.mark.parametrize("code", ["dX = (", "dX = 1 +", "def", "x = '", "  x", "x = 1\x00"])
def test_what_is_no_python_is_left_to_the_parser_of_the_plan(code):
    assert find_refusal(code) is None


def test_the_place_is_counted_in_characters_from_one():
    found = find_refusal("y = 1\nz = 'é' + x.backward()")

    assert (found.line, found.column) == (2, 13)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("np.add.at(dC, ix, de)", "`.at` is not available in a box: rows are added, each at its place, by"),
        ("df = torch.special.expit(f)", "`.expit` is not available in a box: the sigmoid is `torch.sigmoid(x)`."),
        ("da = b.dy", "a dot is no product. Write `b * dy`, or `@` between matrices."),
        ("x = x.astype(1)", "`.float()` makes fractions of whole numbers"),
    ],
)
def test_what_is_written_in_other_places_is_told_in_the_words_of_a_box(code, said):
    assert said in find_refusal(code).message


NODE = (
    "class Value:\n    def __init__(self, data, made_from=()):\n        self.data, self.made_from = data, made_from\n"
)


@pytest.mark.parametrize("attribute", ["_prev", "_children", "children", "parents"])
def test_the_words_of_micrograd_are_told_in_those_of_the_engine_at_hand(attribute):
    loop = f"def visit(v):\n    for child in v.{attribute}:\n        visit(child)\n"

    assert "is called `made_from` here, such as `v.made_from`." in find_refusal(NODE + loop, ("classes",)).message
    assert "made_from" not in find_refusal(loop, ("classes",)).message


def test_a_near_miss_is_suggested():
    assert "Did you mean `.transpose`?" in find_refusal("x.transpsoe(0, 1)").message


@pytest.mark.parametrize("code", ["torch.special.entr(u)", "torch.special.i0e(u)", "torch.special.log_ndtr(u)"])
def test_a_function_of_another_meaning_is_not_suggested(code):
    assert "Did you mean" not in find_refusal(code).message


@pytest.mark.parametrize("code", ["for i in x: pass", "while x: pass", "[i for i in x]", "{i: 1 for i in x}"])
def test_loops_are_refused_only_where_the_exercise_says_so(code):
    assert find_refusal(code) is None
    assert "loop" in find_refusal(code, ("loops",)).message


def test_typography_is_made_plain_and_said_so():
    code, notices = normalise("dX\u00a0= “a” − 3 × 2\r\nif x:\r\n\ty")

    assert code == 'dX = "a" - 3 * 2\nif x:\n    y'
    assert len(notices) == 5


def test_a_sign_that_a_sum_may_have_a_line_may_have_too():
    for sign, plain in IN_SUMS.items():
        said, notices = normalise(f"dX = (3{chr(sign)} + 2{chr(sign)}")

        assert said == f"dX = (3{plain} + 2{plain}"
        assert len(notices) == 1


def test_typography_in_a_comment_of_sound_code_is_left_alone():
    code = "dX = dY  # “×” − not code"

    assert normalise(code) == (code, ())


WORDS = [*"()[]{}x.T=\n:f1,@'\"\\#\t", "__class__", "lambda", "for", "in", "if", "def", "f'", "{x}", " "]


@given(st.text(max_size=200))
def test_any_text_gets_an_answer(code):
    plain, _ = normalise(code)
    found = find_refusal(plain)

    assert found is None or (found.line >= 1 and found.column >= 1 and found.message)


@given(
    st.lists(
        st.sampled_from(WORDS),
        max_size=60,
    )
)
def test_any_row_of_words_gets_an_answer(words):
    find_refusal(" ".join(words))


@pytest.mark.parametrize(
    "opening", ["(", "[", "{", "x[", "x(", "-", "not ", "lambda: ", "~", "f(*", "x.T", "x if y else ", "if x:\n "]
)
def test_deep_nesting_of_every_kind_is_answered_at_once(opening):
    find_refusal(opening * (MAX_GATED_CHARS // len(opening)))
    find_refusal(opening * (MAX_BRACKET_DEPTH - 1) + "1")


ENGINE = "class A:\n    def __add__(self, b):\n        return b\n    __radd__ = __add__\n"


def test_a_class_may_name_its_operators_and_nothing_else_that_is_hidden():
    assert find_refusal(f"{ENGINE}    def __mul__(self, b):\n        return self.__add__(b)\n", ("classes",)) is None
    assert find_refusal(f"{ENGINE}    __class__ = 3\n", ("classes",)) is not None
    assert find_refusal(f"{ENGINE}x = A().__rpow__\n", ("classes",)) is not None
    assert find_refusal("x = (1).__add__\n", ()) is not None


OWN_FUNCTION = """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 2 * x
    @staticmethod
    def backward(ctx, dy):
        x, = ctx.saved_tensors
        return 2 * dy
"""


def test_a_class_may_be_a_function_of_pytorch():
    assert find_refusal(OWN_FUNCTION, ("classes",)) is None
    assert find_refusal(OWN_FUNCTION, ()) is not None
    assert find_refusal(OWN_FUNCTION.replace("torch.autograd.Function", "torch.nn.Module"), ("classes",)) is not None


@pytest.mark.parametrize(
    "line",
    [
        "torch.autograd.grad(y, x)",
        "f = torch.autograd.Function",
        "torch.autograd.gradcheck(Double.apply, x)",
        "y = Double.apply(x)",
        "x.requires_grad_()",
    ],
)
def test_automatic_differentiation_is_refused_beside_torch_functions(line):
    assert find_refusal(f"{OWN_FUNCTION}{line}\n", ("classes",)) is not None
