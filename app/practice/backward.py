"""The backward pass of a program as text: the rules of its operations, written in torch, shares added up at forks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from app.grading.operations.row import OperationExercise
from app.practice.rule_text import rule_in_torch, sum_text
from app.practice.shapes import Shape, form_of
from app.syntax import attribute_of, called_name, index_of, name_of, parse_expression, without_style

VIEWS = frozenset({"T", "mT", "expand_as", "reshape", "permute", "transpose"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardStep:
    """A line of the forward program that makes *name*.

    Args:
        fields: The sizes by letter, and the axis, as the row of the operation has them.
        shape, shapes: Of the output, and of each operand.
    """

    name: str
    operation: OperationExercise
    operands: tuple[str, ...]
    fields: Mapping[str, str]
    shape: Shape
    shapes: tuple[Shape, ...]

    @property
    def text(self) -> str:
        return f"{self.name} = {self.operation.forward.format(*self.operands, **self.fields)}"

    @property
    def terms(self) -> Iterator[tuple[str, str]]:
        """Terms that the line sends to each operand that has a gradient, as torch code."""
        for at, rule in enumerate(self.operation.back[: len(self.operands)]):
            yield self.operands[at], self.sent(at, rule)

    def is_stretched(self, at: int) -> bool:
        """True if the operand was copied along an axis."""
        return self._wide(at) != self.shapes[at]

    def sent(self, at: int, rule: str) -> str:
        """Term that *rule*, right or not, sends to the operand, in its shape.

        Raises:
            KeyError: The rule has a word that is not known here.
        """
        row, axis = self.operation, self.fields.get("axis")
        names = {name: name for name in re.findall(r"[A-Z]\w*", " ".join(self.fields.values()))}
        names |= {"g": f"d{self.name}", "x": self.operands[at], "y": self.name}
        names |= {"z": self.operands[1 - at]} if len(self.operands) > 1 else {}
        named = {**self.fields, "y": self.name}
        words = {word: text.format(*self.operands, **named) for word, text in row.words.items()}
        if axis is not None:
            words.setdefault("n", self.shapes[row.walk][int(axis)])
        ranks = {"g": len(self.shape), "x": len(self.shapes[at]), "z": len(self.shapes[at - 1])}
        rule = rule.format(**self.fields)
        text = rule_in_torch(rule, {**names, **words}, ranks, None if axis is None else int(axis))
        if row.reduces and self.operands[at] not in re.findall(r"\w+", text):
            return f"{text if text.isidentifier() else f'({text})'}.expand_as({self.operands[at]})"
        return sum_text(text, self._wide(at), self.shapes[at])

    def _wide(self, at: int) -> Shape:
        """The shape that the rule gives, before a broadcast is undone."""
        row = self.operation
        if row.rule == "matmul":
            return (*self.shape[:-2], *self.shapes[at][-2:])
        return self.shape if row.broadcasts else self.shapes[at]


def backward_lines(steps: Sequence[ForwardStep]) -> tuple[tuple[str, str], ...]:
    """The lines of the backward pass, each with its operation; later shares of a tensor are added with `+=`."""
    terms = [(step.operation.name, *term) for step in reversed(steps) for term in step.terms]
    shares = [to for _, to, _ in terms]
    begun: set[str] = set()
    lines = []
    for operation, to, text in terms:
        again = to in begun
        own = text if again or shares.count(to) == 1 else _with_memory(text)
        lines.append((f"d{to} {'+=' if again else '='} {without_style(own)}", operation))
        begun.add(to)
    return tuple(lines)


def _with_memory(text: str) -> str:
    """*text* with memory of its own: shares are added to it, and it may be a view of another gradient."""
    node = parse_expression(text)
    views = name_of(node) or index_of(node) is not None or {attribute_of(node), called_name(node)} & VIEWS
    return f"{text}.clone()" if views else text


def step_of(text: str, operation: OperationExercise, shapes: Mapping[str, Shape]) -> ForwardStep | None:
    """The step that a forward line makes, read back from its text; None where the row writes another one."""
    name, _, line = text.partition(" = ")
    match = _pattern(operation).fullmatch(line)
    if match is None or name not in shapes:
        return None
    groups = match.groupdict()
    operands = tuple(groups[key] for key in sorted(groups) if key.startswith("operand"))
    fields = {key: value for key, value in groups.items() if not key.startswith("operand")}
    fixed = form_of(operation.shapes[0]).axis
    if "axis" not in fields and fixed is not None:
        fields["axis"] = str(fixed)
    return ForwardStep(
        name=name,
        operation=operation,
        operands=operands,
        fields=fields,
        shape=shapes[name],
        shapes=tuple(shapes[operand] for operand in operands),
    )


@cache
def _pattern(operation: OperationExercise) -> re.Pattern[str]:
    """The forward line of a row with its operands and sizes left open."""
    seen: set[str] = set()

    def left_open(match: re.Match[str]) -> str:
        key = f"operand{match[1]}" if match[1].isdecimal() else match[1]
        if key in seen:
            return f"(?P={key})"
        seen.add(key)
        return rf"(?P<{key}>\w+)" if match[1].isdecimal() else rf"(?P<{key}>\w+|\([\w *+-]+\))"

    return re.compile(re.sub(r"\\{(\w+)\\}", left_open, re.escape(operation.forward)))
