"""What reads untrusted text and bytes, fuzzed with things that are nearly right: the gate and the reader of results.

Random text is mostly refused at its first character; a good program or a good result with wounds goes further in.
"""

import ast
import builtins
import os
import re
from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.content.blocks import CodeBox, FunctionBox
from app.sandbox import frames
from app.sandbox.gate import MAX_GATED_CHARS, find_refusal, normalise
from app.sandbox.process import ResultPipe
from app.sandbox.vocabulary import ATTRIBUTES, AUTOGRAD, BUILTINS
from app.sandbox.wire import decode_result
from tests.courses import LESSONS, course_in
from tests.examples import examples

GREETING = frames.ARMED.pack(frames.ARMED_MARK, 63) + frames.BOXED


def programs() -> list[str]:
    """The solutions of the course, but for those that may hold a class."""
    exercises = [one for lesson in course_in(LESSONS).lessons for one in lesson.exercises]
    boxes = [one for one in exercises if isinstance(one, CodeBox) and not isinstance(one, FunctionBox)]
    return sorted({box.solution.source for box in boxes})


PROGRAMS = programs()
PIECES = [
    "__import__('os')", "import os", "from os import system", ".__class__", ".__globals__", "getattr", "(eval)",
    "exec", "open('/etc/passwd')", "`", "\\\n", "\t", "\r", "\x0c", "\0", "\ud800", "ｅｖａｌ", "𝐠𝐞𝐭𝐚𝐭𝐭𝐫(x)",
    "x.ｇrad", "# coding: utf-7\n", "lambda: ", "yield ", "await ", "async ", "*", "**", "@", ":=", "->", "...",
    "f'{x.__class__}'", "f'{x!r:{x.data}}'", "'{0.__class__}'.format(x)", "b''", "0x", "1e999", "1_0",
    "9" * 5000, "(" * 90, "[" * 90 + "]" * 90, "-" * 90, "if x:\n", "    ", "class A: pass\n",
    "try:\n  x\nexcept: pass\n", "match x:\n case _: pass\n", "global x\n", "del x\n", "x.backward()",
    "torch.autograd", ".grad", "requires_grad=True", "torch.ops.aten", "type X = int\n", "________",
    "with torch.no_grad():\n", "print(x, file=y)", "__builtins__", "__builtins__['eval']", "x.data.storage()",
    "‘’“”−×",
]  # fmt: skip


@st.composite
def wounded(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(PROGRAMS))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        lost = draw(st.sampled_from([0, 0, 1, 5, 40]))
        text = text[:start] + draw(st.sampled_from(PIECES) | st.text(max_size=4)) + text[start + lost :]
    return text


def forbidden(code: str) -> Iterator[str]:
    """What the gate promises to keep out, looked for in another way than the gate does it."""
    for node in ast.walk(ast.parse(code)):
        names = [getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname", "module")]
        for name in (one for one in names if isinstance(one, str)):
            if name.startswith("__") and name.strip("_"):
                yield f"hidden: {name}"
        if isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef | ast.Try | ast.Await | ast.AsyncFunctionDef):
            yield type(node).__name__
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Match):
            yield type(node).__name__
        if isinstance(node, ast.Attribute) and (node.attr in AUTOGRAD or "backward" in node.attr):
            yield f"autograd: {node.attr}"
        if isinstance(node, ast.Attribute) and node.attr not in ATTRIBUTES and not re.fullmatch("_+", node.attr):
            yield f"attribute: {node.attr}"
        if isinstance(node, ast.Name) and hasattr(builtins, node.id) and node.id not in BUILTINS:
            yield f"builtin: {node.id}"


def test_the_gate_lets_the_course_through() -> None:
    assert len(PROGRAMS) > 20
    assert [find_refusal(normalise(one)[0]) for one in PROGRAMS] == [None] * len(PROGRAMS)


@examples(200)
@given(wounded())
def test_a_wounded_program_is_answered_and_passes_nothing_forbidden(text: str) -> None:
    plain, notices = normalise(text)
    found = find_refusal(plain)

    assert normalise(plain) == (plain, ()) or notices is not None
    if found is not None:
        assert found.line >= 1
        assert found.column >= 1
        assert found.message
        assert not any("\ud800" <= one <= "\udfff" for one in found.message)
        return
    try:
        compiled = ast.parse(plain)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    assert compiled is not None
    assert list(forbidden(plain)) == []


@examples(70)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), min_size=1, max_size=4), st.integers(1, 20_000))
def test_the_same_piece_again_and_again_is_answered(pieces: list[str], times: int) -> None:
    piece = "".join(pieces)
    text = piece * min(times, 2 * MAX_GATED_CHARS // max(1, len(piece)))

    plain, _ = normalise(text)
    find_refusal(plain)


def tensor(key: str, array: np.ndarray) -> bytes:
    return frames.tensor_head(key, array.dtype.name, array.shape) + array.tobytes()


GOOD = [
    tensor("v/dW", np.arange(6.0).reshape(2, 3)),
    tensor("a/b", np.ones((0, 4), "float32")),
    tensor("m", np.array([True, False])),
    tensor("é", np.arange(5)),
    frames.text_frame("report", '{"v": {}}'),
    frames.text_frame("printed", "x" * 300),
    frames.END_DONE,
    frames.END_MEMORY,
]
numbers = st.integers(0, 255) | st.sampled_from([0, 1, 2**16 - 1])
large = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**31, 2**32, 2**40, 2**62, 2**63, 2**64 - 1])


@st.composite
def heads(draw: st.DrawFn) -> bytes:
    """The head of a tensor or a text with any numbers in it."""
    key = draw(st.binary(max_size=6))
    if draw(st.booleans()):
        length = draw(st.just(len(key)) | st.integers(0, 2**16 - 1))
        size = draw(st.integers(0, 9) | st.integers(0, 2**32 - 1))
        return frames.TEXT_HEAD.pack(b"S", length, size) + key + draw(st.binary(max_size=9))
    shape = draw(st.lists(large, max_size=5))
    dimensions = draw(st.just(len(shape)) | st.integers(0, 255))
    length = draw(st.just(len(key)) | st.integers(0, 2**16 - 1))
    head = frames.TENSOR_HEAD.pack(b"T", length, draw(st.integers(0, 7)), dimensions)
    return head + key + b"".join(size.to_bytes(8, "little") for size in shape) + draw(st.binary(max_size=40))


@st.composite
def blobs(draw: st.DrawFn) -> bytes:
    blob = bytearray(GREETING + b"".join(draw(st.lists(st.sampled_from(GOOD) | heads(), max_size=6))))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(blob) - 1))
        blob[place] = draw(st.integers(0, 255))
    cut = draw(st.none() | st.integers(0, len(blob)))
    return bytes(blob[:cut])


@examples(130)
@given(blobs())
def test_a_result_with_wounds_is_read_and_holds_no_more_than_was_sent(blob: bytes) -> None:
    result = decode_result(blob)

    assert sum(one.nbytes for one in result.arrays.values()) <= len(blob)
    # A byte that is no UTF-8 becomes one character of three.
    assert sum(len(text.encode()) for text in result.texts.values()) <= 3 * len(blob)
    assert all(one.dtype.name in frames.DTYPES for one in result.arrays.values())
    assert not result.arrays.keys() & result.texts.keys()
    for key in (*result.arrays, *result.texts):
        key.encode()
    if result.layers is None:
        assert not result.arrays
        assert not result.ended
    if result.ended and not result.malformed:
        assert blob.endswith((frames.END_DONE, frames.END_MEMORY))


@examples(70)
@given(blobs(), st.lists(st.integers(1, 60), min_size=1, max_size=20))
def test_how_a_result_is_cut_into_pieces_makes_no_difference(blob: bytes, sizes: list[int]) -> None:
    read_end, write_end = os.pipe()
    pipe = ResultPipe(read_end)
    place = 0
    while place < len(blob):
        size = sizes[place % len(sizes)]
        os.write(write_end, blob[place : place + size])
        pipe.drain()
        place += size
    os.close(write_end)

    whole = pipe.drain()
    pipe.close()

    assert whole == blob
