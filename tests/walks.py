"""The files of `app/` that one request enters, in the order in which it meets them; `python -m tests.walks` tells.


Web process and grader stand in one process here, so that a walk can be followed from the request to the answer; what
happens beyond the jail's wall is another process and is not seen.
"""

import ast
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlencode

from app.content.blocks import Grad
from app.engine.grade.engine import Engine
from app.engine.grader import Load, Readiness
from app.engine.task import AnyTask
from app.grading.judge.verdict import Verdict
from app.sandbox.runner import Jail
from app.settings import Settings
from app.web.application import create_app
from tests.courses import LESSONS, course_in
from tests.web.asking import Ask, Asker, asking, without_clock

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
APP = str(ROOT / "app") + "/"
COURSE = course_in(LESSONS)


class NearGrader:
    """A grader in this very process, which answers at once."""

    readiness = Readiness(state="ready")
    load = Load(up=1, idle=1)

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def check(self, task: AnyTask, code: str) -> Verdict:
        return self._engine.check(task, code)


@contextmanager
def near_site(jail: Jail, course: Path) -> Iterator[Asker]:
    grader = NearGrader(Engine(jail, None))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder), database_url="", secure_cookies=False)
        with without_clock(), asking(create_app(settings, course_in(course), grader)) as asker:
            yield asker


@contextmanager
def entered() -> Iterator[list[str]]:
    """Collects the files of `app/` whose functions are called, each once, in the order of the first call."""
    files: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(APP) and name.endswith(".py"):  # forms of kinds are no code
            files[name[len(APP) :]] = None

    seen: list[str] = []
    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(None)
        seen += files


HEADINGS = {"page": "A lesson page", "quiz": "A quiz answer", "check": "A check that passes"}
MOST = {"page": 18, "quiz": 16, "check": 31}
LESSON = "/lessons/linear"
RIGHT = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n"
SENT = (
    (b"sec-fetch-site", b"same-origin"),
    (b"hx-request", b"true"),
    (b"content-type", b"application/x-www-form-urlencoded"),
)


def walks(asker: Asker) -> dict[str, list[str]]:
    """Each walk by name, the second time that it is gone: by then everything is there that is made once."""
    begun = asker(Ask("POST", f"{LESSON}/quiz/dw-shape", SENT, urlencode({"answer": "(5,)"}).encode()))
    known = (*SENT, (b"cookie", begun.header("set-cookie").partition(";")[0].encode()))

    def post(path: str, **form: str) -> Ask:
        return Ask("POST", f"{LESSON}/{path}", known, urlencode(form).encode())

    asks = {
        "page": [Ask("GET", LESSON, known[-1:])] * 2,
        "quiz": [post("quiz/dw-shape", answer="(4, 3)")] * 2,
        "check": [post("code/linear-backward/check", code=f"{RIGHT}# {word}", revision="0") for word in ("one", "two")],
    }
    found = {}
    for name, (first, second) in asks.items():
        asker(first)
        with entered() as files:
            answer = asker(second)
        assert answer.status == 200, answer.text
        found[name] = files
    return found


def gone(jail: Jail) -> dict[str, list[str]]:
    with near_site(jail, ROOT / "tests" / "web" / "course") as asker:
        return walks(asker)


@contextmanager
def pages_of_the_course(jail: Jail) -> Iterator[Callable[[str], list[str]]]:
    """What tells of a lesson the files that its page enters, for somebody who has written in a box."""
    lesson, box = next((one, box) for one in COURSE.lessons for box in one.exercises if isinstance(box, Grad))
    with near_site(jail, LESSONS) as asker:
        form = urlencode({"code": "dx = 1", "revision": "0"}).encode()
        begun = asker(Ask("POST", f"/lessons/{lesson.slug}/code/{box.name}/draft", SENT, form))
        cookie = (b"cookie", begun.header("set-cookie").partition(";")[0].encode())

        def files_of(slug: str) -> list[str]:
            page = Ask("GET", f"/lessons/{slug}", (cookie,))
            asker(page)
            with entered() as files:
                assert asker(page).status == 200
            return files

        yield files_of


def written(page: str) -> dict[str, list[str]]:
    """The walks as *page* tells them."""
    parts = {name: page.partition(f"### {heading}")[2].partition("\n#")[0] for name, heading in HEADINGS.items()}
    return {name: re.findall(r"^\d+\. `(.+?)`", part, re.MULTILINE) for name, part in parts.items()}


def about(file: str) -> str:
    """What *file* says of itself, to its first stop."""
    said = ast.get_docstring(ast.parse((ROOT / "app" / file).read_text("utf-8"))) or ""
    return re.split(r"[.;:](?: |$)", said.partition("\n")[0])[0]


def main() -> None:
    page = PAGE.read_text("utf-8")
    jail = Jail()
    found = gone(jail)
    jail.close()
    for name, files in found.items():
        before, _, rest = page.partition(f"### {HEADINGS[name]}")
        _, mark, after = rest.partition("\n#")
        listed = "\n".join(f"{at}. `{file}`: {about(file)}" for at, file in enumerate(files, start=1))
        page = f"{before}### {HEADINGS[name]}: {len(files)} files\n{listed}\n{mark}{after}"
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
