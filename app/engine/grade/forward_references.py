"""A forward program studied: its tensors on three sets of data, and references for any set of forced upstreams.

The sets: `v` has the lesson's sizes in float32; `a` and `b` have hidden sizes in float64. All numbers come from the
jail, by way of the cache of facts; only seeded inputs and random upstreams are drawn here.
"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from app.content.blocks import Forward
from app.content.sizes import written
from app.engine.grade.facts_cache import Entry, FactsCache
from app.engine.grade.jail_runs import JailFailedError, JailRuns
from app.engine.grade.seeds import PUBLIC, Seeds
from app.grading.diagnosis.evidence import Look
from app.grading.forward.data import Absent, Array, draw_inputs, draw_upstream, hidden_dims
from app.grading.forward.driver_jobs import Line, TapeHeader, TapeRun
from app.grading.forward.facts import Facts
from app.grading.forward.statements import Program, ProgramError, Statement, read_program
from app.grading.judge.compare import Reference
from app.grading.reading.shape_inference import infer
from app.sandbox.wire import Ending, Job

SETS = ("v", "a", "b")
HIDDEN = ("a", "b")
DTYPE = {"v": "float32", "a": "float64", "b": "float64"}
_SPREAD = {"v": 1.0, "a": 1.0, "b": 0.25}
_ABSENT: dict[str, Absent] = {"v": "any", "a": "last", "b": "first"}
_SECONDS = 20.0
_NO_ROOM = "can't allocate memory"
_UNFINISHED: dict[Ending, str] = {
    "flood": "makes more than 64 MiB of numbers",
    "memory": "needs more memory than a run may (256 MB)",
    "timeout": f"takes longer than {_SECONDS:g} s",
    "denied": "tries what no program needs, such as opening a file",
    "crashed": "crashes the process that runs it",
}
_WHY = {
    "raised": "did not run: {message}",
    "in-place": "writes in place. Leave out what asks for that, such as `inplace=True`.",
    "draws": (
        "draws random numbers, so it has no one result to be right about. Let the program start from them: an input "
        "such as `noise: [N, D]` is drawn once for everybody."
    ),
    "several": (
        "leaves a {message} and no tensor, so gradients end here. Give each of its tensors a name, such as "
        "`a, b = X.chunk(2, 1)`."
    ),
    "complex": "leaves complex numbers, whose gradients have two parts. Write the step with real numbers.",
    "narrow": "leaves numbers of {message}, which are too coarse to compare gradients. Leave the conversion out.",
    "not-finite": (
        "makes gradients that are not finite: a number too large, a division by 0, or a root or a logarithm at 0. Keep "
        "what it reads away from there, such as by an input of `positive` numbers."
    ),
    "no-derivative": (
        "cannot be differentiated ({message}), so nothing before it has a gradient. Write the step with operations "
        "that have a derivative, or keep it off the way to the output"
    ),
}


class AuthorError(Exception):
    """The forward program cannot be used; *line* is the line of the lesson file, 0 where no line is to blame."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


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
        self._seeds = seeds
        self._jail = jail
        self._cache = cache
        inputs = [one.name for one in forward.inputs]
        try:
            self.program: Program = read_program(forward.source, inputs, forward.dims, *forward.outputs)
        except ProgramError as error:
            raise AuthorError(error.message, forward.line_of(error.line)) from None
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
        return self._seed("v")

    def _seed(self, name: str) -> str:
        return self._seeds.of(self._content, name, hidden=name in HIDDEN)

    def _drawn(self, name: str, dims: Mapping[str, int]) -> dict[str, Array]:
        return draw_inputs(self.forward, dims, self._seed(name), DTYPE[name], _SPREAD[name], _ABSENT[name])

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
                raise self._unfinished(error, dims) from None
            self._refuse(report["v"], dims)
            failed = next((name for name in HIDDEN if "message" in report[name] or self._nan(report[name])), None)
            if failed is None:
                break
            why = why if why[0] else self._fails(report[failed], dims[failed])
        for name in HIDDEN:
            self._refuse(report[name], dims)
        self.pinned = dims["a"] == visible
        self._fixed = why if kind == "pinned" else ("", 0)
        self.gradable = self.program.backward_order(report["v"]["gradable"])
        for output in self.forward.outputs:
            if output not in self.gradable:
                message = f"the output `{output}` does not depend on any input of real numbers"
                raise AuthorError(message, self._line_writing(output))
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
        return self._ask(["forward", {name: dict(one) for name, one in dims.items()}], "forward", runs, arrays)

    def _fails(self, report: Mapping[str, Any], dims: Mapping[str, int]) -> tuple[str, int]:
        """Why a run on other sizes came to nothing, and the line of the lesson file."""
        sizes = ", ".join(f"{name} = {size}" for name, size in dims.items())
        if "message" not in report:
            return f"with {sizes}, `{self._nan(report)}` holds NaN", self._line_writing(self._nan(report))
        failed = self.program.statements[report["failed"]]
        return f"with {sizes}, `{failed.source}` stops: {report['message']}", self._line_of(failed)

    def _unfinished(self, error: JailFailedError, dims: Mapping[str, Mapping[str, int]]) -> Exception:
        """What an author can change where the jail ended the run; *error* itself where nobody knows."""
        said = _UNFINISHED.get(error.reply.ending)
        if error.reply.ending == "done":
            return AuthorError("torch cannot differentiate it, and does not say where. Do less in one line", 0)
        if said is None:
            return error
        return self._too_large(f"it {said}", dims)

    def _too_large(self, said: str, dims: Mapping[str, Mapping[str, int]]) -> AuthorError:
        """*said* of runs on *dims*, with their largest tensor and what to do."""
        shapes = {name: infer(replace(self.forward, dims=one)) for name, one in dims.items()}
        sizes = [(math.prod(shape), name, tensor) for name, some in shapes.items() for tensor, shape in some.items()]
        if not sizes:
            return AuthorError(said, 0)
        count, name, tensor = max(sizes)
        where = ", ".join(f"{dim} = {size}" for dim, size in dims[name].items())
        message = (
            f"{said}. The largest tensor is `{tensor}` with {written(shapes[name][tensor])} = {count:,} numbers, where "
            f"{where}. Give smaller sizes: in `:dims:`, or in `:hidden:` for the runs that nobody sees"
        )
        return AuthorError(message, self._line_writing(tensor))

    def _refuse(self, report: Mapping[str, Any], dims: Mapping[str, Mapping[str, int]]) -> None:
        """Raise what is wrong with a run on the lesson's own sizes."""
        if _NO_ROOM in report.get("message", ""):
            raise self._too_large(f"it {_UNFINISHED['memory']}", dims)
        if "message" in report:
            failed = self.program.statements[report["failed"]]
            why = "in-place" if "in-place operation" in report["message"] else report["why"]
            said = _WHY[why].replace("{message}", report["message"])
            raise AuthorError(f"`{failed.source}` {said}", self._line_of(failed))
        undefined = self._nan(report)
        if undefined:
            raise AuthorError(f"`{undefined}` holds NaN on the lesson's sizes", self._line_writing(undefined))

    def _line_writing(self, tensor: str) -> int:
        """The line of the lesson file that writes *tensor*; 0 for one that is given."""
        return next((self._line_of(one) for one in self.program.statements if tensor in one.outputs), 0)

    def _line_of(self, statement: Statement) -> int:
        return self.forward.line_of(statement.node.lineno)

    @staticmethod
    def _nan(report: Mapping[str, Any]) -> str:
        return next((name for name, one in report.get("tensors", {}).items() if one.get("nan")), "")

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
        return draw_upstream(shape, self._seed(name), tensor, DTYPE[name])

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
        arrays: dict[str, Array] = {}
        runs: list[TapeRun] = []
        for run, (name, cut) in cuts.items():
            held = sorted({*cut, *self.forward.outputs})
            asked = sorted(others) if detail and name != "v" else []
            inputs = {one.name: self.sets[name].tensors[one.name] for one in self.forward.inputs}
            arrays |= {f"{name}/{key}": one for key, one in inputs.items()}
            arrays |= {f"{name}/d{tensor}": self.forced(name, tensor) for tensor in {*held, *asked}}
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
        question = ["backward", [{key: one for key, one in run.items() if key != "inputs"} for run in runs]]
        return self._ask(question, "backward", runs, arrays)

    def _run(self, name: str, dims: Mapping[str, int]) -> TapeRun:
        inputs = {one.name: f"{name}/{one.name}" for one in self.forward.inputs}
        return {"id": name, "dims": dict(dims), "dtype": DTYPE[name], "inputs": inputs}

    def _ask(
        self, question: object, mode: str, runs: Sequence[TapeRun], arrays: Mapping[str, Array]
    ) -> tuple[Entry, dict[str, Any]]:
        header: TapeHeader = {
            "mode": mode,
            "statements": self._statements,
            "outputs": list(self.forward.outputs),
            "runs": runs,
        }

        def answer() -> Entry:
            reply = self._jail.run(Job(driver="tape", header=header, arrays=arrays, seconds=_SECONDS))
            if reply.ending != "done" or "report" not in reply.texts:
                raise JailFailedError(reply)
            return Entry(arrays=reply.arrays, texts={"report": reply.texts["report"]})

        entry = self._cache.get([self._content, self._scaled, self._seeds.mark, question], answer)
        assert entry is not None, "an answer is an entry or an exception"
        return entry, json.loads(entry.texts["report"])

    # What pages need.

    @cached_property
    def facts(self) -> Facts:
        consumers = {
            tensor: tuple(dict.fromkeys(path.consumer for path in self.program.paths(tensor)))
            for tensor in self.program.tensors
        }
        shapes = {name: one.shape for name, one in self.sets["v"].tensors.items()}
        pinned, line = self._fixed
        return Facts(shapes=shapes, gradable=self.gradable, consumers=consumers, pinned=pinned, line=line)
