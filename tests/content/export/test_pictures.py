"""Pictures go along: drawn in a notebook, told in a script and in a text."""

import base64
import json
import re
from xml.etree import ElementTree

import pytest

from app.content.blocks import Visual
from app.course.export import Drawing, NotebookCell, written_as
from app.web.pictures.alone import STYLE, drawings_of

STYLED = set(re.findall(r"\.([a-z][a-z0-9-]*)", STYLE))


def test_every_picture_of_the_course_is_in_its_notebook(exports, lessons):
    for lesson in lessons:
        cells = {cell["id"]: cell for cell in json.loads(exports[f"{lesson.slug}.solved.ipynb"])["cells"]}
        for visual in (one for one in lesson.blocks if isinstance(one, Visual) and one.kind != "names"):
            cell = cells[f"{visual.name}-asked"]
            (attached,) = cell["attachments"]["picture.svg"].items()
            assert attached[0] == "image/svg+xml"
            assert ElementTree.fromstring(base64.b64decode(attached[1])).tag.endswith("svg")
            assert "](attachment:picture.svg)" in "".join(cell["source"])


def test_a_picture_brings_a_colour_for_every_class_it_uses(lessons):
    for lesson in lessons:
        for drawing in drawings_of(lesson).values():
            drawn = drawing.svg.split("</style>")[1]
            used = {name for classes in re.findall(r'class="([^"]+)"', drawn) for name in classes.split()}
            assert used <= STYLED
            assert "var(--" not in drawing.svg


@pytest.mark.parametrize("form", ["py", "md"])
def test_where_none_can_be_shown_it_is_told(exports, form):
    text = exports[f"batch-norm-in-pieces.solved.{form}"].replace("# ", "")

    assert (
        "**Picture**: 7 statements, from bnmeani to hpreact. Read by more than one statement: hprebn, bndiff." in text
    )
    assert "| bndiff | hprebn, bnmeani | bndiff2, bnraw |" in text
    assert "The way back runs from the bottom to the top" in text


def test_a_table_too_wide_to_be_read_is_left_out():
    wide = Drawing(svg="<svg/>", summary="A heat map.", rows=[[str(one) for one in range(30)]] * 3)

    text = written_as("md", [NotebookCell(text="Look.", drawing=wide)])

    assert text == "**Picture**: A heat map.\n\nLook.\n"


def test_brackets_and_bars_do_no_harm():
    drawing = Drawing(svg="<svg/>", summary="a[0] and\nb", rows=[["x|y"], ["1"]])

    (cell,) = json.loads(written_as("ipynb", [NotebookCell(text="", drawing=drawing)]))["cells"]
    assert "".join(cell["source"]).startswith("![a 0 and b](attachment:picture.svg)")
    assert "| x\\|y |" in written_as("md", [NotebookCell(text="", drawing=drawing)])
