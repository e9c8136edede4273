"""The first code cell of every export: seeded inputs, gradients by autograd to compare with, a place for code.

All of it stands in one class, so that no tensor of a lesson takes the name of a helper. It runs where the export runs,
with torch and nothing else.
"""

import math
import re
from types import TracebackType
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

torch.set_grad_enabled(False)  # no tape: the gradients are yours to write


class backhand:
    """Draws inputs, runs forward programs, keeps what autograd says about them, and compares."""

    SEED = 1
    BLANKS = ("__", "___", "____", "_____", "______")
    # By name: what a forward program left, the gradient of each tensor, and the upstream gradients of its outputs.
    programs: ClassVar[dict[str, tuple[dict[str, Any], dict[str, Tensor], dict[str, Tensor]]]] = {}
    # What the last box left: name, gradient, what autograd says.
    asked: ClassVar[dict[str, tuple[Any, Tensor | None]]] = {}
    # What the function under test should have said in each case, what it said, and what to think about.
    answers: ClassVar[list[tuple[bool, Any, str]]] = []

    @staticmethod
    def randn(*sizes: int) -> Tensor:
        return torch.randn(sizes).requires_grad_()

    @staticmethod
    def positive(*sizes: int) -> Tensor:
        return (0.2 - 1.6 * torch.log1p(-torch.rand(sizes))).requires_grad_()

    @staticmethod
    def onehot(*sizes: int) -> Tensor:
        return F.one_hot(torch.randint(sizes[-1], sizes[:-1]), sizes[-1]).float().requires_grad_()

    @staticmethod
    def ints(bound: int, *sizes: int) -> Tensor:
        return torch.randint(bound, sizes)

    @staticmethod
    def normal(mean: float, deviation: float, *sizes: int) -> Tensor:
        return (mean + deviation * torch.randn(sizes)).requires_grad_()

    @staticmethod
    def uniform(low: float, high: float, *sizes: int) -> Tensor:
        return (low + (high - low) * torch.rand(sizes)).requires_grad_()

    @staticmethod
    def truths(*sizes: int) -> Tensor:
        order = torch.rand(sizes).argsort(-1)  # a row with room for both holds a 0 and a 1
        return (torch.rand(sizes) < 0.5) & (order != 0) | (order == 1)

    @staticmethod
    def mask(*sizes: int) -> Tensor:
        return backhand.truths(*sizes).float().requires_grad_()

    @staticmethod
    def causal(*sizes: int) -> Tensor:
        return torch.ones(sizes).tril().bool()

    @staticmethod
    def distinct(bound: int, *sizes: int) -> Tensor:
        return torch.rand(*sizes[:-1], bound).argsort(-1)[..., : sizes[-1]]

    @staticmethod
    def permutation(*sizes: int) -> Tensor:
        return backhand.distinct(sizes[-1], *sizes)

    @staticmethod
    def ascending(bound: int, *sizes: int) -> Tensor:
        return torch.randint(bound, sizes).sort(-1).values

    class program:
        """Runs a forward program on the tape, and keeps its tensors and the gradient of every one of them.

        From above comes 1 into a scalar, and random numbers into anything else.
        """

        def __init__(self, name: str, outputs: str, /, **dims: int) -> None:
            self.name, self.outputs, self.dims = name, outputs.split(), dims

        def __enter__(self) -> None:
            torch.manual_seed(backhand.SEED)
            globals().update(self.dims)
            self.before = dict(globals())
            torch.set_grad_enabled(True)

        def __exit__(self, kind: object, error: object, trace: object) -> None:
            torch.set_grad_enabled(False)
            if error is not None:
                return
            names = globals()
            found = {
                name: value
                for name, value in names.items()
                if not name.startswith("_") and value is not self.before.get(name)
            }
            ends = [found[name] for name in self.outputs]
            above = [torch.randn(end.shape) if end.ndim else torch.tensor(1.0) for end in ends]
            taped = {
                name: value for name, value in found.items() if isinstance(value, torch.Tensor) and value.requires_grad
            }
            gradients = {}
            if all(end.requires_grad for end in ends):
                found_gradients = torch.autograd.grad(ends, list(taped.values()), above, allow_unused=True)
                gradients = {
                    name: torch.zeros_like(value) if gradient is None else gradient.detach()
                    for (name, value), gradient in zip(taped.items(), found_gradients, strict=True)
                }
            tensors = {
                name: value.detach() if isinstance(value, torch.Tensor) else value for name, value in found.items()
            }
            upstreams = {f"d{name}": one for name, one in zip(self.outputs, above, strict=True)}
            backhand.programs[self.name] = {**self.dims, **tensors}, gradients, upstreams
            names.update(tensors)

    class Blank:
        """Stands where nothing is written yet; whatever is computed from it is blank as well."""

        @classmethod
        def __torch_function__(
            cls, function: Any, types: Any, arguments: tuple[Any, ...] = (), keywords: Any = None
        ) -> "backhand.Blank":
            name = function.__name__
            changed = arguments[0] if arguments else None
            in_place = name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))
            if in_place and type(changed) is torch.Tensor and changed.is_floating_point():
                changed.fill_(math.nan)
            return backhand.Blank()

        def blank(self, *_others: object, **_more: object) -> Any:
            return self

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = blank
        __matmul__ = __rmatmul__ = __pow__ = __rpow__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = blank
        __and__ = __rand__ = __or__ = __ror__ = __lt__ = __le__ = __gt__ = __ge__ = blank
        __neg__ = __pos__ = __abs__ = __invert__ = __call__ = __getitem__ = __eq__ = __ne__ = blank
        __hash__ = object.__hash__

        def __bool__(self) -> bool:
            raise TypeError("Blank is neither true nor false yet")

        def __getattr__(self, name: str) -> "backhand.Blank":
            if name.startswith("__"):
                raise AttributeError(name)
            return self

        def __setitem__(self, place: object, value: object) -> None:
            pass

        def __repr__(self) -> str:
            return "____"

    class place:
        """Code that may be unfinished or wrong without stopping what stands below it."""

        def __enter__(self) -> None:
            names = globals()
            self.hidden = {name: names[name] for name in backhand.BLANKS if name in names}
            names.update({name: backhand.Blank() for name in backhand.BLANKS})
            self.begin(names)

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> bool:
            names = globals()
            for name in backhand.BLANKS:
                names.pop(name, None)
            names.update(self.hidden)
            if error is not None and not isinstance(error, Exception):
                return False
            if error is not None and trace is not None:
                said = f"{type(error).__name__}: {error}"
                left = re.search(r"Blank|_{2,}\b", said)
                print(f"line {trace.tb_lineno}:", "a blank is left here" if left else said)
            self.end(names)
            return True

        def begin(self, names: dict[str, Any]) -> None:
            pass

        def end(self, names: dict[str, Any]) -> None:
            pass

    class box(place):
        """A box of gradients: its code may use the program's tensors, the upstream gradients, and what is given."""

        def __init__(self, program: str, asks: str, given: str = "") -> None:
            self.program, self.asks, self.given = program, asks.split(), given.split()

        def begin(self, names: dict[str, Any]) -> None:
            scope, self.gradients, upstreams = backhand.programs[self.program]
            for name in [*backhand.asked, *self.asks]:
                names.pop(name, None)
            scope = {**scope, **upstreams, **{name: self.gradients[name[1:]] for name in self.given}}
            names.update(
                {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in scope.items()}
            )

        def end(self, names: dict[str, Any]) -> None:
            backhand.asked = {name: (names.get(name), self.gradients.get(name[1:])) for name in self.asks}

    @staticmethod
    def compare() -> None:
        """Each gradient of the box above beside the one of torch.autograd.

        exact: equal to the last bit. approx: they differ by less than 1e-5 of the size of the gradients here.
        largest difference: of any two entries that should be equal.
        """
        sizes = sorted(float(one.abs().max()) for _, one in backhand.asked.values() if one is not None and one.numel())
        usual = sizes[len(sizes) // 2] if sizes else 0.0
        width = max([8, *map(len, backhand.asked)])
        print(f"{'gradient':<{width}}  {'shape':<16}  exact  approx  largest difference")
        for name, (mine, reference) in backhand.asked.items():
            row = backhand.compared(mine, reference, usual)
            print(f"{name:<{width}}  {row}")

    @staticmethod
    def compared(mine: Any, reference: Tensor | None, usual: float) -> str:
        if mine is None or isinstance(mine, backhand.Blank):
            return "not yet"
        if reference is None:
            return "autograd has no gradient of this name"
        if not isinstance(mine, torch.Tensor):
            try:
                mine = torch.tensor(mine, dtype=reference.dtype)
            except Exception:
                return f"is a {type(mine).__name__}, not a tensor"
        if mine.shape != reference.shape:
            return f"has the shape {tuple(mine.shape)}; it should be {tuple(reference.shape)}"
        if mine.isnan().all() and not reference.isnan().any():
            return "not yet"
        if not mine.any() and reference.any():
            return "not yet: still all zeros"
        difference = (mine - reference).abs()
        largest = float(difference.max()) if difference.numel() else 0.0
        size = float(reference.abs().max()) if reference.numel() else 0.0
        exact, approx = bool((mine == reference).all()), largest <= 1e-5 * max(size, usual)
        return f"{tuple(mine.shape)!s:<16}  {exact!s:<5}  {approx!s:<6}  {largest:.2g}"

    class function(place):
        """A function that is to tell right from wrong; it is tried on the cases below it."""

        def __init__(self, name: str) -> None:
            self.name = name

        def begin(self, names: dict[str, Any]) -> None:
            names.pop(self.name, None)
            backhand.answers = []

    class case(place):
        """One case: the function should say *right*; where it does not, *message* is what to think about."""

        def __init__(self, right: bool, message: str) -> None:
            self.right, self.message = right, message

        def begin(self, names: dict[str, Any]) -> None:
            names["said"] = None

        def end(self, names: dict[str, Any]) -> None:
            backhand.answers.append((self.right, names.pop("said", None), self.message))

    @staticmethod
    def verdicts() -> None:
        """What the function said in each case, and whether it should have."""
        print("case  should be  said      right")
        for number, (right, said, message) in enumerate(backhand.answers, start=1):
            if said is None or isinstance(said, backhand.Blank):
                print(f"{number:>4}  {right!s:<9}  not yet")
            else:
                good = bool(said) == right
                print(f"{number:>4}  {right!s:<9}  {bool(said)!s:<8}  {good!s}{'' if good else '  ' + message}")
