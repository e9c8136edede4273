"""The reader of results is total: whatever bytes a child writes, it answers, and never with more than they hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sandbox import frames
from app.sandbox.wire import FRAMES, Job, decode_result, encode_job

GREETING = frames.ARMED.pack(frames.ARMED_MARK, 63) + frames.BOXED


def tensor(key: str, array: np.ndarray) -> bytes:
    return frames.tensor_head(key, array.dtype.name, array.shape) + array.tobytes()


@given(st.binary(max_size=400))
def test_any_bytes_are_read(blob):
    decode_result(blob)
    decode_result(GREETING + blob)


@given(
    st.lists(
        st.sampled_from(
            [tensor("a", np.ones(3)), tensor("b", np.ones((2, 2), "float32")), frames.text_frame("t", "é")]
        ),
        max_size=3,
        unique=True,
    ),
    st.integers(0, 200),
)
def test_what_arrived_whole_is_kept_and_what_was_cut_is_not(sent, cut):
    blob = b"".join(sent)[:cut]

    result = decode_result(GREETING + blob)

    whole, length = 0, 0
    for frame in sent:
        length += len(frame)
        whole += length <= len(blob)
    assert len(result.arrays) + len(result.texts) == whole
    assert result.ended == ""


def test_a_result_without_the_greeting_counts_for_nothing():
    assert decode_result(tensor("a", np.ones(3)) + frames.END_DONE).layers is None
    assert decode_result(b"").layers is None


def test_the_filter_counts_as_on_only_if_the_child_said_so_from_inside():
    armed = frames.ARMED.pack(frames.ARMED_MARK, 63)

    assert not decode_result(armed + frames.END_DONE).filtered
    assert decode_result(armed + frames.BOXED + frames.END_DONE).filtered


@pytest.mark.parametrize(
    "bad",
    [
        tensor("a", np.ones(3)) * 2,
        frames.text_frame("a", "x") + tensor("a", np.ones(3)),
        frames.END_DONE + b"x",
        b"?",
        frames.TENSOR_HEAD.pack(b"T", 1, 9, 0) + b"a" + bytes(8),
        frames.TENSOR_HEAD.pack(b"T", 1, 1, 65) + b"a" + bytes(1000),
        frames.TENSOR_HEAD.pack(b"T", 1, 1, 2) + b"a" + (2**63).to_bytes(8, "little") * 2,
        frames.TENSOR_HEAD.pack(b"T", 1, 1, 2) + b"a" + bytes(8) + (2**62).to_bytes(8, "little"),
        frames.TEXT_HEAD.pack(b"S", 1, 2**31) + b"a",
        frames.TEXT_HEAD.pack(b"S", 2000, 0) + b"a" * 2000,
    ],
)
def test_bytes_that_are_no_frame_are_malformed(bad):
    assert decode_result(GREETING + bad).malformed


def test_a_flood_of_tiny_frames_is_cut_short():
    flood = b"".join(frames.text_frame(str(n), "") for n in range(FRAMES + 5))

    result = decode_result(GREETING + flood)

    assert result.malformed
    assert len(result.texts) == FRAMES


def test_booleans_from_outside_become_true_or_false():
    head = frames.tensor_head("b", "bool", (3,))

    array = decode_result(GREETING + head + b"\x00\x02\xff").arrays["b"]

    assert array.tolist() == [False, True, True]


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.sampled_from([np.ones(3), np.zeros((0, 2)), np.float32(2) * np.ones(()), np.arange(6).reshape(2, 3).T]),
        max_size=4,
    )
)
def test_a_job_is_read_back_as_it_was_written(arrays):
    job = Job(driver="probe", header={"source": "\ud800 é"}, arrays=arrays)

    blob = bytearray(b"".join(encode_job(job)))
    document, listed = frames.split_job(blob)

    assert document == ["probe", {"source": "\ud800 é"}, job.output_bytes]
    for (key, dtype, shape, offset), (name, array) in zip(listed, arrays.items(), strict=True):
        assert (key, dtype, tuple(shape)) == (name, array.dtype.name, array.shape)
        assert np.array_equal(np.frombuffer(blob, dtype, array.size, offset).reshape(shape), array)


def test_a_dtype_that_does_not_cross_is_said_so():
    with pytest.raises(ValueError, match="complex"):
        encode_job(Job(driver="probe", header={}, arrays={"z": np.ones(2, complex)}))
