"""Forward program as this room needs it: sizes, inputs and a text."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class SourceInput(Protocol):
    """Tensor that a program starts from.

    `sizes` has one expression per axis over the dims, such as `N` or `block*n_embd`; `distribution` says how it is
    drawn, below `bound` or with these `parameters`.
    """

    @property
    def name(self) -> str: ...
    @property
    def sizes(self) -> tuple[str, ...]: ...
    @property
    def distribution(self) -> str: ...
    @property
    def bound(self) -> str | None: ...
    @property
    def parameters(self) -> tuple[float, ...]: ...
    @property
    def real(self) -> bool:
        """True if the entries are real numbers, so that there is a gradient."""

    @property
    def is_mask(self) -> bool:
        """True if the entries are truths."""


class ForwardSource(Protocol):
    """Straight line of torch from `inputs` to `outputs`.

    `related` are dims whose size is an expression over earlier ones, `hidden` sizes of dims in the first and the second
    hidden run, where they are given.
    """

    @property
    def source(self) -> str: ...
    @property
    def dims(self) -> Mapping[str, int]: ...
    @property
    def inputs(self) -> Sequence[SourceInput]: ...
    @property
    def outputs(self) -> tuple[str, ...]: ...
    @property
    def related(self) -> Mapping[str, str]: ...
    @property
    def hidden(self) -> Mapping[str, tuple[int, int]]: ...
