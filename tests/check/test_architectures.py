"""Four lessons as an instructor writes them: loops, helpers, two outputs, masks, indices, pooling."""

from pathlib import Path

import pytest

from app.course.course import load_course
from tests.check.test_prove import proved
from tests.graders import SharedGraders

FOLDER = Path(__file__).resolve().parents[1] / "architectures"
LESSONS = {one.name: one for one in load_course(FOLDER).lessons}


@pytest.mark.prove
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_on_an_architecture_is_sound_and_accepts_nothing_wrong(name: str, graders: SharedGraders) -> None:
    assert proved([LESSONS[name]], graders) == ()
