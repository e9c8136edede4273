"""Practice programs with a name: programs of public code, in the operations of the table.

Each row is a forward program as it is shown, the operation behind each of its lines, and a sentence of where it is met.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedProgram:
    """One row.

    Args:
        says: Its name, and where it is met.
        dims, inputs: Sizes by name, and shapes by tensor, as a `{forward}` has them.
        lines: The program, the last line makes its output.
        operations: The row of the table behind each line.
    """

    says: str
    level: int
    dims: Mapping[str, int]
    inputs: Mapping[str, str]
    lines: tuple[str, ...]
    operations: tuple[str, ...]

    @property
    def output(self) -> str:
        return self.lines[-1].partition(" = ")[0]

    @property
    def forward(self) -> str:
        """The body of its `{forward}`."""
        dims = ", ".join(f"{name}: {size}" for name, size in self.dims.items())
        inputs = ", ".join(f"{name}: {_quoted(shape)}" for name, shape in self.inputs.items())
        head = f":dims: {{{dims}}}\n:inputs: {{{inputs}}}\n:output: {self.output}\n"
        return head + "".join(f"{line}\n" for line in self.lines)


def _quoted(shape: str) -> str:
    return shape if shape.endswith("]") else f'"{shape}"'


NAMED: tuple[NamedProgram, ...] = (
    NamedProgram(
        says="This is a layer with a bias and a ReLU: most of what a feed-forward network is made of.", level=1,
        dims={"N": 5, "D": 4, "H": 3}, inputs={"X": "[N, D]", "W": "[D, H]", "b": "[H]"},
        lines=("a = X @ W", "z = a + b", "y = torch.relu(z)"), operations=("matmul", "bias", "relu"),
    ),
    NamedProgram(
        says="This is the SiLU, also called swish, as two lines: the input times its own gate.", level=2,
        dims={"N": 5, "D": 4}, inputs={"X": "[N, D]"},
        lines=("s = torch.sigmoid(X)", "y = X * s"), operations=("sigmoid", "mul"),
    ),
    NamedProgram(
        says="This is a residual block: the input goes around a layer, and is added to what comes out of it.", level=2,
        dims={"N": 5, "D": 4}, inputs={"X": "[N, D]", "W": "[D, D]"},
        lines=("a = X @ W", "h = torch.relu(a)", "y = X + h"), operations=("matmul", "relu", "add"),
    ),
    NamedProgram(
        says="This is a gated linear unit: one product says what passes, the other how much of it.", level=2,
        dims={"N": 5, "D": 4, "H": 3}, inputs={"X": "[N, D]", "W": "[D, H]", "U": "[D, H]"},
        lines=("a = X @ W", "s = torch.sigmoid(a)", "z = X @ U", "y = z * s"),
        operations=("matmul", "sigmoid", "matmul", "mul"),
    ),
    NamedProgram(
        says="These are token and position embeddings, as the first lines of a language model add them.", level=2,
        dims={"V": 6, "D": 4, "L": 5}, inputs={"W": "[V, D]", "i": "[L] ints(V)", "P": "[L, D]"},
        lines=("e = W[i]", "y = e + P"), operations=("embedding", "add"),
    ),
    NamedProgram(
        says="This is RMS norm without its gain: each row is divided by the root of its mean square.", level=3,
        dims={"N": 5, "D": 4}, inputs={"X": "[N, D]"},
        lines=("q = X ** 2", "m = q.mean(1, keepdim=True)", "r = (m + 0.1) ** -0.5", "y = X * r"),
        operations=("square", "mean", "power", "mul"),
    ),
    NamedProgram(
        says="This is attention of one head: scores, weights that sum to one, and the average that they give.", level=3,
        dims={"N": 5, "D": 4, "M": 3}, inputs={"Q": "[N, D]", "K": "[M, D]", "V": "[M, D]"},
        lines=("s = Q @ K.mT / D ** 0.5", "p = torch.softmax(s, 1)", "y = p @ V"),
        operations=("scores", "softmax", "matmul"),
    ),
    NamedProgram(
        says="This is how embeddings are compared by their angle: each row is divided by its length first.", level=3,
        dims={"N": 5, "D": 4, "H": 3}, inputs={"X": "[N, D]", "W": "[D, H]"},
        lines=("r = ((X ** 2).sum(1, keepdim=True) + 0.1) ** 0.5", "u = X / r", "y = u @ W"),
        operations=("norm", "div", "matmul"),
    ),
    NamedProgram(
        says="This is the head of a classifier: scores, and log-probabilities of the labels that each row has.",
        level=3, dims={"N": 5, "D": 4, "C": 6, "L": 2}, inputs={"X": "[N, D]", "W": "[D, C]", "i": "[N, L] ints(C)"},
        lines=("z = X @ W", "q = torch.log_softmax(z, 1)", "y = q.gather(1, i)"),
        operations=("matmul", "log-softmax", "gather"),
    ),
    NamedProgram(
        says="This is the feed-forward part of a transformer: wider, through a GELU, and back.", level=3,
        dims={"N": 5, "D": 4, "H": 6}, inputs={"X": "[N, D]", "W": "[D, H]", "U": "[H, D]"},
        lines=("a = X @ W", "e = F.gelu(a)", "y = e @ U"), operations=("matmul", "gelu", "matmul"),
    ),
)  # fmt: skip
"""From simple to hard."""
SAYS: Mapping[str, str] = {program.forward: program.says for program in NAMED}
"""By forward program: what it is called."""
