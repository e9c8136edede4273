"""What the unit on attention measured is measured again here, and its transformer trains as autograd's does."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from tests.courses import LESSONS

STEPS, EXAMPLES, RATE = 100, 32, 0.2
RATES = (1, 10, 100)
GAINS = {"g1", "g2"}


def page(name: str) -> str:
    return next(Path(LESSONS).glob(f"*/*{name}.md")).read_text()


def code(text: str, opening: str) -> str:
    """The code of the fence that comes first after *opening*, without its options."""
    body = text.partition(opening)[2].partition("\n```")[0]
    return "\n".join(line for line in body.splitlines()[1:] if not line.startswith(":"))


def ran(source: str, scope: Mapping[str, object]) -> dict[str, torch.Tensor]:
    """What *source*, which is code of the course, has written, beside *scope*."""
    names = {"torch": torch, "F": F, **scope}
    exec(source, names)
    return {name: value for name, value in names.items() if isinstance(value, torch.Tensor)}


def start(text: str) -> tuple[dict[str, int], dict[str, torch.Tensor]]:
    """The sizes of the transformer, and its parameters as a run begins with them."""
    options = text.partition("```{forward} transformer")[2]
    dims = {name: int(size) for name, size in re.findall(r"(\w+): (\d+)", options.split("\n")[1])}
    scales = dict(re.findall(r"(\w+): ([\d.]+)", options.partition(":scale:")[2].split("\n")[0]))
    shapes = re.findall(r"(\w+): \[([\w, ]+)\]", options.split("\n")[2])
    torch.manual_seed(0)
    parameters = {
        name: torch.randn([dims[size] for size in shape.split(", ")]).double() * float(scales[name])
        + float(name in GAINS)
        for name, shape in shapes
    }
    return dims, parameters


def losses(autograd: bool) -> list[float]:
    """The losses of the first steps of a transformer, with autograd's gradients or with the lines of the solution."""
    text = page("a-transformer-trained")
    forward = code(text, "```{forward} transformer")
    backward = code(text.partition("::::{grad} transformer-backward")[2], "```{solution}")
    dims, parameters = start(text)
    made = []
    for _ in range(STEPS):
        Xb = torch.randint(dims["vocab"], (EXAMPLES, dims["block"]))
        data = {"Xb": Xb, "Yb": (Xb[:, -1] + Xb[:, 0]) % dims["vocab"]}
        leaves = {name: value.detach().requires_grad_(autograd) for name, value in parameters.items()}
        scope = ran(forward, {**dims, **leaves, **data})
        if autograd:
            scope["loss"].backward()
            gradients = {name: leaf.grad for name, leaf in leaves.items()}
        else:
            wrote = ran(backward, {**dims, **scope})
            gradients = {name: wrote[f"d{name}"] for name in parameters}
        made.append(scope["loss"].item())
        parameters = {name: value.detach() - RATE * gradients[name] for name, value in parameters.items()}
    return made


def test_a_transformer_trained_by_hand_has_the_losses_of_autograd() -> None:
    by_hand = losses(autograd=False)

    assert by_hand == pytest.approx(losses(autograd=True), abs=1e-9)
    assert len(by_hand) == STEPS
    assert by_hand[-1] < by_hand[0]


def test_the_transformer_has_as_many_parameters_as_its_page_says() -> None:
    _, parameters = start(page("a-transformer-trained"))

    assert sum(value.numel() for value in parameters.values()) == 2944


def test_the_rounds_of_the_exam_have_as_many_lines_as_its_page_says() -> None:
    text = page("a-transformer-trained")
    solutions = [
        code(text.partition(f"::::{{grad}} {box}\n")[2], "```{solution}")
        for box in ("exam-upper", "exam-head", "transformer-backward")
    ]
    written = [re.findall(r"^d\w+(?:\[.*?\])?(?: =|\.index_add_)", solution, re.MULTILINE) for solution in solutions]

    assert [len(lines) for lines in written] == [11, 10, 27]
    assert "about 11 lines and 10." in text
    assert "and for six more: a whole backward pass of 27 lines." in text


def normed_losses(rate: float) -> tuple[list[float], list[float]]:
    """The losses of the run of *The other axis* over 100 steps, and the lengths of its weight."""
    torch.manual_seed(1)
    X, W, Y = torch.randn(32, 10).double(), (torch.randn(10, 8) * 0.3).double(), torch.randn(32, 8).double()
    names: dict[str, object] = {"torch": torch}
    exec(code(page("the-other-axis").partition("::::{program} normed-run")[2], "```{solution}"), names)
    run = names["normed_run"]
    assert callable(run)
    losses = run(X, W, Y, rate, 101)
    lengths = [W.norm().item()]
    for _ in range(100):
        W = W.requires_grad_()
        z = X @ W
        ((z * (z**2).mean(1, keepdim=True) ** -0.5 - Y) ** 2).mean().backward()
        assert W.grad is not None
        W = (W - rate * W.grad).detach()
        lengths.append(W.norm().item())
    return losses, lengths


@pytest.mark.parametrize("rate", RATES)
def test_the_same_rates_without_a_norm_end_as_measured(rate: int) -> None:
    torch.manual_seed(1)
    X, W, Y = torch.randn(32, 10).double(), (torch.randn(10, 8) * 0.3).double(), torch.randn(32, 8).double()
    for _ in range(20):
        W = W - rate * X.T @ (2 * (X @ W - Y) / Y.numel())
    told = re.findall(rf"^\| {rate} \|.* \| ([^|]+) \|$", page("the-other-axis"), re.MULTILINE)[0]
    number, _, power = told.partition(" · 10")

    ends = float(number) * 10.0 ** int(power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")) or 0)
    assert ends == pytest.approx(((X @ W - Y) ** 2).mean().item(), rel=0.05)


@pytest.mark.parametrize("rate", RATES)
def test_a_weight_before_a_norm_bears_any_rate_as_measured(rate: int) -> None:
    text = page("the-other-axis")
    places = [int(place) for place in re.findall(r":given: \{x: \[(.*?)\], plain", text)[0].split(",")]
    told = [float(loss) for loss in re.findall(rf"rate {rate}: \[(.*?)\]", text)[0].split(",")]
    row = re.findall(rf"^\| {rate} \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", text, re.MULTILINE)[0]
    measured, lengths = normed_losses(rate)

    assert told == pytest.approx([measured[place] for place in places], abs=6e-4)
    assert [float(number) for number in row[:3]] == pytest.approx([lengths[0], lengths[1], lengths[100]], rel=2e-3)
    assert float(row[3]) == pytest.approx(measured[20], abs=6e-4)
    assert lengths == sorted(lengths)


def left(around: bool) -> list[float]:
    """How much of a gradient is left after 1 to 50 layers of 64 tanh units, with or without a way around."""
    torch.manual_seed(0)
    x = torch.randn(32, 64).double()
    tables, slopes = [], []
    for _ in range(50):
        W = torch.randn(64, 64).double() * 0.5 / 8
        z = torch.tanh(x @ W)
        x = x + z if around else z
        tables.append(W)
        slopes.append(1 - z**2)
    upstream = torch.randn(32, 64).double()
    size, sizes = upstream.norm(), []
    for W, slope in zip(reversed(tables), reversed(slopes), strict=True):
        upstream = upstream * float(around) + (upstream * slope) @ W.T
        sizes.append((upstream.norm() / size).item())
    return sizes


@pytest.mark.parametrize(("name", "around"), [("around", True), ("through", False)])
def test_a_way_around_keeps_a_gradient_as_measured(name: str, around: bool) -> None:
    text = page("a-transformer-trained")
    places = [
        int(place) for place in re.findall(r":given: \{plain: x, x: \[(.*?)\], lines: \{around", text)[0].split(",")
    ]
    told = [float(number) for number in re.findall(rf"{name}: \[(.*?)\]", text)[0].split(",")]
    measured = left(around)

    assert told == pytest.approx([measured[place - 1] for place in places], rel=0.05)


@pytest.mark.parametrize(("scale", "largest", "slope"), [(1, "0.94", "0.011"), (1 / 16, "0.36", "0.096")])
def test_scores_without_a_root_flatten_a_softmax_as_measured(scale: float, largest: str, slope: str) -> None:
    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(4000, 256, generator=generator).double()
    keys = torch.randn(4000, 8, 256, generator=generator).double()
    p = torch.softmax(torch.einsum("nd,nkd->nk", queries, keys) * scale, 1)
    text = page("one-head").partition("{reveal} flat-before-it-begins")[2].partition(":::")[0]

    assert f"{p.max(1).values.mean():.2f}" == largest
    assert f"{(p * (1 - p)).mean():.3f}" == slope
    assert largest in text
    assert slope in text


def test_held_back_rows_of_pairs_are_mostly_known_up_to_their_order() -> None:
    rows = [line.split(",") for line in next(Path(LESSONS).glob("*/pairs.csv")).read_text().split()]
    bags = [(frozenset(row[:4]), row[4]) for row in rows if row[0].isdigit()]
    known, held_back = set(bags[: len(bags) * 8 // 10]), bags[len(bags) * 8 // 10 :]

    part = sum(bag in known for bag in held_back) / len(held_back)
    assert len(bags) == 3000
    assert f"{part:.0%}".replace("%", " %") in page("one-head").partition("{reveal} what-it-looks-at")[2]
