"""`python -m tests.lti.server FOLDER DATABASE`: a server, with a small course and a grader that answers by rule.

What takes minutes in life takes moments here. It ends when it is killed.
"""

import sys
from datetime import timedelta
from pathlib import Path

import uvicorn

from app.lti import line_item_search, platform_client, rosters
from app.settings import Settings
from app.store import lti_scores
from app.web import application
from tests.courses import course_in
from tests.web.conftest import FakeGrader

COURSE = Path(__file__).parents[1] / "web" / "course"
LESSON = "linear-layer"


def main(folder: Path, url: str) -> None:
    several = 2 if url else 1
    settings = Settings(data_dir=folder, database_url=url, address="http://testserver", replicas=several)
    app = application.create_app(settings, course_in(COURSE), FakeGrader())
    uvicorn.run(app, port=0, log_level="error", ws="none")


if __name__ == "__main__":
    platform_client.SECONDS = 1.0
    lti_scores.FIRST_RETRY = lti_scores.LONGEST_RETRY = timedelta(seconds=0.2)
    lti_scores.LEASE = line_item_search.LEASE = timedelta(seconds=18)
    application.LOOK_SECONDS = rosters.LOOK_SECONDS = 0.1
    main(Path(sys.argv[1]), sys.argv[2])
