"""Pictures are well formed, say their numbers twice, and never break a page."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from app.content.blocks import Forward, Input, SourceLocation, Visual
from app.grading.forward.facts import Shape
from app.grading.judge.verdict import STEPS, Differences
from app.web.pictures import PICTURE_RENDERERS, draw_picture
from app.web.pictures.alone import alone
from app.web.pictures.broadcast import copied_axes
from app.web.pictures.difference_map import differences_map
from app.web.pictures.forces import softmax
from app.web.pictures.graph import graph_rows
from app.web.pictures.heatmap import LETTER, level
from app.web.pictures.svg import plain_number

HERE = SourceLocation("lesson.md", 1)
PROGRAM = Forward(
    place=HERE,
    name="bn",
    dims={"N": 4, "D": 3},
    inputs=(Input(name="x", sizes=("N", "D")), Input(name="b", sizes=("D",))),
    output="y",
    source="m = x.mean(0, keepdim=True)\nd = x - m\ns = d ** 2\ny = d * s + b\n",
    source_line=1,
)
SHAPES: Mapping[str, Shape] = {"x": (4, 3), "b": (3,), "m": (1, 3), "d": (4, 3), "s": (4, 3), "y": (4, 3)}
PICTURES = {
    "forces": {"z": [2, 0.5, -1, 0, 1], "target": 3},
    "broadcast": {"from": [3], "to": [4, 3]},
    "cells": {"left": [2, 2], "right": [2, 3]},
    "curves": {"values": [[3.3, 2.6], [3.3, 2.4]], "rows": ["A", "B"]},
    "heatmap": {"values": [[0.1, -0.9], [0.0, 0.4]], "marks": [1, 0], "sums": True},
    "graph": {},
    "lines": {"x": [0.1, 0.01, 0.001], "lines": {"forward": [1.2, 0.12, 0.3], "central": [0.02, 2e-4, 1e-9]}},
    "samples": {"steps": [200, 2000], "names": [["hntef", ""], ["jane", "quinn"]], "known": ["jane"]},
}


def picture(kind: str, given: Mapping[str, object], *, of: str | None = None) -> Markup:
    visual = Visual(place=HERE, name="v", kind=kind, forward=None, of=of, given=given, caption=Markup())
    return draw_picture(visual, SHAPES, PROGRAM if kind == "graph" or not given else None)


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


PHONE = 280
"""Pixels that a picture has across on a window of 320."""
LETTERS = {"figure-tick": 12.0}
"""Heights that `visual.css` gives to words of a picture; the others have 14."""


def letters_on_a_phone(html: str) -> list[float]:
    """The heights of all words of a drawing; in a box that scrolls, and that the keyboard reaches, none shrinks."""
    heights = []
    for box in ElementTree.fromstring(f"<figure>{html}</figure>").iterfind(".//div[@class='picture']"):
        across = next(float(one.attrib["width"]) for one in box.iter() if one.tag.endswith("svg"))
        scrolls = box.get("data-wide") == "" and box.get("tabindex") == "0" and box.get("role") == "group"
        drawn = (one for one in box.iter() if one.tag.endswith("text"))
        scale = 1.0 if scrolls else min(1.0, PHONE / across)
        heights += [LETTERS.get(one.get("class", ""), 14.0) * scale for one in drawn]
    return heights


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_can_be_read_on_a_phone(kind: str) -> None:
    assert min(letters_on_a_phone(picture(kind, PICTURES[kind]))) >= 12


def test_a_small_word_of_a_picture_is_as_high_as_the_style_says() -> None:
    style = (Path(__file__).parents[3] / "static/css/visual.css").read_text()

    assert {float(one) for one in re.findall(r"font: (\d+)px", style)} == {14.0, *LETTERS.values()}


def test_invented_names_are_under_their_steps_and_known_ones_marked() -> None:
    html = picture("samples", PICTURES["samples"])

    drawn, behind = html.split("<details")
    assert "after 200 steps" in words(drawn)
    assert "0 of 2 in the list" in words(drawn)
    assert "1 of 2 in the list" in words(drawn)
    assert drawn.count("<circle") == 1
    assert "1 hntef jane (in the list) 2 (empty) quinn" in words(behind)


def test_a_long_name_is_cut_in_the_picture_and_whole_in_the_table() -> None:
    name = "maximilianalexandra"

    html = picture("samples", {"steps": [1], "names": [[name]]})

    drawn, behind = html.split("<details")
    assert "maximilianalexand…" in re.sub(r"<[^>]+>", "", drawn.split("<svg")[1].split(">", 1)[1])
    assert name in behind
    assert "after 1 step " in words(behind)


@pytest.mark.parametrize(("name", "narrow"), [("maximiliana", False), ("maximilian-john", True)])
def test_a_name_that_is_longer_than_its_column_has_narrow_letters(name: str, narrow: bool) -> None:
    drawn = picture("samples", {"steps": [1], "names": [[name]]}).split("<details")[0]

    assert name in re.sub(r"<[^>]+>", "", drawn)
    assert ('textLength="100"' in drawn) is narrow


def test_every_kind_has_an_example() -> None:
    assert {*PICTURES, "tape", "slider"} == set(PICTURE_RENDERERS), "those with steps stand in `test_steps`"


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_is_well_formed_and_has_a_text_and_a_table(kind: str) -> None:
    html = picture(kind, PICTURES[kind])

    root = ElementTree.fromstring(f"<figure>{html}</figure>")

    drawing = next(one for one in root.iter() if one.tag.endswith("svg"))
    assert drawing.get("role") == "img"
    assert drawing.get("aria-label")
    assert root.find(".//table/caption") is not None


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_brings_no_style_that_the_policy_forbids(kind: str) -> None:
    html = picture(kind, PICTURES[kind])

    assert "style=" not in html
    assert "fill=" not in html


def test_a_number_in_a_picture_has_a_true_minus_and_zero_has_none() -> None:
    numbers = (0.0, -0.0, -1.5, 12345.6, 1e-9, -1e6)

    assert [plain_number(number) for number in numbers] == ["0", "0", "−1.5", "12,346", "1e−09", "−1e+06"]


def test_the_forces_of_the_lesson_are_shown_in_numbers() -> None:
    said = words(picture("forces", PICTURES["forces"]))

    assert "0.563 + 0.126 + 0.028 + 0.207 down = 0.924 up" in said
    assert "3 (target) 0 0.076 −0.924 pulled up by 0.924" in said
    assert "sum 1.000 0.000" in said


def test_lines_are_drawn_by_powers_of_ten_and_told_in_a_table() -> None:
    html = picture("lines", PICTURES["lines"])

    said = words(html)
    assert html.count('class="series series-1"') == 2, "the line and its sample"
    assert "central: from 0.02 to 1e-09, least 1e-09" in html
    assert "0.01 0.12 0.0002" in said
    assert all(power in said for power in ("10⁻³", "10⁻⁹"))
    heights = [float(one) for one in re.findall(r'cy="([\d.]+)" r="2.5" class="dot series-2"', html)]
    assert heights == sorted(heights), "smaller numbers stand lower"


def test_plain_lines_have_even_axes_on_which_nothing_and_less_has_a_place() -> None:
    html = picture("lines", {"plain": True, "x": [-2, 0, 2], "lines": {"square": [4, 0, 4], "cube": [-8, 0, 8]}})

    places = re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="2.5" class="dot series-1"', html)
    (left, high), (middle, low), (right, _) = [(float(at), float(height)) for at, height in places]
    assert middle == pytest.approx((left + right) / 2, abs=0.1)
    assert high < low, "larger numbers stand higher"
    assert "−5" in words(html)
    assert "10⁰" not in words(html)


def test_powers_over_even_steps_are_a_straight_line() -> None:
    html = picture("lines", {"plain": "x", "x": [0, 10, 20, 40], "lines": {"left": [1, 0.1, 0.01, 0.0001]}})

    places = re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="2.5"', html)
    slopes = [(float(low) - float(high)) / (float(b) - float(a)) for (a, high), (b, low) in pairwise(places)]
    assert slopes == pytest.approx(slopes[:1] * 3, abs=0.01)
    assert slopes[0] > 0.1, "smaller numbers stand lower"


def test_softmax_does_not_overflow() -> None:
    assert softmax([1000, 1001, 1002]) == pytest.approx([0.090, 0.245, 0.665], abs=5e-4)


@pytest.mark.parametrize(
    ("small", "large", "axes"),
    [((3,), (4, 3), (0,)), ((4, 1), (4, 3), (1,)), ((), (4, 3), (0, 1)), ((4, 3), (4, 3), ()), ((1, 1), (4, 1), (0,))],
)
def test_copied_axes_are_the_ones_that_backward_sums(small: Shape, large: Shape, axes: tuple[int, ...]) -> None:
    assert copied_axes(small, large) == axes


def test_a_broadcast_can_be_drawn_from_a_program() -> None:
    assert "(3,) → (4, 3)" in words(picture("broadcast", {}, of="db"))


def test_a_graph_marks_the_tensors_that_several_statements_read() -> None:
    html = picture("graph", {})

    assert "4 statements, from m to y. Read by more than one statement: x, d." in html
    assert html.count('class="fork"') == 2
    assert "x given m, d" in words(html)
    assert ">b<" not in html, "an input that is read once is no line of its own"
    assert [one.reads for one in graph_rows(PROGRAM)] == [("x",), ("x", "m"), ("d",), ("d", "s", "b")]


def test_a_long_line_of_a_graph_goes_on_below_and_moves_the_others_down() -> None:
    inputs = tuple(Input(name=name, sizes=("3",)) for name in ("first_of_them", "another_one", "and_the_third"))
    source = "y = first_of_them * another_one + and_the_third * first_of_them - another_one\nz = y * 2\n"
    forward = replace(PROGRAM, inputs=inputs, source=source, output="z")
    visual = Visual(place=HERE, name="v", kind="graph", forward="f", of=None, given={}, caption=Markup("It"))

    drawing = ElementTree.fromstring(re.search("<svg.*?</svg>", draw_picture(visual, {}, forward), re.DOTALL)[0])

    said = [(one.text, float(one.get("y"))) for one in drawing.iter() if one.get("class") == "figure-code"]
    assert " ".join(text for text, _ in said[:2]) == source.splitlines()[0]
    assert [round(low - high) for (_, high), (_, low) in pairwise(said)] == [19, 30]


def test_one_cell_shows_what_it_feeds() -> None:
    said = words(picture("cells", {"left": [2, 2], "right": [2, 2], "pick": [0, 0]}))

    assert "da₁₁ = b₁₁·dd₁₁ + b₁₂·dd₁₂" in said


def followed(html: str) -> dict[str, tuple[set[str], str]]:
    """By entry: what lights up with it, and what is said."""
    found = {}
    for one in ElementTree.fromstring(f"<figure>{html}</figure>").iter():
        if "data-path" in one.attrib:
            found[one.attrib["data-entry"]] = set(one.attrib["data-path"].split()), one.attrib["data-said"]
    return found


def test_every_cell_of_a_product_can_be_followed_there_and_back() -> None:
    paths = followed(picture("cells", {"left": [2, 3], "right": [3, 2]}))

    assert len(paths) == 6 + 6 + 4
    assert paths["0-1-2"] == ({"1-2-0", "1-2-1", "2-1-0", "2-1-1"}, "da₂₃ = b₃₁·dd₂₁ + b₃₂·dd₂₂")
    assert paths["1-2-0"] == ({"0-0-2", "0-1-2", "2-0-0", "2-1-0"}, "db₃₁ = a₁₃·dd₁₁ + a₂₃·dd₂₁")
    assert paths["2-1-0"][1] == "d₂₁ = a₂₁·b₁₁ + a₂₂·b₂₁ + a₂₃·b₃₁"


@pytest.mark.parametrize(
    ("small", "large", "entry", "lit"),
    [
        ([3], [2, 3], "s-0-1", {"l-0-1", "l-1-1"}),
        ([2, 1], [2, 3], "l-1-2", {"s-1-0", "l-1-0", "l-1-1"}),
        ([2, 1, 2], [2, 2, 2], "l-3-1", {"s-1-1", "l-2-1"}),
        ([], [2, 2], "s-0-0", {"l-0-0", "l-0-1", "l-1-0", "l-1-1"}),
    ],
)
def test_an_entry_that_is_copied_lights_all_its_copies(small, large, entry, lit) -> None:
    assert followed(picture("broadcast", {"from": small, "to": large}))[entry][0] == lit


def test_a_line_of_a_graph_lights_those_who_read_it_and_counts_its_shares() -> None:
    paths = followed(picture("graph", {}))

    assert paths["0"] == ({"1", "2", "0-1", "0-2"}, "x is read by m, d: dx has 2 shares, which are added.")
    assert paths["4"][1] == "dy is given: no line of the program reads y."


def test_small_numbers_beside_a_large_one_are_not_shown_as_zero() -> None:
    assert [level(value, 1.0) for value in (0.0, 0.01, 0.5, 1.0, -1.0, -1e-9)] == [0, 1, 4, 5, -5, -1]


def test_labels_above_the_columns_of_a_heat_map_do_not_touch() -> None:
    html = picture("heatmap", {"values": [[0.1, -0.9]], "columns": ["c1", "a3"]})

    one, other = (float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*>(?:c1|a3)<', html))
    assert other - one > 2 * LETTER + 4


def test_a_heat_map_has_room_for_the_longest_label_of_its_rows() -> None:
    html = picture("heatmap", {"values": [[0.1, -0.9], [0.0, 0.4]], "rows": ["a", "hwa to z"]})
    ends = [float(x) for x, word in re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="end"[^>]*>([^<]*)', html) if word]

    assert ends, "labels end where the cells begin"
    assert min(ends) >= 7.25 * len("hwa to z")


@pytest.mark.parametrize("kind", [*PICTURES, "unheard-of"])
def test_what_cannot_be_drawn_is_left_out(kind: str) -> None:
    visual = Visual(place=HERE, name="v", kind=kind, forward=None, of=None, given={"z": "?"}, caption=Markup())

    assert draw_picture(visual, {}) == ""


@given(
    kind=st.sampled_from(sorted(PICTURES)),
    given=st.dictionaries(
        st.sampled_from(["z", "target", "from", "to", "left", "right", "pick", "values", "labels", "names", "marks"]),
        st.recursive(
            st.none() | st.integers(-3, 9) | st.floats() | st.text(max_size=3),
            lambda inner: st.lists(inner, max_size=4),
            max_leaves=8,
        ),
    ),
)
def test_no_values_break_a_page(kind: str, given: dict[str, object]) -> None:
    html = picture(kind, given)

    ElementTree.fromstring(f"<figure>{html}</figure>")


def test_labels_are_escaped() -> None:
    html = picture("forces", {"z": [1, 2], "target": 0, "labels": ["<b>", "&"]})

    assert "<b>" not in html
    assert "&lt;b&gt;" in html


@pytest.mark.parametrize(
    ("rows", "shape", "corner", "said"),
    [
        (("ab", "AB"), (2, 2), (0, 0), "all 2 rows and all 2 columns"),
        (("a" * 64,) * 32, (32, 64), (0, 0), "all 32 rows and all 64 columns"),
        (("a" * 64,) * 64, (200, 1000), (118, 30), "rows 118 to 181 of 200 and columns 30 to 93 of 1,000"),
        (("a" * 9,), (9,), (0, 0), "one row and all 9 columns"),
        (("a" * 5,) * 6, (3, 2, 5), (0, 0), "all 6 rows and all 5 columns; a row for each place along axes 0 to 1"),
    ],
)
def test_a_map_says_which_part_of_the_tensor_it_shows(rows, shape, corner, said) -> None:
    found = Differences(rows=rows, largest=1.0, shape=shape, corner=corner)

    assert differences_map(found).part == said
    last = [str(start + size - 1) for start, size in zip(corner, (len(rows), len(rows[0])), strict=True)]
    ticks = [
        one.text for one in ElementTree.fromstring(differences_map(found).picture).iter() if one.tag.endswith("text")
    ]
    assert set(last) <= set(ticks)


def test_below_each_map_every_strength_has_its_colour_in_the_scale() -> None:
    maps = [Differences(rows=(step,), largest=largest, shape=(1, 1)) for step, largest in (("a", 1.0), ("L", 0.5))]

    scales = [ElementTree.fromstring(differences_map(each).picture).findall(".//{*}path")[1:] for each in maps]

    colours = [[stroke.get("class") for stroke in scale] for scale in scales]
    assert colours == [["differ-under"] * len(STEPS) + ["differ-over"] * len(STEPS)] * 2


def test_a_map_draws_each_differing_entry_once_by_how_much_it_differs() -> None:
    found = Differences(rows=("aaL.", "?lA."), largest=0.5, shape=(2, 4))
    root = ElementTree.fromstring(differences_map(found).picture)
    paths = [one for one in next(one for one in root.iter() if one.tag.endswith("}g")) if one.tag.endswith("path")]
    drawn = {one.get("d"): (one.get("class"), one.get("stroke-opacity"), "".join(one.itertext())) for one in paths}

    faint, full = f"{1 / len(STEPS):.2f}", "1"
    assert drawn == {
        "M0 0.5h2": ("differ-over", faint, "about 0.042 too large"),
        "M1 1.5h1": ("differ-over", full, "about 0.5 too large"),
        "M2 0.5h1": ("differ-under", full, "about 0.5 too small"),
        "M2 1.5h1": ("differ-under", faint, "about 0.042 too small"),
        "M0 1.5h1": ("differ-unfit", None, "no number"),
    }


def test_a_file_of_lines_holds_the_drawing_and_not_a_sample_of_its_legend() -> None:
    drawing = alone(picture("lines", PICTURES["lines"]))

    assert drawing is not None
    assert 'class="dot series-2"' in drawing.svg
    assert drawing.summary.startswith("forward: from 1.2 to 0.3")
