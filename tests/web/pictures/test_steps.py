"""Pictures that are stepped through: a frame for each step, each with a sentence and links to the ones beside it."""

import re
from xml.etree import ElementTree

import pytest

from app.content.blocks import Visual
from app.course.parse import parse_lesson
from app.web.pictures import draw_picture
from app.web.pictures.alone import alone
from tests.web.pictures.test_pictures import letters_on_a_phone

TOP = "---\ntitle: T\nid: t\nestimate: 1 min\n---\n\n"
DIAMOND = """```{forward} diamond
:inputs: {a: [], b: []}
:output: L
c = a * b
d = c + a
L = d * c
```

:::{visual} walk
:kind: tape
:forward: diamond
:at: {a: 2, b: -3}

A walk.
:::
"""
PRODUCT = """```{forward} product
:inputs: {A: [2, 2], B: [2, 2]}
:output: O
O = A @ B
```

:::{visual} walk
:kind: tape
:forward: product
:at: {A: [[1, 2], [3, 4]], B: [[5, 6], [7, 8]], dO: [[1, -1], [2, 3]]}

A walk.
:::
"""
LONG = """```{forward} long
:inputs: {a: [], b: []}
:output: L
product = a * b
shifted = product + a * 2
L = torch.tanh(shifted * product + b)
```

:::{visual} walk
:kind: tape
:forward: long
:at: {a: 0.2, b: -0.3}

A walk.
:::
"""
BOWL = """```{forward} bowl
:inputs: {x: [], shift: []}
:output: L
L = (x - shift) ** 2
```

:::{visual} knob
:kind: slider
:forward: bowl
:of: x
:at: {shift: 3}
:given: {over: [1, 3, 5]}

A knob.
:::
"""


def drawn(text):
    lesson, errors = parse_lesson(TOP + text, "01-t.md")
    assert lesson is not None, [str(error) for error in errors]
    visual = next(one for one in lesson.blocks if isinstance(one, Visual))
    return draw_picture(visual, {}, lesson.forward(visual.forward or ""))


def sentences(markup):
    return [re.sub("<[^>]*>", "", one) for one in re.findall(r"<p>(.*?)</p>", markup)]


def test_a_tape_goes_forward_line_by_line_and_back_share_by_share():
    said = sentences(drawn(DIAMOND))

    assert len(said) == 3 + 1 + 6
    assert said[0] == "c = a * b is −6."
    assert said[3] == "The way back begins at the end: 1 comes back to L."
    assert said[5] == (
        "1 came back to L, in L = d * c. The local derivative for c is −4, so it is handed 1 · −4 = −4. "
        "c is not finished: another line still has to pay in."
    )
    assert said[6] == (
        "−6 came back to d, in d = c + a. The local derivative for c is 1, so it is handed −6 · 1 = −6. "
        "With the −4 from before that makes −10."
    )


def test_a_tape_says_where_another_share_of_a_tensor_comes_from():
    square = DIAMOND.replace("c = a * b\nd = c + a\nL = d * c", "c = a * a\nL = c * b + a")

    said = [one.partition(". ")[2].rpartition(". ")[2] for one in sentences(drawn(square))]

    assert [one for one in said if "not finished" in one] == [
        "a is not finished: another line still has to pay in.",
        "a is not finished: another place in this line still has to pay in.",
    ]


@pytest.mark.parametrize(("text", "name"), [(DIAMOND, "walk"), (BOWL, "knob")])
def test_every_step_links_to_the_ones_beside_it_and_the_last_to_the_first(text, name):
    markup = drawn(text)
    places = re.findall(rf'<li id="({name}-\d+)"', markup)
    links = re.findall(r'href="#([^"]+)"', markup)

    assert len(places) == len(sentences(markup))
    assert set(links) == set(places)
    assert links[-1] == places[0]


@pytest.mark.parametrize("text", [DIAMOND, PRODUCT, BOWL])
def test_steps_are_well_formed_and_have_a_name_and_a_table(text):
    markup = drawn(text)

    root = ElementTree.fromstring(f"<figure>{markup}</figure>")

    assert root.find("ol").get("aria-label")
    assert root.find(".//table/caption") is not None
    assert "style=" not in markup
    assert "fill=" not in markup


def test_tables_are_written_row_by_row():
    said = sentences(drawn(PRODUCT))

    assert said[0] == "O = A @ B is 19 22 | 43 50."
    assert said[2] == "1 −1 | 2 3 came back to O, in O = A @ B. A is handed −1 −1 | 28 38."


def test_a_slider_says_value_and_slope_at_each_of_its_places():
    assert sentences(drawn(BOWL)) == [
        "At x = 1 the output L is 4. Its slope there, dx, is −4: a small step to the right lowers it, 4 times as far.",
        "At x = 3 the output L is 0. Its slope there, dx, is 0: a small step changes nothing.",
        "At x = 5 the output L is 4. Its slope there, dx, is 4: a small step to the right raises it, 4 times as far.",
    ]


def test_large_numbers_of_a_slider_are_told_in_full():
    steep = sentences(drawn(BOWL.replace("** 2", "** 2 * 2500.2")))

    assert "is −10,001: a small step to the right lowers it, 10,001 times as far." in steep[0]


def test_what_cannot_be_walked_is_left_out():
    assert drawn(DIAMOND.replace("L = d * c", "L = torch.special.i0(d * c)")) == ""


def test_a_file_shows_the_last_step_and_the_table():
    drawing = alone(drawn(DIAMOND))

    assert drawing is not None
    assert drawing.svg.count("<svg") == 1
    assert ">24</text>" in drawing.svg
    assert drawing.summary == "The walk through 3 lines and back, in 10 steps"
    assert drawing.rows[-1] == ("c", "−10", "b", "−20", "−20")


@pytest.mark.parametrize(("text", "wide"), [(DIAMOND, False), (BOWL, False), (PRODUCT, True), (LONG, True)])
def test_steps_can_be_read_on_a_phone_and_wide_ones_scroll(text, wide):
    markup = drawn(text)

    assert min(letters_on_a_phone(markup)) >= 12
    assert ("data-wide" in markup) is wide
