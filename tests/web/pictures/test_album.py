"""A picture is drawn once for everybody, and not for ever."""

import pytest
from markupsafe import Markup

from app.content.blocks import Place, Visual
from app.web.pictures import album
from app.web.pictures.album import Album


def visual(name: str) -> Visual:
    given = {"z": [2, 0.5, -1], "target": 1}
    return Visual(
        place=Place("lesson.md", 1), name=name, kind="forces", forward=None, of=None, given=given, caption=Markup()
    )


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the pictures that were drawn, one by one."""
    names: list[str] = []
    draw = album.draw
    monkeypatch.setattr(album, "draw", lambda one, *rest: names.append(one.name) or draw(one, *rest))
    return names


def test_a_picture_is_drawn_once_and_comes_out_the_same(drawn: list[str]) -> None:
    pictures, one = Album(), visual("one")

    first, second = pictures.picture(one, {}), pictures.picture(one, {})

    assert first == second
    assert first.startswith("<div")
    assert drawn == ["one"]


def test_a_picture_is_drawn_again_when_more_shapes_are_known(drawn: list[str]) -> None:
    pictures, one = Album(), visual("one")

    for shapes in ({}, {"x": (4, 3)}, {"x": (4, 3)}):
        pictures.picture(one, shapes)

    assert drawn == ["one", "one"]


def test_two_pictures_of_one_name_are_not_mixed_up() -> None:
    pictures, one, other = Album(), visual("same"), visual("same")
    object.__setattr__(other, "given", {"z": [1, 2], "target": 0})

    assert pictures.picture(one, {}) != pictures.picture(other, {})


def test_an_album_keeps_the_pictures_that_were_asked_for_last(drawn: list[str]) -> None:
    pictures, all_of_them = Album(most=2), [visual(str(number)) for number in range(3)]

    for one in (*all_of_them, all_of_them[1], all_of_them[0]):
        pictures.picture(one, {})

    assert drawn == ["0", "1", "2", "0"]
