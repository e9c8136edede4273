"""Every code box of the course runs in the jail undenied: forward, autograd and the solution, in both precisions."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from app.sandbox.vocabulary import ATTRIBUTES
from app.sandbox.wire import Job
from tests.waiting import SECONDS

BOXES = Path(__file__).parent.parent / "grading" / "boxes"
DRAWN = {
    "": "torch.randn({sizes})",
    "randn": "torch.randn({sizes})",
    "positive": "torch.rand({sizes}) + 0.5",
    "onehot": "torch.eye(({sizes})[-1])[torch.randint(0, ({sizes})[-1], ({sizes})[:-1])]",
    "ints": "torch.randint(0, {bound}, ({sizes}))",
}

PROGRAM = """
torch.set_default_dtype(torch.{dtype})
{inputs}
def forward({names}):
{forward}
    return locals()
leaves = {{name: value.clone().requires_grad_() for name, value in locals().items()
          if type(value) is torch.Tensor and value.is_floating_point()}}
taped = forward(**{{name: leaves.get(name, globals()[name]) for name in "{names}".replace(",", "").split()}})
upstream = torch.randn(taped["{output}"].shape) if taped["{output}"].dim() else torch.ones(())
torch.autograd.grad(taped["{output}"], list(leaves.values()), upstream, allow_unused=True)
for name, value in taped.items():
    globals()[name] = value.detach() if type(value) is torch.Tensor else value
d{output} = upstream
print(upstream, repr(taped["{output}"]))
{solution}
"""


def boxes() -> list[dict[str, str]]:
    return [box for file in ("boxes.toml", "network.toml") for box in tomllib.loads((BOXES / file).read_text())["box"]]


def drawn(text: str) -> tuple[str, str]:
    """The name of an input and the statement that draws it."""
    name, sizes, kind, bound = re.fullmatch(r"\s*(\w+): \[(.*?)\]\s*(\w*)(?:\((\w+)\))?\s*", text).groups()
    tupled = f"({sizes},)" if sizes.strip() else "()"
    return name, f"{name} = " + DRAWN[kind].format(sizes=tupled, bound=bound)


def program(box: dict[str, str], dtype: str) -> str:
    inputs = [drawn(part) for part in box["inputs"].split(";")]
    dims = [part.replace(":", " =") for part in box["dims"].split(",") if part.strip()]
    body = "\n".join("    " + line for line in box["forward"].strip().splitlines())
    return PROGRAM.format(
        dtype=dtype,
        inputs="\n".join([*(dim.strip() for dim in dims), *(statement for _, statement in inputs)]),
        names=", ".join(name for name, _ in inputs),
        forward=body,
        output=box["output"],
        solution=box["solution"],
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("box", boxes(), ids=lambda box: box["name"])
def test_a_box_of_the_course_runs_undenied(box, dtype, jail):
    names = box["require"].split()

    reply = jail.run(Job(driver="probe", header={"source": program(box, dtype), "names": names}, seconds=SECONDS))

    assert (reply.ending, reply.texts.get("error")) == ("done", None), reply.detail
    assert set(names) <= reply.arrays.keys()


MORE = [
    "y = torch.linalg.svd(torch.randn(4, 3)).S",
    "y = torch.linalg.eigh(torch.eye(3)).eigenvalues",
    "y = torch.linalg.solve(torch.eye(3), torch.ones(3, 2))",
    "y = torch.fft.rfft(torch.randn(16)).abs()",
    "y = torch.randn(300, 300) @ torch.randn(300, 300)",
    "y = torch.randn(100_000).sort().values.cumsum(0)",
    "y = F.conv2d(torch.randn(8, 16, 28, 28), torch.randn(32, 16, 3, 3), padding=1)",
    "y = torch.nn.Linear(4, 3)(torch.randn(2, 4))",
    "net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh())\ny = net(torch.ones(3, 4))",
    "y = torch.func.vmap(torch.sin)(torch.ones(3))",
    "y = torch.autograd.functional.jacobian(lambda v: v**2, torch.ones(3))",
    "y = torch.multinomial(torch.softmax(torch.randn(5, 27), 1), 1)",
    "y = F.scaled_dot_product_attention(torch.randn(2, 3, 8, 4), torch.randn(2, 3, 8, 4), torch.randn(2, 3, 8, 4))",
    "y = torch.nn.GRU(3, 5)(torch.randn(4, 2, 3))[0]",
    "y = F.interpolate(torch.randn(1, 1, 8, 8), scale_factor=2, mode='bilinear')",
    "y = torch.histc(torch.randn(1000), 10)",
    "y = torch.unique(torch.randint(0, 9, (100,)))",
    "print(torch.randn(100, 100), torch.arange(5), f'{torch.ones(()):.3f}')\ny = torch.ones(1)",
    "import random, statistics, collections, itertools, functools, dataclasses, re, json, copy\ny = torch.ones(1)",
    "y = torch.stack([torch.tensor(v) for v in sorted([3, 1, 2], key=lambda v: -v)])",
    "x = torch.ones(3)\ny = x.to(torch.float16).to(torch.bfloat16).float()",
    "y = torch.cdist(torch.randn(5, 3), torch.randn(4, 3))",
    "y = torch.einsum('bij,bjk,bk->bi', torch.randn(2, 3, 4), torch.randn(2, 4, 5), torch.randn(2, 5))",
    "y = torch.cov(torch.randn(3, 50))",
    "y = torch.randn(8, 8).softmax(-1).log().logsumexp(-1).quantile(0.5)",
    "y = torch.ones(torch.broadcast_shapes((4, 1), (3,), 1))",
    "y = F.binary_cross_entropy(torch.rand(4, 3), torch.rand(4, 3), weight=torch.rand(3))",
]


@pytest.mark.parametrize("source", MORE, ids=[source[:40] for source in MORE])
def test_an_honest_program_beyond_the_course_runs_undenied(source, jail):
    reply = jail.run(Job(driver="probe", header={"source": source, "names": ["y"]}, seconds=SECONDS))

    assert (reply.ending, reply.texts.get("error")) == ("done", None), reply.detail
    assert "y" in reply.arrays


ERRORS = [
    "torch.ones(2, 3) @ torch.ones(2, 3)",
    "torch.ones(2, 3) + torch.ones(2, 4)",
    "torch.ones(3)[7]",
    "F.one_hot(torch.ones(2), 3)",
    "torch.nn.functional.conv2d(torch.ones(1, 1, 2, 2), torch.ones(1, 2, 3, 3))",
    "torch.einsum('ij,jk->ik', torch.ones(2, 3))",
    "torch.tensor([1, 'a'])",
    "torch.ones(3).no_such_thing",
    "torch.sum(1, 2, 3, 4)",
    "torch.stack([torch.ones(2), torch.ones(3)])",
    "torch.ones(3, requires_grad=True).add_(1)",
    "torch.zeros(3).backward()",
    "int('x')",
    "undefined",
    "{}['key']",
    "raise ValueError('é' * 10)",
    "import no_such_module",
    "assert False, 'no'",
    "'a' + 1",
    "exec('x = (')",
]


@pytest.mark.parametrize("source", ERRORS)
def test_an_honest_mistake_is_an_error_with_its_text(source, jail):
    reply = jail.run(Job(driver="probe", header={"source": source}, seconds=SECONDS))

    assert reply.ending == "done"
    assert reply.texts["error"]


WORDS = """
v, lacking = torch.rand(4), set()
for call in calls:
    try:
        eval(call, {"torch": torch, "F": F, "x": x.clone(), "v": v.clone()})
    except ImportError as error:
        lacking.add(f"{call}: {error}")
    except Exception:
        pass
if lacking:
    raise AssertionError(sorted(lacking))
"""
NO_TENSORS = {"index"}  # a method of lists
WITH = ("(x)", "(x, x)", "(x, x, x)", "(x, 2)", "(v, v)", "((4, 1), (4,))")


def test_no_function_that_the_gate_knows_lacks_a_module(jail):
    calls = [
        f"{where}.{word}{inputs}"
        for where in ("torch", "F", "torch.linalg")
        for word in sorted(ATTRIBUTES)
        for inputs in WITH
    ]
    calls += [
        f"x.{word}{inputs}" for word in sorted(ATTRIBUTES - NO_TENSORS) for inputs in ("()", "(x)", "(0)", "(0, 1)")
    ]
    header = {"source": WORDS.replace("in calls", f"in {calls}")}

    reply = jail.run(Job(driver="probe", header=header, arrays={"x": np.ones((4, 4))}, seconds=SECONDS))

    assert (reply.ending, reply.texts.get("error")) == ("done", None), reply.detail


def test_two_runs_draw_different_numbers(jail):
    draw = Job(
        driver="probe",
        header={"source": "import random\ny = torch.rand(3)\nz = torch.tensor(random.random())", "names": ["y", "z"]},
    )

    one, other = jail.run(draw), jail.run(draw)

    assert not np.array_equal(one.arrays["y"], other.arrays["y"])
    assert one.arrays["z"] != other.arrays["z"]
