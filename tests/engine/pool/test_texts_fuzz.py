"""Texts of the gate's vocabulary with sizes out of all proportion: each is read in little time and memory."""

import contextlib
import gc
import resource
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from app.engine.grade.explanation_time import EXPLAINING_SECONDS
from app.engine.grade.jail_runs import JailRunner
from app.engine.pool import reader
from app.engine.pool.reader import Answer, RawJobRunner, ReaderDiedError, ReaderProcess, Say
from app.grading.judge.parsed_submission import parse_submission
from app.grading.operations.table import OPERATIONS
from app.grading.reading import budget
from app.grading.reading.budget import SECONDS, SECONDS_OF_ONE
from app.grading.reading.interpreter import Interpreter
from app.sandbox.gate import find_refusal, normalise
from app.sandbox.wire import Job, RawReply
from tests import waiting
from tests.examples import examples

MOST_MEMORY_KB = 384 * 1024
NAMES = ("x", "row", "column", "i", "n", "N", "y")
SIZES = (
    "0",
    "1",
    "2",
    "-1",
    "3",
    "190",
    "5000",
    "10**6",
    "10**9",
    "10**18",
    "1e-9",
    "0.5",
    "2**53",
    "9" * 300,
    "1e300",
    "1e308",
    "-1e308",
    "5e-324",
    "2**63",
    "2**1023",
    "math.inf",
    "math.nan",
    "True",
    "None",
)
KEYWORDS = (
    "dim",
    "keepdim",
    "dtype",
    "size",
    "step",
    "start",
    "end",
    "num_classes",
    "repeats",
    "dims",
    "shifts",
    "diagonal",
)
FUNCTION = st.sampled_from(sorted(OPERATIONS))
ATOM = st.sampled_from([*NAMES, *SIZES, "x.shape", "x[0]", "'ab,cd->abcd'", "'ij,jk->ik'", "torch.float64"])


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, min_size=1, max_size=3).map(", ".join)
    return st.one_of(
        st.builds("torch.{}({})".format, FUNCTION, several),
        st.builds("F.{}({})".format, FUNCTION, several),
        st.builds("({}).{}({})".format, inner, FUNCTION, several),
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/", "@", "**", "//", ">"]), inner),
        st.builds("[{}]".format, several),
        st.builds("[{} for t in range({})]".format, inner, inner),
        st.builds("({})[{}]".format, inner, inner),
        st.builds("({})[{}:{}:{}]".format, inner, inner, inner, inner),
        st.builds("({})[..., None, {}, :]".format, inner, inner),
        st.builds("sum({})".format, inner),
        st.builds(
            "{}({})".format, st.sampled_from(["-", "+", "~", "not ", "abs", "len", "max", "min", "int", "float"]), inner
        ),
        st.builds("torch.{}({}, {}={})".format, FUNCTION, inner, st.sampled_from(KEYWORDS), inner),
        st.builds("({}).{}({}={})".format, inner, FUNCTION, st.sampled_from(KEYWORDS), inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds(
            "({} {} {})".format, inner, st.sampled_from(["and", "or", "==", "<<", ">>", "%", "&", "is", "in"]), inner
        ),
        st.builds("(lambda t: {})({})".format, inner, inner),
        st.builds("{{t: {} for t in ({})}}".format, inner, inner),
        st.builds("f'{{{}}}'".format, st.sampled_from(NAMES)),
    )


EXPRESSION = st.recursive(ATOM, larger, max_leaves=8)
LINE = st.one_of(
    st.builds("{} = {}".format, st.sampled_from(["y", "x", "n", "dW"]), EXPRESSION),
    st.builds("for t in range({}):\n    y = {}".format, ATOM, EXPRESSION),
    st.builds("y[{}] = {}".format, EXPRESSION, EXPRESSION),
    st.builds("def f():\n    return {}\ny = f()".format, EXPRESSION),
    st.builds("y {}= {}".format, st.sampled_from(["+", "-", "*", "/", "**", "@", "//"]), EXPRESSION),
    st.builds("x, *y = {}".format, EXPRESSION),
    st.builds("while {}:\n    y = {}".format, ATOM, EXPRESSION),
    st.builds("if {}:\n    y = {}\nelse:\n    x = {}".format, EXPRESSION, EXPRESSION, EXPRESSION),
)


def chained(line: str, times: int) -> str:
    """What a text grows to by one short line that stands in it again and again."""
    return "\n".join([line] * times)


def nested(inner: str, depth: int, pair: tuple[str, str]) -> str:
    return f"y = {pair[0] * depth}{inner}{pair[1] * depth}"


PAIRS = st.sampled_from(
    [("(", ")"), ("[", "]"), ("-", ""), ("torch.exp(", ")"), ("x[", "]"), ("(x + ", ")"), ("not ", "")]
)
GROWING = st.sampled_from(
    [
        "x = x * x",
        "n = n * n",
        "n = n ** n",
        "x = torch.cat([x, x])",
        "x = x @ x.T",
        "y = [y, y]",
        "y = y + y",
        "x = x[None]",
    ]
)
TEXT = st.one_of(
    st.lists(LINE, min_size=1, max_size=5).map("\n".join),
    st.builds(chained, st.one_of(GROWING, LINE), st.sampled_from([2, 30, 300])),
    st.builds(nested, ATOM, st.sampled_from([5, 80, 190, 2000]), PAIRS),
)


LONG_TEXTS = pytest.mark.filterwarnings("ignore:Generating overly large repr")
"""A text that fails is told, however long it is."""


def reading(_jail: JailRunner, _say: Say) -> Answer:
    arrays = {"x": np.ones((4, 5)), "row": np.ones((1, 5000)), "column": np.ones((5000, 1)), "i": np.array([0, 1, 2])}

    def answer(question: dict[str, Any]) -> list[float]:
        began = time.process_time()
        code, _ = normalise(question["code"])
        find_refusal(code)
        scope = Interpreter({**arrays, "y": np.ones(3)}, {"n": 3, "N": 4})
        for line in parse_submission(code).lines:
            # A stumble is no more than that, as where a check is explained.
            with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):
                scope.run([line.node])
        return [time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]

    return answer


class NoJail:
    def run_raw(self, source: int, limits: Job) -> RawReply:
        raise NotImplementedError


@pytest.fixture(scope="module")
def begun() -> Iterator[ReaderProcess]:
    jail: RawJobRunner = NoJail()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "SECONDS", SECONDS)
        patch.setattr(budget, "SECONDS_OF_ONE", SECONDS_OF_ONE)
        patch.setattr(
            reader, "SILENT_SECONDS", waiting.SECONDS
        )  # only the processor's time says that a text takes long
        # As a grader begins: what this worker has made until now is nothing that a reader has to look for garbage in.
        gc.collect()
        gc.freeze()
        one = ReaderProcess(jail, reading)
        one.ask({"code": "y = x"})
        yield one
        one.close()
        gc.unfreeze()


def read(begun: ReaderProcess, text: str) -> None:
    before = begun.ask({"code": "y = x"})[1]
    answer = None

    with contextlib.suppress(ReaderDiedError):
        answer = begun.ask({"code": text})

    assert answer, f"a reader ended over {text!r}"
    seconds, memory = answer
    # One step of arithmetic on the largest array may still be under way when the time is over.
    assert seconds < SECONDS_OF_ONE + EXPLAINING_SECONDS
    assert memory - before < MOST_MEMORY_KB


@LONG_TEXTS
@examples(150, suppress_health_check=[HealthCheck.too_slow])
@given(TEXT)
def test_a_text_is_read_in_little_time_and_memory(begun, text):
    read(begun, text)
