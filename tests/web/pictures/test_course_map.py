import re
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from app.web.pictures.course_map import course_map


def course(*needs: tuple[int, ...]) -> Any:
    return [SimpleNamespace(name=str(at), requires=[str(one) for one in some]) for at, some in enumerate(needs)]


def test_a_chain_is_one_line_and_a_branch_has_a_lane_until_it_is_joined() -> None:
    ways = course_map(course((), (0,), (0,), (1, 2), (3,)))

    assert [ways[name].x for name in "01234"] == [7.5, 22.5, 7.5, 7.5, 7.5]
    assert {way.width for way in ways.values()} == {30}
    assert ways["3"].lines.count("C") == 2, "it is joined from both"


@given(
    st.lists(st.sets(st.integers(1, 6), max_size=3), min_size=1, max_size=12).map(
        lambda back: [tuple(at - one for one in some if at - one >= 0) for at, some in enumerate(back)]
    )
)
def test_every_need_arrives_as_a_line_that_goes_on_in_the_next_row(needs: list[tuple[int, ...]]) -> None:
    ways = list(course_map(course(*needs)).values())

    for way, some in zip(ways, needs, strict=True):
        ElementTree.fromstring(way.lines)
        assert way.lines.count("C") == len(some)
    for upper, lower in pairwise(ways):
        left = set(re.findall(r"M([\d.]+) (?:0|20)V40", upper.lines))
        assert left == set(re.findall(r"M([\d.]+) 0V40", lower.above))
    assert "<path" not in ways[0].above
