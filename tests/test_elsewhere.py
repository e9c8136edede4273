"""On macOS and Windows everything works that needs no jail, and the rest says in one sentence what it needs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.sandbox.kernel import NEEDS_LINUX
from benchmarks.serving import Learner, free_port, wait_for
from tests.waiting import SECONDS

ROOT = Path(__file__).resolve().parents[1]
LESSON = ROOT / "lessons" / "2-tensors" / "10-a-layer-trained.md"
PAGE = "/lessons/a-layer-trained"
COMMAND = [sys.executable, "-m", "tests.elsewhere"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def learner(data: Path) -> Iterator[Learner]:
    """A learner at a server on such a system; in the end it has printed no traceback."""
    port = free_port()
    environment = {**os.environ, "BACKHAND_DATA_DIR": str(data)}
    command = [*COMMAND, "serve", "--port", str(port)]
    with (data / "log").open("w") as log, subprocess.Popen(command, cwd=ROOT, env=environment, stderr=log) as process:
        try:
            wait_for(port)
            with closing(Learner(port)) as learner:
                yield learner
        finally:
            process.terminate()
    assert "Traceback" not in (data / "log").read_text()


def test_pages_quizzes_and_practice_work_without_a_jail(learner: Learner) -> None:
    status, page = learner.get("/lessons/copies-add-up")
    quiz = re.search(r'action="(/lessons/copies-add-up/quiz/[^"]+)"', page)

    assert status == 200
    assert quiz is not None
    assert learner.post(quiz[1], {"answer": "(3,)"})[0] == 200
    assert learner.get("/practice")[0] == 200


def test_code_boxes_say_what_running_code_needs(learner: Learner) -> None:
    page = learner.get(PAGE)[1]
    checked = learner.post(
        f"{PAGE}/code/linear-backward/check", {"code": "dX = dY @ W.T\n", "revision": learner.revision}
    )

    assert NEEDS_LINUX in page
    assert NEEDS_LINUX in checked[1]


@pytest.mark.in_turn(turns=5, places=("app/cli", "app/sandbox", "app/engine"))
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["doctor"], 1),
        (["check", str(LESSON)], 2),
        (["grade", f"{LESSON}#linear-backward", "-"], 1),
        (["practice", "draw"], 2),
        (["grader"], 2),
    ],
)
def test_a_command_that_runs_code_says_what_it_needs(words: list[str], status: int, data: Path) -> None:
    done = subprocess.run(
        [*COMMAND, *words], cwd=ROOT, env={**os.environ, "BACKHAND_DATA_DIR": str(data / "commands")},
        input="dX = dY @ W.T", capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip

    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    assert NEEDS_LINUX in done.stdout + done.stderr
