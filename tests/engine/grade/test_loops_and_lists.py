"""Backward passes over lists, dictionaries and loops: one slip is one red line, the line that it is in."""

import pytest

from app.engine.grade.engine import Engine
from app.grading.judge.verdict import RIGHT
from tests.grading.programs.load import PROGRAMS, Program

BY_NAME = {program.name: program for program in PROGRAMS}
RNN = BY_NAME["rnn_steps"]
OVER_LISTS = """\
hs = [h0, h1, h2, h3]
xs = [x1, x2, x3]
dhs = [None, None, None, dh3]
das = [None] * 3
dWx, dWh, db = torch.zeros_like(Wx), torch.zeros_like(Wh), torch.zeros_like(b)
for t in reversed(range(3)):
    das[t] = dhs[t + 1] * (1 - hs[t + 1] ** 2)
    dWx += xs[t].T @ das[t]
    dWh += hs[t].T @ das[t]
    db += das[t].sum(0)
    dhs[t] = das[t] @ Wh.T
dh0, dh1, dh2 = dhs[0], dhs[1], dhs[2]
da1, da2, da3 = das
dx1, dx2, dx3 = [da @ Wx.T for da in das]
"""
WITH_CARRY = """\
grads = {'Wx': torch.zeros_like(Wx), 'Wh': torch.zeros_like(Wh), 'b': torch.zeros_like(b)}
dh_next = dh3
steps, states = [], []
for x, h, before in [(x3, h3, h2), (x2, h2, h1), (x1, h1, h0)]:
    da = dh_next * (1 - h * h)
    grads['Wx'] += x.T @ da
    grads['Wh'] += before.T @ da
    grads['b'] += da.sum(0)
    dh_next = da @ Wh.T
    steps.append(da)
    states.append(dh_next)
dh2, dh1, dh0 = states
dx3, dx2, dx1 = (da @ Wx.T for da in steps)
dWx, dWh, db = grads['Wx'], grads['Wh'], grads['b']
"""
WRITTEN_OUT = """\
da = dh3 * (1 - h3 ** 2)
dWx = x3.T @ da
dWh = h2.T @ da
db = da.sum(0)
dx3 = da @ Wx.T
dh2 = da @ Wh.T
da = dh2 * (1 - h2 ** 2)
dWx += x2.T @ da
dWh += h1.T @ da
db += da.sum(0)
dx2 = da @ Wx.T
dh1 = da @ Wh.T
da = dh1 * (1 - h1 ** 2)
dWx += x1.T @ da
dWh += h0.T @ da
db += da.sum(0)
dx1 = da @ Wx.T
dh0 = da @ Wh.T
"""
LSTM = """\
grads, gates = {}, dict(i=i, f=f, o=o)
grads['o'] = dhn * tc
grads['tc'] = dhn * o
grads['c'] = grads['tc'] * (1 - tc ** 2)
grads['f'] = grads['c'] * cp
grads['i'] = grads['c'] * g
grads['g'] = grads['c'] * i
dcp = grads['c'] * f
parts = [grads[name] * s * (1 - s) for name, s in gates.items()]
parts.append(grads['g'] * (1 - g ** 2))
da = torch.cat(parts, dim=1)
do, dtc, dc, df, di, dg = (grads[name] for name in ('o', 'tc', 'c', 'f', 'i', 'g'))
dWx = x.T @ da
dWh = hp.T @ da
db = da.sum(0)
dx = da @ Wx.T
dhp = da @ Wh.T
"""
STACK = Program(
    "stack",
    """\
:dims: {N: 4, D: 5, H: 6, K: 3, C: 7}
:inputs: {x: [N, D], W1: [D, H], b1: [H], W2: [H, K], b2: [K], W3: [K, C], b3: [C]}
:output: y
z1 = x @ W1 + b1
a1 = torch.relu(z1)
z2 = a1 @ W2 + b2
a2 = torch.relu(z2)
y = a2 @ W3 + b3
""",
    (
        """\
dW3 = a2.T @ dy
db3 = dy.sum(0)
da2 = dy @ W3.T
dz2 = da2 * (z2 > 0)
dW2 = a1.T @ dz2
db2 = dz2.sum(0)
da1 = dz2 @ W2.T
dz1 = da1 * (z1 > 0)
dW1 = x.T @ dz1
db1 = dz1.sum(0)
""",
    ),
    (),
)
LAYERS = """\
cache = {1: (x, z1), 2: (a1, z2), 3: (a2, None)}
Ws = {'W1': W1, 'W2': W2, 'W3': W3}
grads = {}
dout = dy
for l in range(3, 0, -1):
    inp, z = cache[l]
    if z is not None:
        dout = dout * (z > 0)
        grads[f'z{l}'] = dout
    grads[f'W{l}'] = inp.T @ dout
    grads[f'b{l}'] = dout.sum(0)
    dout = dout @ Ws[f'W{l}'].T
    grads['a' + str(l - 1)] = dout
da2, da1, dz2, dz1 = grads['a2'], grads['a1'], grads['z2'], grads['z1']
dW1, dW2, dW3 = [grads[f'W{l}'] for l in (1, 2, 3)]
db1, db2, db3 = (grads[f'b{l}'] for l in (1, 2, 3))
"""
ZIPPED = """\
dWs, das, g = [], [], dy
dzs = []
for W, a, z in zip(reversed([W1, W2, W3]), [a2, a1, x], [z2, z1, None]):
    dWs.append(a.T @ g)
    da = g @ W.T
    if z is None:
        break
    das.append(da)
    g = da * (z > 0)
    dzs.append(g)
dW3, dW2, dW1 = dWs
da2, da1 = das
dz2, dz1 = dzs
db3, db2, db1 = dy.sum(0), dzs[0].sum(0), dzs[1].sum(0)
"""
HEADS = Program(
    "heads",
    """\
:dims: {T: 5, C: 6, E: 3}
:inputs: {x: [T, C], Wq1: [C, E], Wq2: [C, E], Wo1: [E, C], Wo2: [E, C]}
:output: y
q1 = x @ Wq1
q2 = x @ Wq2
o1 = torch.tanh(q1)
o2 = torch.tanh(q2)
y = o1 @ Wo1 + o2 @ Wo2
""",
    (
        """\
do1 = dy @ Wo1.T
do2 = dy @ Wo2.T
dWo1 = o1.T @ dy
dWo2 = o2.T @ dy
dq1 = do1 * (1 - o1 ** 2)
dq2 = do2 * (1 - o2 ** 2)
dWq1 = x.T @ dq1
dWq2 = x.T @ dq2
dx = dq1 @ Wq1.T + dq2 @ Wq2.T
""",
    ),
    (),
)
OVER_HEADS = """\
dos, dqs, dWqs, dWos = [], [], [], []
dx = torch.zeros_like(x)
for i, (Wq, o, Wo) in enumerate([(Wq1, o1, Wo1), (Wq2, o2, Wo2)]):
    dos.append(dy @ Wo.T)
    dWos += [o.T @ dy]
    dqs.append(dos[i] * (1 - o ** 2))
    dWqs.append(x.T @ dqs[i])
    dx += dqs[-1] @ Wq.T
do1, do2 = dos
dq1, dq2 = dqs
dWq1, dWq2 = dWqs
dWo1, dWo2 = dWos
"""
TAPS = Program(
    "taps",
    """\
:dims: {N: 3, L: 7}
:inputs: {x: [N, L], w0: "[]", w1: "[]", w2: "[]"}
:output: y
z0 = x[:, :-2] * w0
z1 = x[:, 1:-1] * w1
z2 = x[:, 2:] * w2
y = torch.relu(z0 + z1 + z2)
""",
    (
        """\
g = dy * (y > 0)
dz0 = g
dz1 = g
dz2 = g
dw0 = (dz0 * x[:, :-2]).sum()
dw1 = (dz1 * x[:, 1:-1]).sum()
dw2 = (dz2 * x[:, 2:]).sum()
dx = torch.zeros_like(x)
dx[:, :-2] += dz0 * w0
dx[:, 1:-1] += dz1 * w1
dx[:, 2:] += dz2 * w2
""",
    ),
    (),
)
OVER_TAPS = """\
g = dy * (y > 0)
dzs, dws = {}, {}
dx = torch.zeros_like(x)
for k, (w, end) in enumerate(zip([w0, w1, w2], [-2, -1, None])):
    dzs[k] = g.clone()
    dws[k] = (dzs[k] * x[:, k:end]).sum()
    dx[:, k:end] += dzs[k] * w
dz0, dz1, dz2 = dzs.values()
dw0, dw1, dw2 = (dws[k] for k in range(3))
"""
FORMS = {
    "over lists": (RNN, OVER_LISTS),
    "with a carry": (RNN, WITH_CARRY),
    "written out": (RNN, WRITTEN_OUT),
    "gates in a dictionary": (BY_NAME["lstm_cell"], LSTM),
    "layers by number": (STACK, LAYERS),
    "layers by zip": (STACK, ZIPPED),
    "heads": (HEADS, OVER_HEADS),
    "taps": (TAPS, OVER_TAPS),
}
IN_LOOP = "In the {} turn of the loop, line {} is"
# fmt: off
ROWS = [
    # The form, what is written, what is written instead, the red name with its code, and what is said.
    ("over lists", "(1 - hs[t + 1] ** 2)", "(1 - hs[t] ** 2)",
     "dx3:wrong-operand:h2", "is `da3 = dh3 * (1 - h2 ** 2)`."),
    ("over lists", "dhs[t + 1] * (1", "dhs[3] * (1", "dx2:wrong-upstream:dh3", IN_LOOP.format("second", 7)),
    ("over lists", "das[t] @ Wh.T", "das[t] @ Wh", "dh2:matmul-order", "is `dh2 = da3 @ Wh`."),
    ("with a carry", "(x2, h2, h1)", "(x2, h1, h1)", "dx2:wrong-operand:h1", "line 4 gives `h` the value of `h1`."),
    ("with a carry", "(1 - h * h)", "(1 - before * before)", "dx3:wrong-operand:h2", "is `da = dh_next * (1 - h2"),
    ("over lists", "hs[t].T @", "hs[t + 1].T @", "dWh:steps-shifted", "a neighbouring step"),
    ("over lists", "da @ Wx.T for", "2 * da @ Wx.T for", "dx3:doubled", "is `dx3 = 2 * da3 @ Wx.T`."),
    ("over lists", "dh0, dh1, dh2 =", "dh1, dh0, dh2 =", "dh1:exchanged:dh0", "`dh1` and `dh0` are exchanged"),
    ("with a carry", "(1 - h * h)", "(1 - h)", "dx3:square-missing", "is `da = dh_next * (1 - h3)`."),
    ("with a carry", "dh_next = da @", "dh_next = dh_next @", "dh2:local-missing:tanh", "is `dh2 = dh_next @ Wh.T`."),
    ("with a carry", "grads['b'] += da.sum", "grads['b'] += da.mean", "db:mean", "averages where the shares are"),
    ("with a carry", "grads['Wh'] +=", "grads['Wh'] =", "dWh:share-missing:h2+h3", "the share through `h2` is missing"),
    ("written out", "(1 - h2 ** 2)", "(1 - h2)", "dx2:square-missing", "It stands in line 7, where `da` is made."),
    ("written out", "dWh += h1.T", "dWh += h2.T", "dWh:wrong-operand:h2", "The share of `dWh` through `h2`"),
    ("gates in a dictionary", "dhn * o\n", "dhn\n", "dtc:local-missing:mul", "in `dtc` that is left out"),
    ("gates in a dictionary", "(1 - tc ** 2)", "(1 - c ** 2)", "dc:input-for-output", "`dc` puts in the input, `c`"),
    ("gates in a dictionary", "grads['c'] * cp", "grads['c'] * c", "df:wrong-operand:c", "`df` uses `c`"),
    ("gates in a dictionary", "'f', 'i', 'g')", "'i', 'f', 'g')", "df:exchanged:di", "`df` and `di` are exchanged"),
    ("gates in a dictionary", "grads['c'] * f\n", "grads['c']\n", "dcp:local-missing:mul", "in `dcp` that is left out"),
    ("layers by number", "(z > 0)", "(z < 0)", "dz2:gate-flipped", "is `dz2 = da2 * (z2 < 0)`."),
    ("layers by number", "dout.sum(0)", "dout.sum(1)", "db3:wrong-axis", "is `db3 = dout.sum(1)`."),
    ("layers by number", "inp.T @ dout", "inp.T @ dy", "dW2:wrong-upstream:dy", "is `dW2 = a1.T @ dy`."),
    ("layers by zip", "da * (z > 0)", "da", "dz2:local-missing:relu", "is `dz2 = da2`."),
    ("layers by zip", "[a2, a1, x]", "[a2, a2, x]",
     "dW2:wrong-operand:a2", "In the second turn of the loop, line 3 gives `a` the value of `a2`."),
    ("layers by zip", "dW3, dW2, dW1 =", "dW1, dW2, dW3 =", "dW3:exchanged:dW1", "are exchanged"),
    ("heads", "dos[i] * (1 - o ** 2)", "dos[0] * (1 - o ** 2)",
     "dq2:wrong-upstream:do1", "is `dq2 = do1 * (1 - o2 ** 2)`."),
    ("heads", "(Wq2, o2, Wo2)", "(Wq2, o1, Wo2)", "dWo2:wrong-operand:o1", "line 3 gives `o` the value of `o1`."),
    ("heads", "[o.T @ dy]", "[2 * o.T @ dy]", "dWo1:doubled", "is `dWo1 = 2 * o1.T @ dy`."),
    ("heads", "x.T @ dqs[i]", "x.T @ dqs[0]", "dWq2:wrong-upstream:dq1", IN_LOOP.format("second", 7)),
    ("taps", "dzs[k] * x[:, k:end]", "dzs[k] * x[:, :-2]", "dw2:", IN_LOOP.format("third", 6)),
]
# fmt: on


@pytest.mark.parametrize("form", FORMS)
def test_a_right_pass_over_lists_and_loops_is_accepted(engine: Engine, form: str) -> None:
    program, code = FORMS[form]

    assert engine.check(program.task, code).passed


@pytest.mark.in_turn
@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}-{row[3]}" for row in ROWS])
def test_one_slip_in_a_loop_is_one_red_line(engine: Engine, row: tuple[str, str, str, str, str]) -> None:
    form, old, new, code, said = row
    program, text = FORMS[form]
    assert old in text

    told = engine.check(program.task, text.replace(old, new, 1)).names
    (red,) = [one for one in told if one.verdict not in {*RIGHT, "follows"}]

    assert (red.code or "").startswith(code)
    assert said in red.message
    assert red.line == 1 + text[: text.index(old)].count("\n")


def test_what_reads_a_wrong_part_of_a_list_points_to_the_list(engine: Engine) -> None:
    code = WITH_CARRY.replace("(x2, h2, h1)", "(x2, h1, h1)")

    told = {one.name: one.message for one in engine.check(RNN.task, code).names}

    assert told["dh1"] == "It reads `da`, which is made of what line 4 gives; begin there."
