"""The operations that exercises are drawn from: one row each, as `operation_row` reads it."""

from collections.abc import Mapping

from app.practice.operation_row import Operation

SAME = ("* -> *",)
PAIR = ("*, * -> *",)
REDUCED = ("a b -> 1 b @0", "a b -> a 1 @1")
MATRIX = (
    "In a matrix product each factor gets what arrives, multiplied by the other factor, transposed, on its side: "
    "the axis that it does not have itself is summed away."
)
COPIED = "What was copied along an axis gets the sum of what arrives at its copies."
SCALED = COPIED + " In a product each copy is scaled by the other factor first."
CURVE = "A function that acts entry by entry multiplies what arrives by its local derivative"
MOVED = "What was moved is moved back"

TABLE: tuple[Operation, ...] = (
    Operation(
        name="matmul", family="matmul", points=2, weight=4, forward="{0} @ {1}", principle=MATRIX,
        shapes=("... a, a b -> ... b", "... a, a a -> ... a"), slips="matmul-order transposed",
    ),
    Operation(
        name="matmul-left", family="matmul", points=3, level=2, forward="{0} @ {1}", rule="matmul", walk=1,
        shapes=("c a, a b -> c b", "a a, a b -> a b"), principle=MATRIX, slips="matmul-order transposed",
    ),
    Operation(
        name="scores", family="attention", points=5, level=3, forward="{0} @ {1}.mT / {b} ** 0.5",
        back=("g @ z / {b} ** 0.5", "T(g) @ z / {b} ** 0.5"), shapes=("... a b, ... c b -> ... a c",),
        principle="Scores compare every row with every other one: each side gets what arrives times the other side, "
        "and the scale of the forward line stays.",
    ),
    Operation(
        name="bias", family="broadcast", points=1, weight=2, forward="{0} + {1}", rule="add", gives="signed wide tame",
        shapes=("... a, a -> ... a",), principle=COPIED, slips="mean wrong-axis",
    ),
    Operation(
        name="gain", family="broadcast", points=2, level=2, weight=2, forward="{0} * {1}", rule="mul",
        shapes=("... a, a -> ... a",), slips="mean wrong-axis own-factor", principle=SCALED,
    ),
    Operation(
        name="column", family="broadcast", points=2, level=2, weight=2, forward="{0} * {1}", rule="mul",
        shapes=("a b, a 1 -> a b",), slips="mean wrong-axis keepdim-lost own-factor",
        principle=SCALED + " An axis of size 1 stays.",
    ),
    Operation(
        name="tanh", family="activation", points=1, weight=2, forward="torch.tanh({0})", shapes=SAME,
        gives="signed tame", slips="input-for-output square-missing one-missing",
        principle=CURVE + ": for tanh, one minus the square of the output.",
    ),
    Operation(
        name="sigmoid", family="activation", points=1, forward="torch.sigmoid({0})", shapes=SAME, gives="positive tame",
        principle=CURVE + ": for sigmoid, the output times what it lacks to one.",
        slips="input-for-output half-rule",
    ),
    Operation(
        name="softplus", family="activation", points=2, level=2, forward="F.softplus({0})", shapes=SAME,
        gives="positive", principle=CURVE + ": for softplus, the sigmoid of the input.",
    ),
    Operation(
        name="gelu", family="activation", points=5, level=3, forward="F.gelu({0})", shapes=SAME, gives="signed",
        principle="A product of the input with a gate of itself has two terms: the gate, and the input times the "
        "slope of the gate.", slips="term-missing:density factor-missing:density",
    ),
    Operation(
        name="silu", family="activation", points=4, level=2, forward="F.silu({0})", shapes=SAME, gives="signed",
        principle="A product of the input with its sigmoid has two terms: the sigmoid, and the input times the slope "
        "of the sigmoid.", slips="term-missing:density factor-missing:density",
    ),
    Operation(
        name="sin", family="activation", points=1, forward="torch.sin({0})", shapes=SAME, gives="signed tame",
        principle=CURVE + ": for the sine, the cosine.",
    ),
    Operation(
        name="relu", family="gate", points=1, forward="torch.relu({0})", shapes=SAME, needs="signed", gives="tame",
        principle="A gate lets through what arrives where it was open, and nothing where it was closed.",
        slips="gate-flipped gate-value",
    ),
    Operation(
        name="abs", family="gate", points=1, forward="{0}.abs()", shapes=SAME, needs="signed", gives="",
        principle="An absolute value passes on what arrives, with the sign of its input.",
    ),
    Operation(
        name="clamp", family="gate", points=2, level=2, forward="{0}.clamp(-0.5, 0.5)", shapes=SAME, needs="wide",
        gives="tame", words={"low": "-0.5", "high": "0.5"}, slips="gate-flipped gate-limit gate-value",
        principle="Between its limits a clamp passes on what arrives; outside it is flat, and nothing passes.",
    ),
    Operation(
        name="masked-fill", family="gate", points=2, level=2, forward="{0}.masked_fill({1} > 0, 0.0)", gives="=",
        rule="masked_fill", words={"m": "({1} > 0)"}, shapes=("a b, a b:mask -> a b",),
        slips="mask-missing mask-flipped",
        principle="Where a constant was written over an entry nothing passes back to it.",
    ),
    Operation(
        name="where", family="gate", points=4, level=2, forward="torch.where({2} > 0, {0}, {1})",
        words={"m": "({2} > 0)"}, shapes=("a b, a b, a b:mask -> a b",), gives="signed",
        principle="A choice passes what arrives to the side that was chosen, and nothing to the other.",
    ),
    Operation(
        name="maximum", family="gate", points=4, level=2, forward="torch.maximum({0}, {1})", needs="signed",
        shapes=("... a, ... a -> ... a",),
        principle="Of two, the larger one gets what arrives, and the other one nothing.", slips="gate-flipped",
    ),
    Operation(
        name="max", family="gate", points=4, level=2, forward="{0}.amax({axis}, keepdim=True)",
        shapes=REDUCED, needs="signed", gives="",
        principle="Only the winner of a maximum moved it: all that arrives goes to where the winner stands.",
        slips="router-dense router-value router-shared router-axis",
    ),
    Operation(
        name="exp", family="exponential", points=1, level=2, forward="{0}.exp()", shapes=SAME, needs="tame",
        gives="positive", principle=CURVE + ": exp is its own derivative.", slips="input-for-output applied-twice",
    ),
    Operation(
        name="log", family="exponential", points=1, weight=3, forward="{0}.log()", shapes=SAME, needs="positive",
        gives="signed tame", principle=CURVE + ": a logarithm divides by its input.", undoes="exp",
        slips="multiplied:log output-for-input",
    ),
    Operation(
        name="square", family="power", points=1, level=2, forward="{0} ** 2", rule="pow", words={"p": "2"}, shapes=SAME,
        gives="", principle=CURVE + ": the exponent comes down in front, and the power is lowered by one.",
        slips="power-coefficient power-not-lowered",
    ),
    Operation(
        name="power", family="power", points=3, level=3, weight=2, forward="({0} + 0.1) ** -0.5", rule="pow",
        shapes=SAME, words={"p": "-0.5", "x": "({0} + 0.1)"}, needs="positive", gives="positive",
        slips="power-raised power-not-lowered power-coefficient power-sign",
        principle="The exponent comes down in front, the power is lowered by one; the constant is raised as well.",
    ),
    Operation(
        name="sqrt", family="power", points=2, level=2, forward="{0}.sqrt()", shapes=SAME, needs="positive",
        gives="positive", principle=CURVE + ": for a root, one half over the output.", undoes="square",
        slips="power-coefficient input-for-output multiplied:sqrt",
    ),
    Operation(
        name="reciprocal", family="power", points=3, level=2, forward="1 / ({0} + 0.5)", rule="pow",
        words={"p": "-1", "x": "({0} + 0.5)"}, shapes=SAME, needs="positive", gives="positive tame",
        principle="One over something is its power minus one: a minus comes down in front, and the square below.",
        slips="square-missing square-extra output-for-input",
    ),
    Operation(
        name="sum", family="reduction", points=2, level=2, forward="{0}.sum({axis}, keepdim=True)", gives="=",
        shapes=REDUCED, needs="free", principle="Each entry that was summed gets what arrives at the sum.",
    ),
    Operation(
        name="mean", family="reduction", points=3, level=2, forward="{0}.mean({axis}, keepdim=True)", gives="=",
        shapes=REDUCED, needs="free", slips="factor",
        principle="Each entry that was averaged gets what arrives at the average, divided by how many there were.",
    ),
    Operation(
        name="cumsum", family="reduction", points=3, level=2, forward="{0}.cumsum({axis})",
        shapes=("a b -> a b @0", "a b -> a b @1"), slips="cumulated-forward",
        principle="An entry is part of every total from its place on: what arrives is summed from there to the end.",
    ),
    Operation(
        name="softmax", family="softmax", points=5, level=3, weight=2, forward="torch.softmax({0}, {axis})",
        shapes=("a b -> a b @1",), needs="tame free", settles=True, gives="positive tame",
        slips="average-missing diagonal weights-missing outer-factor-missing mean-for-sum term-sign",
        principle="Raising one score lowers the other shares: take the weighted average away, then weigh.",
    ),
    Operation(
        name="log-softmax", family="softmax", points=5, level=3, forward="torch.log_softmax({0}, {axis})",
        rule="log_softmax", shapes=("a b -> a b @1",), gives="tame", needs="free", settles=True,
        slips="row-sum-missing mean-for-sum term-sign",
        principle="What arrives in a row is summed, and each entry gives up its probability's part of it.",
    ),
    Operation(
        name="logsumexp", family="softmax", points=3, level=2, forward="{0}.logsumexp({axis}, keepdim=True)",
        shapes=REDUCED, needs="free", gives="tame", slips="softmax-axis unnormalised",
        principle="A soft maximum shares what arrives out by probability.",
    ),
    Operation(
        name="layer-norm", family="norm", points=8, level=3, forward="F.layer_norm({0}, ({b},))", rule="layer_norm",
        words={"u": "{y}", "w": "1", "r": "({0}.var(1, correction=0, keepdim=True) + 1e-05) ** -0.5"},
        shapes=("a b -> a b @1",), gives="signed tame", needs="free", settles=True,
        slips="term-missing:mean term-missing:variance",
        principle="An entry also moves the mean and the variance of its slice: both send back a share of their own.",
    ),
    Operation(
        name="norm", family="norm", points=3, level=2, forward="(({0} ** 2).sum({axis}, keepdim=True) + 0.1) ** 0.5",
        back=("g * x / y",), shapes=REDUCED, needs="free", gives="positive",
        principle="A length grows along the vector itself: what arrives is scaled by the vector over its length.",
    ),
    Operation(
        name="variance", family="norm", points=4, level=2, forward="{0}.var({axis}, keepdim=True)", rule="var",
        words={"c": "1"}, shapes=REDUCED, needs="free", gives="positive", slips="mean-missing distance-missing",
        principle="Entries far from the mean move a variance most: twice the distance, over the number less one.",
    ),
    Operation(
        name="transpose", family="layout", points=1, forward="{0}.T", back=("g.T",), shapes=("a b -> b a",), gives="=",
        principle=MOVED + ".", undoes="transpose", slips="transposed",
    ),
    Operation(
        name="swap-axes", family="layout", points=2, level=2, forward="{0}.transpose(1, 2)",
        back=("g.transpose(1, 2)",), shapes=("a b c -> a c b",), gives="=", weight=3, undoes="swap-axes",
        principle=MOVED + ": the same two axes change places again.",
    ),
    Operation(
        name="permute", family="layout", points=3, level=2, forward="{0}.permute(2, 0, 1)", gives="=", weight=3,
        back=("g.permute(1, 2, 0)",), shapes=("a b c -> c a b",),
        principle=MOVED + ": the inverse order of the axes undoes the order.",
    ),
    Operation(
        name="reshape", family="layout", points=2, level=2, weight=3, forward="{0}.reshape({a}, {b} * {c})", gives="=",
        back=("g.reshape({a}, {b}, {c})",), shapes=("a b c -> a b*c",),
        principle="A reshape moves nothing in memory: what arrives takes the old shape again.",
    ),
    Operation(
        name="concat", family="layout", points=3, level=2, weight=2, forward="torch.cat([{0}, {1}], 1)", gives="signed",
        back=("g[:, :x.shape[1]]", "g[:, z.shape[1]:]"), shapes=("a b, a c -> a b+c",),
        principle="What was joined is cut apart again, at the same place.",
    ),
    Operation(
        name="add", family="fork", points=3, level=2, weight=3, forward="{0} + {1}", shapes=PAIR, other=True,
        principle="A sum passes on to each of its terms what arrives.",
    ),
    Operation(
        name="sub", family="fork", points=3, level=2, weight=2, forward="{0} - {1}", shapes=PAIR, other=True,
        principle="A difference passes on what arrives, and to what is subtracted with the opposite sign.",
    ),
    Operation(
        name="mul", family="fork", points=4, level=2, weight=3, forward="{0} * {1}", shapes=PAIR, other=True,
        principle="In a product each side is scaled by the other side.", slips="own-factor",
    ),
    Operation(
        name="div", family="fork", points=5, level=3, weight=3, forward="{0} / {1}", shapes=PAIR, other=True,
        principle="A quotient divides what arrives; what divides gets the numerator over its own square, with a minus.",
        slips="multiplied:div square-missing numerator-missing",
    ),
    Operation(
        name="embedding", family="index", points=4, level=2, weight=2, forward="{0}[{1}]", gives="=",
        back=("torch.zeros_like(x).index_add_(0, z, g)",), shapes=("a b, c:ints(a) -> c b",), slips="scatter-overwrite",
        principle="A row that was looked up several times gets the sum of what arrives at each of the places.",
    ),
    Operation(
        name="gather", family="index", points=4, level=2, weight=2, forward="{0}.gather(1, {1})", gives="=",
        back=("torch.zeros_like(x).scatter_add_(1, z, g)",), shapes=("a b, a c:ints(b) -> a c",),
        principle="An entry that was picked several times gets the sum of what arrives at each of the places.",
        slips="scatter-overwrite",
    ),
    Operation(
        name="scatter", family="index", points=3, level=2, weight=2, gives="",
        forward="torch.zeros({c}, {b}).index_add(0, {1}, {0})", back=("g[z]",), shapes=("a b, a:ints(c) -> c b",),
        principle="Every row that was added to a place gets all that arrives at the place.",
    ),
    Operation(
        name="convolution", family="convolution", points=6, level=3, weight=2, forward="{0}.unfold(1, 2, 1) @ {1}",
        back=("F.pad(g * z[0], (0, 1)) + F.pad(g * z[1], (1, 0))", "(g.unsqueeze(2) * z.unfold(1, 2, 1)).sum((0, 1))"),
        shapes=("a b, 2 -> a b-1",),
        principle="Each weight of the kernel meets every window and gets the sum over them; an entry gets a share from "
        "each window that it stands in.",
    ),
)  # fmt: skip
"""Every operation."""
OPERATIONS: Mapping[str, Operation] = {operation.name: operation for operation in TABLE}
HEAP = "heap"
"""Beside the operations: a matrix product of more than two axes is taught by a lesson of its own."""
FORKS = frozenset({"overwritten", "share-missing"})
"""Slips that any tensor with several readers can show."""
SQUARE = frozenset({"matmul-order", "transposed"})
"""Slips that sizes tell apart unless they are equal."""
