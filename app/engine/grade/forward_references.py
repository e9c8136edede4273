"""A forward program studied: its tensors on three sets of data, and references for any set of forced upstreams.

The sets: `v` has the lesson's sizes in float32; `a` and `b` have hidden sizes in float64. All numbers come from the
jail, by way of the cache of facts; only seeded inputs and random upstreams are drawn here.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from app.content.blocks import Forward
from app.engine.grade.author_errors import SECONDS, AuthorError, Blame, undefined
from app.engine.grade.facts_cache import Entry, FactsCache
from app.engine.grade.jail_runs import JailFailedError, JailRuns
from app.engine.grade.seeds import PUBLIC, Seeds
from app.grading.diagnosis.evidence import Look
from app.grading.forward.data import Absent, Array, draw_inputs, draw_upstream, hidden_dims
from app.grading.forward.driver_jobs import Line, TapeHeader, TapeRun
from app.grading.forward.facts import Facts
from app.grading.forward.statements import Program, ProgramError, read_program
from app.grading.judge.compare import Reference
from app.sandbox.wire import Job

SETS = ("v", "a", "b")
HIDDEN = ("a", "b")
DTYPE = {"v": "float32", "a": "float64", "b": "float64"}
_SPREAD = {"v": 1.0, "a": 1.0, "b": 0.25}
_ABSENT: dict[str, Absent] = {"v": "any", "a": "last", "b": "first"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """The program's tensors on one set of data; *numbers* are what its statements left that is not a tensor."""

    dims: Mapping[str, int]
    tensors: Mapping[str, Array]
    numbers: Mapping[str, float]


class Study:
    """One forward program.

    Args:
        seeds: Where hidden numbers come from.
        scaled: Whether a scalar output has a random upstream on hidden data; a loss has upstream 1 everywhere.

    Raises:
        AuthorError: The program cannot be read, does not run, or its output has no gradient.
        JailFailedError: The jail did not finish the run.
    """

    def __init__(
        self, forward: Forward, jail: JailRuns, cache: FactsCache, scaled: bool = False, seeds: Seeds = PUBLIC
    ) -> None:
        self.forward = forward
        self._scaled = scaled
        self._mark = seeds.mark
        self._seed = {name: seeds.of(self._content, name, hidden=name in HIDDEN) for name in SETS}
        self._jail = jail
        self._cache = cache
        inputs = [one.name for one in forward.inputs]
        try:
            self.program: Program = read_program(forward.source, inputs, forward.dims, *forward.outputs)
        except ProgramError as error:
            raise AuthorError(error.message, forward.line_of(error.line)) from None
        self._blame = Blame(forward, self.program)
        self.pinned = False
        self._fixed = ("", 0)
        self.gradable: tuple[str, ...] = ()
        self.sets = self._evaluate()

    @cached_property
    def _content(self) -> object:
        inputs = [
            [one.name, list(one.sizes), one.distribution, one.bound, *one.parameters] for one in self.forward.inputs
        ]
        content: list[object] = [dict(self.forward.dims), inputs, *self.forward.outputs, self.forward.source]
        given = [dict(self.forward.related), {name: list(one) for name, one in self.forward.hidden.items()}]
        return content + (given if any(given) else [])

    @cached_property
    def seed(self) -> str:
        """Of what is shown; the same for the same program."""
        return self._seed["v"]

    def _drawn(self, name: str, dims: Mapping[str, int]) -> dict[str, Array]:
        return draw_inputs(self.forward, dims, self._seed[name], DTYPE[name], _SPREAD[name], _ABSENT[name])

    @property
    def _statements(self) -> list[Line]:
        return [
            {"source": one.source, "outputs": list(one.outputs), "inputs": list(one.inputs)}
            for one in self.program.statements
        ]

    # The forward runs.

    def _evaluate(self) -> dict[str, DataSet]:
        visible = dict(self.forward.dims)
        # Free sizes tell most apart; then sizes that keep products; then the author's own, with hidden numbers.
        why = ("", 0)
        for kind in ("free", "related", "pinned"):
            try:
                dims = {"v": visible, **{name: self._hidden(kind, shift) for shift, name in enumerate(HIDDEN)}}
                entry, report = self._forward_run(dims)
            except ValueError as error:  # a size such as C / H may be whole on the lesson's own sizes alone
                why = why if why[0] else (str(error).rstrip("."), 0)
                continue
            except JailFailedError as error:
                raise self._blame.unfinished(error, dims) from None
            self._blame.refuse(report["v"], dims)
            failed = next((name for name in HIDDEN if "message" in report[name] or undefined(report[name])), None)
            if failed is None:
                break
            why = why if why[0] else self._blame.fails(report[failed], dims[failed])
        for name in HIDDEN:
            self._blame.refuse(report[name], dims)
        self.pinned = dims["a"] == visible
        self._fixed = why if kind == "pinned" else ("", 0)
        self.gradable = self.program.backward_order(report["v"]["gradable"])
        for output in self.forward.outputs:
            if output not in self.gradable:
                message = f"the output `{output}` does not depend on any input of real numbers"
                raise AuthorError(message, self._blame.line_writing(output))
        return {name: self._data_set(name, dims[name], entry, report[name]) for name in SETS}

    def _hidden(self, kind: str, shift: int) -> dict[str, int]:
        if kind == "pinned":
            return dict(self.forward.dims)
        return hidden_dims(self.forward, shift, related=kind == "related")

    def _forward_run(self, dims: Mapping[str, Mapping[str, int]]) -> tuple[Entry, dict[str, Any]]:
        arrays: dict[str, Array] = {}
        runs = []
        for name in SETS:
            drawn = self._drawn(name, dims[name])
            arrays |= {f"{name}/{key}": one for key, one in drawn.items()}
            runs.append(self._run(name, dims[name]))
        question = ["forward", {name: dict(one) for name, one in dims.items()}]
        return self._ask(question, "forward", runs, lambda: arrays)

    def _data_set(self, name: str, dims: Mapping[str, int], entry: Entry, report: Mapping[str, Any]) -> DataSet:
        tensors = self._drawn(name, dims)
        prefix = f"{name}/"
        tensors |= {key.removeprefix(prefix): one for key, one in entry.arrays.items() if key.startswith(prefix)}
        numbers = {key: one["number"] for key, one in report["tensors"].items() if "number" in one}
        return DataSet(dims=dims, tensors=tensors, numbers=numbers)

    # Upstreams.

    def forced(self, name: str, tensor: str) -> Array:
        """The upstream that is forced into *tensor*; those of the outputs are given to the learner."""
        shape = self.sets[name].tensors[tensor].shape
        if tensor in self.forward.outputs and shape == () and not (self._scaled and name in HIDDEN):
            return np.ones((), dtype=DTYPE[name])
        return draw_upstream(shape, self._seed[name], tensor, DTYPE[name])

    # The backward runs.

    def references(self, cuts: Mapping[str, tuple[str, Collection[str]]], want: Collection[str]) -> dict[str, Any]:
        """References by run: each run names a data set and the tensors into which random upstreams are forced.

        Returns:
            By run and tensor, a `Reference`; tensors without a gradient are missing.
        """
        wanted = sorted(want)
        entry, report = self._backward(cuts, wanted, None, ())
        found: dict[str, dict[str, Reference]] = {}
        for run in cuts:
            found[run] = {
                tensor: Reference(
                    gradient=entry.arrays[f"{run}/g/{tensor}"],
                    shares=report[run][tensor]["shares"],
                    noise=report[run][tensor]["noise"],
                )
                for tensor in wanted
                if tensor in report[run]
            }
        return found

    def looks(
        self, tensor: str, cut: Collection[str], others: Collection[str], got: Mapping[str, Array]
    ) -> dict[str, Look]:
        """Everything that a diagnosis may look at, by data set; *got* holds the learner's tensor of each set.

        On hidden data upstreams are forced into *cut*; on the lesson's own data the true ones are in force.
        """
        cuts = {name: (name, list(self.forward.outputs if name == "v" else cut)) for name in got}
        blockable = [
            name
            for statement in self.program.statements
            for name in statement.outputs
            if name not in cut and name in self.gradable
        ]
        entry, _ = self._backward(cuts, [tensor], tensor, blockable, others)
        return {name: self._look(name, entry, tensor, cut, others, got[name]) for name in got}

    def _look(
        self, run: str, entry: Entry, tensor: str, cut: Collection[str], others: Collection[str], got: Array
    ) -> Look:
        def under(kind: str) -> dict[str, Array]:
            prefix = f"{run}/{kind}/"
            return {key.removeprefix(prefix): one for key, one in entry.arrays.items() if key.startswith(prefix)}

        shares = under("s")
        upstream = under("up")
        pairs = {tuple(key.split("/", 1)): one for key, one in under("o").items()}
        names = {*others, *cut} if run != "v" else set(self.forward.outputs)
        return Look(
            got=got,
            reference=entry.arrays[f"{run}/g/{tensor}"],
            shares=shares,
            unreduced={**shares, **under("u")},
            upstream=upstream,
            forward=self.sets[run].tensors,
            gradients={f"d{name}": self.forced(run, name) for name in sorted(names)},
            blocked=under("b"),
            others={(key[0], f"d{key[1]}"): one for key, one in pairs.items() if len(key) == 2},
            dims=self.sets[run].dims,
        )

    def _backward(
        self,
        cuts: Mapping[str, tuple[str, Collection[str]]],
        want: Sequence[str],
        detail: str | None,
        blockable: Sequence[str],
        others: Collection[str] = (),
    ) -> tuple[Entry, dict[str, Any]]:
        runs: list[TapeRun] = []
        for run, (name, cut) in cuts.items():
            held = sorted({*cut, *self.forward.outputs})
            asked = sorted(others) if detail and name != "v" else []
            runs.append(
                {
                    **self._run(name, self.sets[name].dims),
                    "id": run,
                    "forced": {tensor: f"{name}/d{tensor}" for tensor in held},
                    "whole": name == "v" and not detail,
                    "want": list(want),
                    "detail": detail,
                    "others": {tensor: f"{name}/d{tensor}" for tensor in asked},
                    "blockable": list(blockable),
                }
            )

        def arrays() -> dict[str, Array]:
            found: dict[str, Array] = {}
            for (name, _), run in zip(cuts.values(), runs, strict=True):
                found |= {key: self.sets[name].tensors[one] for one, key in run["inputs"].items()}
                found |= {key: self.forced(name, one) for one, key in {**run["forced"], **run["others"]}.items()}
            return found

        question = ["backward", [{key: one for key, one in run.items() if key != "inputs"} for run in runs]]
        return self._ask(question, "backward", runs, arrays)

    def _run(self, name: str, dims: Mapping[str, int]) -> TapeRun:
        inputs = {one.name: f"{name}/{one.name}" for one in self.forward.inputs}
        return {"id": name, "dims": dict(dims), "dtype": DTYPE[name], "inputs": inputs}

    def _ask(
        self, question: object, mode: str, runs: Sequence[TapeRun], arrays: Callable[[], Mapping[str, Array]]
    ) -> tuple[Entry, dict[str, Any]]:
        """The answer to *question*: the one that is kept, or that of a run, for which *arrays* are drawn."""
        header: TapeHeader = {
            "mode": mode,
            "statements": self._statements,
            "outputs": list(self.forward.outputs),
            "runs": runs,
        }

        def answer() -> Entry:
            reply = self._jail.run(Job(driver="tape", header=header, arrays=arrays(), seconds=SECONDS))
            if reply.ending != "done" or "report" not in reply.texts:
                raise JailFailedError(reply)
            return Entry(arrays=reply.arrays, texts={"report": reply.texts["report"]})

        entry = self._cache.get([self._content, self._scaled, self._mark, question], answer)
        assert entry is not None, "an answer is an entry or an exception"
        return entry, json.loads(entry.texts["report"])

    # What pages need.

    @cached_property
    def facts(self) -> Facts:
        shapes = {name: one.shape for name, one in self.sets["v"].tensors.items()}
        pinned, line = self._fixed
        return Facts(shapes=shapes, gradable=self.gradable, pinned=pinned, line=line)
