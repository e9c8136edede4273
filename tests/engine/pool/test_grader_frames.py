import asyncio
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.pool.grader_frames import LENGTH, LONGEST_FRAME, encode_frame, read_frame, receive_frame

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(json_values, min_size=1, max_size=3))
def test_messages_arrive_in_order_and_whole(messages: list[object]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for message in messages:
            ours.sendall(encode_frame(message))

        assert [receive_frame(theirs) for _ in messages] == messages


def test_a_long_message_arrives_whole_however_it_is_cut() -> None:
    ours, theirs = socket.socketpair()
    message = {"code": "x" * 2_000_000}
    with ours, theirs:
        sender = threading.Thread(target=ours.sendall, args=(encode_frame(message),))
        sender.start()

        assert receive_frame(theirs) == message
        sender.join()


def test_a_closed_end_reads_as_none_even_in_the_middle_of_a_message() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.sendall(encode_frame({"a": 1})[:-2])
        ours.close()

        assert receive_frame(theirs) is None


def test_an_absurd_length_is_refused_before_anything_is_read() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(LENGTH.pack(LONGEST_FRAME + 1))

        with pytest.raises(ValueError, match="longest"):
            receive_frame(theirs)


def test_both_readers_speak_the_same_frames() -> None:
    async def arrange() -> object:
        stream = asyncio.StreamReader()
        stream.feed_data(encode_frame(["one", 2]))
        return await read_frame(stream)

    assert asyncio.run(arrange()) == ["one", 2]
