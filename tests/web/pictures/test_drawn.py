"""Pictures are drawn as they were, to the tenth of a pixel: `make pictures` renews what is kept in `drawn`.

The styleguide's photographs, half as large and with a tolerance, let an arrow's tip go astray.
"""

import os
import re
from pathlib import Path

import pytest
from markupsafe import Markup

from app.engine.train.snapshot import Point
from app.grading.judge.verdict import Differences
from app.web.pictures.course_map import course_map
from app.web.pictures.curve import draw_curve
from app.web.pictures.difference_map import differences_map
from app.web.pictures.flow import gradient_flow
from tests.web.pictures.test_course_map import course
from tests.web.pictures.test_flow import FORK
from tests.web.pictures.test_pictures import PICTURES, picture
from tests.web.pictures.test_steps import BOWL, DIAMOND, PRODUCT, drawn

KEPT = Path(__file__).parent / "drawn"
RENEW = "PICTURES" in os.environ
STEEP = BOWL.replace("** 2", "** 5").replace("[1, 3, 5]", "[0, 0.5, 1, 1.5, 2, 2.25, 2.5, 3.125]")
FLAT = BOWL.replace("(x - shift) ** 2", "x * 0")
POINTS = tuple(Point(step=at, own=3 - at / 2000, reference=3.1 - at / 2000) for at in range(20, 2020, 20))
MAP = Differences(rows=("a" * 64, "B" * 64, ".c?D" * 16), largest=0.5, shape=(200, 1000), corner=(118, 30))

DRAWN: dict[str, Markup | str] = {
    **{kind: picture(kind, given) for kind, given in PICTURES.items()},
    "broadcast-of-columns": picture("broadcast", {"from": [8, 1], "to": [8, 9]}),
    "broadcast-in-the-middle": picture("broadcast", {"from": [2, 1, 2], "to": [2, 2, 2]}),
    "broadcast-to-itself": picture("broadcast", {"from": [2, 3], "to": [2, 3]}),
    "broadcast-of-a-number": picture("broadcast", {"from": [], "to": [3]}),
    "cells-on-the-right": picture(
        "cells", {"left": [1, 3], "right": [3, 2], "names": ["x", "w", "y"], "pick": [2, 1]}, of="dw"
    ),
    "cells-wide": picture("cells", {"left": [4, 1], "right": [1, 4], "pick": [3, 0]}),
    "curves-in-two-rows": picture(
        "curves",
        {
            "values": [[1, 2.25, 4, 3], *[[at, at + 1] for at in range(4)]],
            "rows": list("ABCDE"),
            "columns": [5, 6, 7, 9],
        },
    ),
    "lines-plain": picture(
        "lines", {"plain": True, "x": [-2, 0, 2], "lines": {"square": [4, 0, 4], "cube": [-8, 0, 8]}}
    ),
    "lines-far": picture("lines", {"x": [1, 1e3, 1e6], "lines": {"up": [1e-12, 1, 1e7], "flat": [1, 1, 1]}}),
    "slider": drawn(BOWL),
    "slider-steep": drawn(STEEP),
    "slider-flat": drawn(FLAT),
    "tape": drawn(DIAMOND),
    "tape-of-tables": drawn(PRODUCT),
    "curve": draw_curve(POINTS, 2000, (0.1, 0.01)),
    "curve-begun": draw_curve(POINTS[:3], 2000, (0.1, 0.01)),
    "difference-map": differences_map(MAP).picture,
    "flow": Markup("\n").join(one.joint for one in gradient_flow(FORK, ("dc", "db", "da", "dx"))[0]),
    "course-map": Markup("\n").join(
        way.above + way.lines for way in course_map(course((), (0,), (0,), (1, 2), (0,), (3, 4))).values()
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_drawn_as_it_was(name: str) -> None:
    said = re.sub(r">(?=<[a-z])", ">\n", DRAWN[name]) + "\n"
    file = KEPT / f"{name}.html"

    if RENEW:
        file.write_text(said, "utf-8")

    assert said == file.read_text("utf-8"), "look at it; then: make pictures"


def test_no_picture_is_kept_that_nobody_draws() -> None:
    assert {one.stem for one in KEPT.iterdir()} == set(DRAWN)
