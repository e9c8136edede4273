"""The figures of the unit on trust, measured: twelve trainings, a tolerance, saturation, depth and first losses.

Everything is drawn from fixed seeds and runs in one thread, so that the pages can be held to what comes out.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log, sqrt

import torch
import torch.nn.functional as F

from app.engine.train.corpus_file import load_examples

Tensor = torch.Tensor
STEPS, EVERY, RATE, SEED, BATCHES = 300, 25, 0.1, 3, 30

BACKWARD = """
dlogits = (probs - F.one_hot(Yb, 27)) / n
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
dh = dlogits @ W2.T
dhpreact = (1 - h ** 2) * dh
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = bngain * dhpreact
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = torch.ones_like(bndiff2) / (n - 1) * dbnvar
dbndiff = bnvar_inv * dbnraw + 2 * bndiff * dbndiff2
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + dbnmeani / n
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
demb = dembcat.view(n * 3, 10)
dC = torch.zeros_like(C)
dC.index_add_(0, Xb.view(-1), demb)
"""
CURVES: Mapping[str, tuple[str, str] | None] = {
    "A": ("+ 2 * bndiff * dbndiff2", ""),
    "B": ("(1 - h ** 2)", "(1 - hpreact ** 2)"),
    "C": ("(bnraw * dhpreact).sum(", "(bnraw * dhpreact).mean("),
    "D": ("dC.index_add_(0, Xb.view(-1), demb)", "dC[Xb.view(-1)] += demb"),
    "E": ("dW1 = embcat.T @ dhprebn", "dW1 = kept['W1'] = embcat.T @ dhprebn + 0.5 * kept.get('W1', 0)"),
    "F": ("dbndiff + dbnmeani / n", "dbndiff"),
    "G": None,
    "H": ("dbnbias = dhpreact.sum(0, keepdim=True)", "dbnbias = dhpreact.sum(1).repeat(2)[None]"),
    "I": ("/ (n - 1)", "/ n"),
    "J": ("bnvar_inv * dbnraw + 2 * bndiff * dbndiff2", "2 * bndiff * dbndiff2"),
    "K": ("dlogits.sum(0)", "dlogits.mean(0)"),
    "L": ("(1 - h ** 2) * dh", "dh"),
}
"""By letter, what was changed in the backward pass; the one that says None is right."""


@dataclass(frozen=True)
class Machine:
    """The character model of 64 hidden units at its start, with the list that comes with the course."""

    generator: torch.Generator
    parameters: dict[str, Tensor]

    @staticmethod
    def of(seed: int) -> "Machine":
        generator = torch.Generator().manual_seed(seed)

        def drawn(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator)

        parameters = {
            "C": drawn(27, 10),
            "W1": drawn(30, 64) * (5 / 3) / sqrt(30),
            "b1": drawn(64) * 0.1,
            "bngain": drawn(1, 64) * 0.1 + 1,
            "bnbias": drawn(1, 64) * 0.1,
            "W2": drawn(64, 27) * 0.1,
            "b2": drawn(27) * 0.1,
        }
        return Machine(generator, parameters)

    def batch(self) -> tuple[Tensor, Tensor]:
        examples = load_examples(None, 3)["train"]
        rows = torch.randint(0, len(examples.targets), (32,), generator=self.generator)
        contexts, targets = torch.as_tensor(examples.contexts), torch.as_tensor(examples.targets)
        return contexts[rows].long(), targets[rows].long()

    def forward(self, contexts: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """Every tensor of the forward pass by name."""
        t = dict(self.parameters)
        t["embcat"] = t["C"][contexts].view(32, 30)
        t["hprebn"] = t["embcat"] @ t["W1"] + t["b1"]
        t["bndiff"] = t["hprebn"] - t["hprebn"].sum(0, keepdim=True) / 32
        t["bndiff2"] = t["bndiff"] ** 2
        t["bnvar"] = t["bndiff2"].sum(0, keepdim=True) / 31
        t["bnvar_inv"] = (t["bnvar"] + 1e-5) ** -0.5
        t["bnraw"] = t["bndiff"] * t["bnvar_inv"]
        t["hpreact"] = t["bngain"] * t["bnraw"] + t["bnbias"]
        t["h"] = torch.tanh(t["hpreact"])
        t["logits"] = t["h"] @ t["W2"] + t["b2"]
        t["logit_maxes"] = t["logits"].max(1, keepdim=True).values
        t["norm_logits"] = t["logits"] - t["logit_maxes"]
        t["counts"] = t["norm_logits"].exp()
        t["probs"] = t["counts"] * t["counts"].sum(1, keepdim=True) ** -1
        t["losses"] = -t["probs"].log()[torch.arange(32), targets]
        return t


def curve(letter: str) -> list[float]:
    """Mean loss of every 25 steps of a training with the backward pass of *letter*."""
    change = CURVES[letter]
    source = compile(BACKWARD.replace(*change) if change else BACKWARD, letter, "exec")
    machine, kept, losses = Machine.of(SEED), dict[str, Tensor](), list[float]()
    for _ in range(STEPS):
        contexts, targets = machine.batch()
        tensors = machine.forward(contexts, targets)
        losses.append(float(tensors["losses"].mean()))
        scope = {**tensors, "Xb": contexts, "Yb": targets, "n": 32, "kept": kept, "torch": torch, "F": F}
        exec(source, scope)
        for name, parameter in machine.parameters.items():
            parameter -= RATE * scope[f"d{name}"]
    return [sum(losses[at : at + EVERY]) / EVERY for at in range(0, STEPS, EVERY)]


def twenty() -> tuple[list[float], list[float]]:
    """Loss of every hundredth batch of a right training of 2,000 steps, and the mean of the hundred that end there."""
    source = compile(BACKWARD, "right", "exec")
    machine, losses = Machine.of(SEED), list[float]()
    for step in range(2000):
        contexts, targets = machine.batch()
        tensors = machine.forward(contexts, targets)
        losses.append(float(tensors["losses"].mean()))
        scope = {**tensors, "Xb": contexts, "Yb": targets, "n": 32, "torch": torch, "F": F}
        exec(source, scope)
        for name, parameter in machine.parameters.items():
            parameter -= (RATE if step < 1000 else RATE / 10) * scope[f"d{name}"]
    ends = range(100, 2001, 100)
    return [losses[end - 1] for end in ends], [sum(losses[end - 100 : end]) / 100 for end in ends]


def accepted() -> Counter[str]:
    """By wrong line, in how many of 30 first batches `torch.allclose(…, atol=1e-5)` takes it for torch's gradient."""
    found: Counter[str] = Counter()
    for seed in range(BATCHES):
        machine = Machine.of(seed)
        for parameter in machine.parameters.values():
            parameter.requires_grad_()
        t = machine.forward(*machine.batch())
        for name in t.keys() - machine.parameters.keys() - {"losses"}:
            t[name].retain_grad()
        t["losses"].mean().backward()
        d = {name: one.grad for name, one in t.items() if name != "losses"}
        with torch.no_grad():
            for name, mine, theirs in _wrong_lines(t, d):
                found[name] += torch.allclose(mine, theirs, atol=1e-5)
                found[f"{name}, by default"] += torch.allclose(mine, theirs)
    return found


def _wrong_lines(t: Mapping[str, Tensor], d: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Name, wrong gradient and torch's."""
    up, raw = d["hpreact"], t["bnraw"]
    short = t["bngain"] * t["bnvar_inv"] / 32 * (32 * up - up.sum(0) - raw * (up * raw).sum(0))
    yield "zeros for dlogit_maxes", torch.zeros(32, 1), d["logit_maxes"]
    yield "zeros for db1", torch.zeros(64), d["b1"]
    yield "n in dbndiff2", torch.ones(32, 64) / 32 * d["bnvar"], d["bndiff2"]
    yield "dbnvar without 1e-5", -0.5 * t["bnvar"] ** -1.5 * d["bnvar_inv"], d["bnvar"]
    yield "n in dhprebn", short, d["hprebn"]
    yield "dlogits without its second share", d["norm_logits"], d["logits"]


def saturation() -> list[tuple[float, float, float]]:
    """Scale of `W1`, share of tanh outputs beyond 0.99, mean local derivative; 1,000 examples, without batch norm."""
    found = []
    for scale in (0.1, (5 / 3) / sqrt(30), 1.0, 3.0):
        generator = torch.Generator().manual_seed(0)
        h = torch.tanh(torch.randn(1000, 30, generator=generator) @ torch.randn(30, 64, generator=generator) * scale)
        found.append((scale, float((h.abs() > 0.99).float().mean()), float((1 - h**2).mean())))
    return found


def depth(gain: float, *, relu: bool = False, layers: int = 20) -> float:
    """Size of the gradient at the first of *layers* square layers, against the one at the last."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(64, 200, generator=generator, dtype=torch.float64)
    masks, weights = [], []
    for _ in range(layers):
        weights.append(torch.randn(200, 200, generator=generator, dtype=torch.float64) * gain / sqrt(200))
        z = x @ weights[-1]
        x = z.relu() if relu else z.tanh()
        masks.append((z > 0).double() if relu else 1 - x**2)
    upstream = torch.randn(64, 200, generator=generator, dtype=torch.float64)
    last = upstream.norm()
    for weight, mask in zip(reversed(weights), reversed(masks), strict=True):
        upstream = (upstream * mask) @ weight.T
    return float(upstream.norm() / last)


def first_loss(spread: float) -> float:
    """Mean loss of 100,000 rows of 27 random scores with the standard deviation *spread*."""
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(100_000, 27, generator=generator) * spread
    return float(F.cross_entropy(z, torch.zeros(len(z), dtype=torch.long)))


def beyond(limit: float = 3.0) -> float:
    """Share of 30 first batches whose single losses exceed *limit*."""
    losses = []
    for seed in range(BATCHES):
        machine = Machine.of(seed)
        losses.append(machine.forward(*machine.batch())["losses"])
    return float((torch.cat(losses) > limit).float().mean())


def main() -> None:
    torch.set_num_threads(1)
    for letter in CURVES:
        print(letter, " ".join(f"{one:.3f}" for one in curve(letter)))
    for name, count in accepted().items():
        print(f"{count:3} of {BATCHES}  {name}")
    for scale, share, slope in saturation():
        print(f"scale {scale:.3f}: saturated {share:.2f}, mean slope {slope:.2f}")
    for gain in (0.5, 1.0, 5 / 3, 3.0):
        print(f"tanh, gain {gain:.2f}: {depth(gain):.1e}")
    for gain in (1.0, sqrt(2), 2.0):
        print(f"relu, gain {gain:.2f}: {depth(gain, relu=True):.1e}")
    for spread in (0.1, 1.0, 5.0):
        print(f"logits spread {spread}: {first_loss(spread):.2f} (ln 27 = {log(27):.3f})")
    print(f"losses above 3 at the start: {beyond():.2f}")
