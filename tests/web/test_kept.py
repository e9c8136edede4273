"""What does not depend on who looks is made once for everybody, and not for ever."""

from markupsafe import Markup

from app.content.blocks import SourceLocation, Visual
from app.web.site import RenderCache


def visual(name: str) -> Visual:
    given = {"z": [2, 0.5, -1], "target": 1}
    return Visual(
        place=SourceLocation("lesson.md", 1),
        name=name,
        kind="forces",
        forward=None,
        of=None,
        given=given,
        caption=Markup(),
    )


class Made:
    """Makes a name, and knows how often."""

    def __init__(self, kept: RenderCache) -> None:
        self.names: list[str] = []
        self._kept = kept

    def __call__(self, block: Visual, shapes: dict[str, tuple[int, ...]] | None = None, *about: object) -> str:
        return self._kept.of(block, shapes or {}, lambda: self.names.append(block.name) or block.name, *about)


def test_it_is_made_once_and_comes_out_the_same() -> None:
    made, one = Made(RenderCache()), visual("one")

    assert made(one) == made(one) == "one"
    assert made.names == ["one"]


def test_it_is_made_again_when_more_shapes_are_known() -> None:
    made, one = Made(RenderCache()), visual("one")

    for shapes in ({}, {"x": (4, 3)}, {"x": (4, 3)}):
        made(one, shapes)

    assert made.names == ["one", "one"]


def test_two_blocks_that_are_equal_are_not_mixed_up() -> None:
    made, one, other = Made(RenderCache()), visual("same"), visual("same")
    assert one == other

    made(one), made(other)

    assert made.names == ["same", "same"]


def test_what_is_said_to_one_answer_is_not_said_to_another() -> None:
    kept, one = RenderCache(), visual("one")

    said = [kept.of(one, {}, lambda given=given: f"to {given}", given) for given in ("a", "b", "a")]

    assert said == ["to a", "to b", "to a"]


def test_what_was_asked_for_last_is_kept() -> None:
    made, all_of_them = Made(RenderCache(most=2)), [visual(str(number)) for number in range(3)]

    for one in (*all_of_them, all_of_them[1], all_of_them[0]):
        made(one)

    assert made.names == ["0", "1", "2", "0"]
