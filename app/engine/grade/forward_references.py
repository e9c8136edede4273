"""A forward program studied: its tensors on three sets of data, and references for any set of forced upstreams.

The sets: `v` has the lesson's sizes in float32; `a` and `b` have hidden sizes in float64. They are drawn again where
they miss a side of one of the program's predicates; programs of few numbers have more pairs like `a` and `b`. All
numbers come from the jail, by way of the cache of facts; only seeded inputs and random upstreams are drawn here.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import astuple
from functools import cached_property, partial
from typing import Any

import numpy as np

from app.content.blocks import Forward
from app.engine.grade.author_errors import FORWARD_RUN_SECONDS, AuthorError, FailureExplainer, first_nan_tensor
from app.engine.grade.facts_cache import CacheEntry, FactsCache
from app.engine.grade.hidden_draws import DRAWS, DTYPE, HIDDEN, SETS, DataSet, Drawn, asked_in, better_draws
from app.engine.grade.jail_runs import JailFailedError, JailRunner
from app.engine.grade.seeds import PUBLIC, Seeds
from app.grading.forward.data import Array, draw_inputs, draw_upstream, hidden_dims
from app.grading.forward.driver_jobs import ForwardLineSpec, TapeHeader, TapeRun
from app.grading.forward.facts import Facts
from app.grading.forward.statements import ForwardProgram, ProgramError, read_program
from app.grading.judge.compare import Reference
from app.grading.reading.shape_inference import fits_memory
from app.sandbox.wire import Job


class ForwardReferences:
    """One forward program.

    Args:
        seeds: Where hidden numbers come from.
        scaled: Whether a scalar output has a random upstream on hidden data; a loss has upstream 1 everywhere.

    Raises:
        AuthorError: The program cannot be read, does not run, or its output has no gradient.
        JailFailedError: The jail did not finish the run.
    """

    def __init__(
        self, forward: Forward, jail: JailRunner, cache: FactsCache, scaled: bool = False, seeds: Seeds = PUBLIC
    ) -> None:
        self.forward = forward
        self._scaled = scaled
        self._mark = seeds.mark
        self.value_key = seeds.value_key
        self._content = content_of(forward)
        self._seed = {name: seeds.of(self._content, name, hidden=name in HIDDEN) for name in SETS}
        self.draws = dict(DRAWS)
        self._jail = jail
        self._cache = cache
        inputs = [tensor_input.name for tensor_input in forward.inputs]
        try:
            self.program: ForwardProgram = read_program(forward.source, inputs, forward.dims, *forward.outputs)
        except ProgramError as error:
            raise AuthorError(error.message, forward.line_of(error.line)) from None
        self._blame = FailureExplainer(forward, self.program)
        self.pinned = False
        self._fixed = ("", 0)
        self._upstreams: dict[tuple[str, str], Array] = {}
        self.gradable: tuple[str, ...] = ()
        self.sets = self._evaluate()

    @cached_property
    def seed(self) -> str:
        """Of what is shown; the same for the same program."""
        return self._seed["v"]

    @property
    def _statements(self) -> list[ForwardLineSpec]:
        return [
            {
                "source": forward_statement.source,
                "outputs": list(forward_statement.outputs),
                "inputs": list(forward_statement.inputs),
            }
            for forward_statement in self.program.statements
        ]

    # The forward runs.

    def _evaluate(self) -> dict[str, DataSet]:
        visible = dict(self.forward.dims)
        # Free sizes tell most apart; then sizes that keep products; then the author's own, with hidden numbers.
        why = ("", 0)
        for kind in ("free", "related", "pinned"):
            try:
                dims = {"v": visible, **{name: self._hidden_dims(kind, shift) for shift, name in enumerate(HIDDEN)}}
                entry, report = self._forward_run(self._draw_inputs(dims))
            except ValueError as error:  # a size such as C / H may be whole on the lesson's own sizes alone
                why = why if why[0] else (str(error).rstrip("."), 0)
                continue
            except JailFailedError as error:
                raise self._blame.unfinished(error, dims) from None
            self._blame.refuse(report["v"], dims)
            failed = next(
                (name for name in HIDDEN if "message" in report[name] or first_nan_tensor(report[name])), None
            )
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
        better = better_draws(self._draw_inputs(dims), report, self._run_draws)
        if better != self.draws:
            self.draws = better
            entry, report = self._forward_run(self._draw_inputs(dims))
        self.asked = [asked_in(report[name]) for name in HIDDEN]
        return {name: self._data_set(name, self._draw_inputs(dims)[name], entry, report[name]) for name in SETS}

    def _hidden_dims(self, kind: str, shift: int) -> dict[str, int]:
        if kind == "pinned":
            return dict(self.forward.dims)
        fits = partial(fits_memory, self.forward)
        return hidden_dims(self.forward, shift, related=kind == "related", fits=fits)

    def _draw_inputs(self, dims: Mapping[str, Mapping[str, int]]) -> dict[str, Drawn]:
        return {name: Drawn(name, dims[name], self.draws[name]) for name in SETS}

    def _inputs(self, drawn: Drawn) -> dict[str, Array]:
        name = drawn.like
        return draw_inputs(self.forward, drawn.dims, self._seed[name], DTYPE[name], drawn.draw)

    def _run_draws(self, drawn: Mapping[str, Drawn]) -> Mapping[str, Any]:
        """Reports of runs on other draws; empty if the jail ended them."""
        try:
            return self._forward_run(drawn, tried=True)[1]
        except JailFailedError:
            return {}

    def _forward_run(self, drawn: Mapping[str, Drawn], *, tried: bool = False) -> tuple[CacheEntry, dict[str, Any]]:
        runs: list[TapeRun] = [
            {**self._tape_run(run, item.like, item.dims), "tried": tried} for run, item in drawn.items()
        ]

        def arrays() -> dict[str, Array]:
            return {f"{run}/{key}": array for run, item in drawn.items() for key, array in self._inputs(item).items()}

        draws = {run: [item.like, dict(item.dims), astuple(item.draw)] for run, item in drawn.items()}
        return self._ask(["forward", tried, draws], "forward", runs, arrays)

    def _data_set(self, run: str, drawn: Drawn, entry: CacheEntry, report: Mapping[str, Any]) -> DataSet:
        tensors = self._inputs(drawn)
        prefix = f"{run}/"
        tensors |= {key.removeprefix(prefix): array for key, array in entry.arrays.items() if key.startswith(prefix)}
        numbers = {key: item["number"] for key, item in report["tensors"].items() if "number" in item}
        return DataSet(dims=drawn.dims, tensors=tensors, numbers=numbers)

    def pair(self, drawn: Mapping[str, Drawn], number: str) -> "ForwardReferences | None":
        """This study with other hidden runs, *drawn* by data set; None where they are not all finite numbers.

        Args:
            number: What tells this pair from others.
        """
        runs = {name: f"{name}{number}" for name in HIDDEN}
        try:
            entry, report = self._forward_run({run: drawn[name] for name, run in runs.items()})
        except JailFailedError:
            return None
        if not all(report[run].get("finite") for run in runs.values()):
            return None
        study = copy(self)
        study.sets = {**self.sets, **{a: self._data_set(b, drawn[a], entry, report[b]) for a, b in runs.items()}}
        study._seed = {**self._seed, **{name: f"{self._seed[name]}/{number}" for name in HIDDEN}}
        study.asked = [asked_in(report[run]) for run in runs.values()]
        study._mark = f"{self._mark}/{number}"
        return study

    # Upstreams.

    def forced(self, name: str, tensor: str) -> Array:
        """The upstream that is forced into *tensor*; those of the outputs are given to the learner."""
        key = (self._seed[name], tensor)
        if key not in self._upstreams:
            self._upstreams[key] = self._draw_forced(name, tensor)
        return self._upstreams[key]

    def _draw_forced(self, name: str, tensor: str) -> Array:
        shape = self.sets[name].tensors[tensor].shape
        if tensor in self.forward.outputs and shape == () and not (self._scaled and name in HIDDEN):
            upstream = np.ones((), dtype=DTYPE[name])
        else:
            upstream = draw_upstream(shape, self._seed[name], tensor, DTYPE[name])
        upstream.flags.writeable = False  # it is drawn once for all checks
        return upstream

    # The backward runs.

    def references(self, cuts: Mapping[str, tuple[str, Collection[str]]], want: Collection[str]) -> dict[str, Any]:
        """References by run: each run names a data set and the tensors into which random upstreams are forced.

        Returns:
            By run and tensor, a `Reference`; tensors without a gradient are missing.

        Raises:
            AuthorError: The program is too large to be differentiated.
            JailFailedError: The jail did not finish for another reason.
        """
        wanted = sorted(want)
        try:
            entry, report = self.backward(cuts, wanted, None, ())
        except JailFailedError as error:
            raise self._blame.unfinished(error, {name: self.sets[name].dims for name in SETS}) from None
        references: dict[str, dict[str, Reference]] = {}
        for run in cuts:
            references[run] = {
                tensor: Reference(
                    gradient=entry.arrays[f"{run}/g/{tensor}"],
                    shares=report[run][tensor]["shares"],
                    noise=report[run][tensor]["noise"],
                )
                for tensor in wanted
                if tensor in report[run]
            }
        return references

    def backward(
        self,
        cuts: Mapping[str, tuple[str, Collection[str]]],
        want: Sequence[str],
        detail: str | None,
        blockable: Sequence[str],
        others: Collection[str] = (),
    ) -> tuple[CacheEntry, dict[str, Any]]:
        """The arrays and the report of backward runs; *cuts* are those of `references`.

        Args:
            detail: The tensor of *want* whose shares and upstreams are asked for as well.
            blockable: Tensors without whose gradient it is asked for, too.
            others: Tensors whose upstreams are put in the place of each other.

        Raises:
            JailFailedError: The jail did not finish them.
        """
        runs: list[TapeRun] = []
        for run, (name, cut) in cuts.items():
            held = sorted({*cut, *self.forward.outputs})
            tensors = sorted(others) if detail and name != "v" else []
            runs.append(
                {
                    **self._tape_run(name, name, self.sets[name].dims),
                    "id": run,
                    "forced": {tensor: f"{name}/d{tensor}" for tensor in held},
                    "whole": name == "v" and not detail,
                    "want": list(want),
                    "detail": detail,
                    "others": {tensor: f"{name}/d{tensor}" for tensor in tensors},
                    "blockable": list(blockable),
                }
            )

        def arrays() -> dict[str, Array]:
            arrays_by_key: dict[str, Array] = {}
            for (name, _), run in zip(cuts.values(), runs, strict=True):
                arrays_by_key |= {key: self.sets[name].tensors[text] for text, key in run["inputs"].items()}
                arrays_by_key |= {
                    key: self.forced(name, text) for text, key in {**run["forced"], **run["others"]}.items()
                }
            return arrays_by_key

        question: object = ["backward", [{key: item for key, item in run.items() if key != "inputs"} for run in runs]]
        return self._ask(question, "backward", runs, arrays)

    def _tape_run(self, run: str, name: str, dims: Mapping[str, int]) -> TapeRun:
        inputs = {tensor_input.name: f"{run}/{tensor_input.name}" for tensor_input in self.forward.inputs}
        return {"id": run, "dims": dict(dims), "dtype": DTYPE[name], "inputs": inputs}

    def _ask(
        self, question: object, mode: str, runs: Sequence[TapeRun], arrays: Callable[[], Mapping[str, Array]]
    ) -> tuple[CacheEntry, dict[str, Any]]:
        """The answer to *question*: the one that is kept, or that of a run, for which *arrays* are drawn."""
        header: TapeHeader = {
            "mode": mode,
            "statements": self._statements,
            "outputs": list(self.forward.outputs),
            "runs": runs,
        }

        def answer() -> CacheEntry:
            reply = self._jail.run(Job(driver="tape", header=header, arrays=arrays(), seconds=FORWARD_RUN_SECONDS))
            if reply.ending != "done" or "report" not in reply.texts:
                raise JailFailedError(reply)
            return CacheEntry(arrays=reply.arrays, texts={"report": reply.texts["report"]})

        entry = self._cache.get([self._content, self._scaled, self._mark, question], answer)
        assert entry is not None, "an answer is an entry or an exception"
        return entry, json.loads(entry.texts["report"])

    # What pages need.

    @cached_property
    def facts(self) -> Facts:
        shapes = {name: tensor.shape for name, tensor in self.sets["v"].tensors.items()}
        pinned, line = self._fixed
        return Facts(shapes=shapes, gradable=self.gradable, pinned=pinned, line=line)

    def line_and_source(self, statement: int) -> tuple[int, str]:
        """Line number in the lesson file of *statement*, and its text."""
        forward_statement = self.program.statements[statement]
        return self._blame.line_writing(forward_statement.outputs[0]), forward_statement.source


def content_of(forward: Forward) -> object:
    """The part of *forward* that its numbers are drawn from (JSON values): they change with it."""
    inputs = [
        [
            tensor_input.name,
            list(tensor_input.sizes),
            tensor_input.distribution,
            tensor_input.bound,
            *tensor_input.parameters,
        ]
        for tensor_input in forward.inputs
    ]
    content: list[object] = [dict(forward.dims), inputs, *forward.outputs, forward.source]
    conditions = [dict(forward.related), {name: list(item) for name, item in forward.hidden.items()}]
    return content + (conditions if any(conditions) else [])
