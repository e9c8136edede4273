"""The lessons of this repository, as they are served."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.settings import Settings
from app.web.application import create_app
from tests.courses import LESSONS, course_in

COURSE = course_in(LESSONS)


@pytest.mark.parametrize("drafts", [False, True])
def test_every_page_of_the_course_is_served_and_its_ids_are_unique(tmp_path: Path, grader, page, drafts: bool) -> None:
    app = create_app(Settings(data_dir=tmp_path), COURSE, grader, drafts=drafts)
    with TestClient(app, headers={"sec-fetch-mode": "navigate"}) as client:
        course = app.state.site.course
        paths = ["/", *(f"/units/{unit.slug}" for unit in course.units)]
        paths += [f"/lessons/{lesson.slug}" for lesson in course.lessons]
        for path in paths:
            response = client.get(path)
            ids = page(response.text).ids
            assert response.status_code == 200, path
            assert len(ids) == len(set(ids)), path
