"""`python -m tests.styleguide`: the styleguide at http://127.0.0.1:8001/styleguide, until Ctrl-C."""

import tempfile
from pathlib import Path

import uvicorn

from app.course.course import load_course
from app.installation import ROOT
from app.settings import Settings
from tests.styleguide.page import styleguide_app

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder), database_url="")
        uvicorn.run(styleguide_app(settings, load_course(ROOT / "tests" / "web" / "course")), port=8001)
