"""Which tests are run by one worker after another, and what the others do when a worker dies."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import SupportsIndex

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

A_JAIL = "a jail that grades and trains"
SHARED = {
    "tests/browser/test_[a-e]*": "a browser",
    "tests/browser/test_[f-o]*": "another browser",
    "tests/browser/test_p[al]*": "another browser",
    "tests/browser/*": "a third browser",
    "tests/lti/test_lost_scores.py": "servers that are killed while they send grades",
    "tests/engine/grade/test_programs.py": "programs in the style of public code",
    "tests/practice/test_proof.py": "exercises that are proved",
    "tests/check/*": "graders that prove",
    "tests/practice/test_forms.py": "graders that prove",
    "tests/practice/test_named_programs.py": "graders that prove",
    "tests/engine/pool/test_canary*": A_JAIL,
    "tests/engine/pool/*": "graders that are asked and killed",
    "tests/engine/grade/test_[cfjn]*": A_JAIL,
    "tests/engine/grade/test_pre*": A_JAIL,
    "tests/engine/grade/test_re*": A_JAIL,
    "tests/engine/t*": A_JAIL,
    "tests/test_architecture.py": A_JAIL,
    "tests/sandbox/*": "jails",
    "tests/cli/*": "graders of commands",
    "tests/test_wheel.py": "an installed copy",
    "tests/content/export/*": "what every export prints",
    "tests/engine/grade/test_true_*": "what was said falsely once",
    "tests/web/test_outage.py": "a server that goes away",
    "tests/web/test_http_fuzz.py": "requests of all kinds",
    "tests/web/test_server.py": "a server that begins and ends",
    "tests/web/test_injection.py": "pages of what others wrote",
    "tests/web/test_path_prefix.py": "pages below a prefix",
    "tests/web/test_replicas.py": "servers with one database",
    "tests/web/routes/test_practice.py": "practice",
    "tests/web/routes/test_training.py": "training",
    "tests/web/routes/test_lti*": "a server that a learning platform opens pages of",
}
"""What is dear to start, and is shared by the tests of a room; in a room of long tests, by a part of them.

The first that is named takes longest and begins first: what is short fills the gaps at the end.
"""

SIDE_BY_SIDE = (
    "tests/check/test_course.py",
    "tests/engine/grade/test_programs.py",
    "tests/practice/test_proof.py",
)
"""Files whose parts are long, each alone: any worker takes up the next one, with the tests that share its parameter."""


@cache
def shared_by(file: str) -> int:
    """The number of the row of *SHARED* that a file belongs to; behind all of them where there is none."""
    return next((row for row, files in enumerate(SHARED) if fnmatchcase(file, files)), len(SHARED))


class Places(list[str]):
    """Tests of which each is found at once: to look through thousands for thousands takes seconds."""

    def __init__(self, tests: Iterable[str]) -> None:
        super().__init__(tests)
        self._of = {test: place for place, test in enumerate(self)}

    def index(self, test: str, *_: SupportsIndex) -> int:
        return self._of[test]


class Rooms(LoadScopeScheduling):
    """A file is run by one worker, and so is all that shares what is dear."""

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        self.registered_collections[node] = Places(collection)

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if file in SIDE_BY_SIDE and "[" in test:
            return f"{file}[{test.partition('[')[2]}"
        return [*SHARED.values(), file][shared_by(file)]

    def remove_node(self, node: WorkerController) -> str | None:
        """The test that ended its worker, if any: it would end the next one too, which runs what else was left."""
        rooms = self.assigned_work.pop(node)
        ended = next((test for tests in rooms.values() for test, done in tests.items() if not done), None)
        if ended is None:
            return None
        for tests in rooms.values():
            if ended in tests:
                tests[ended] = True
        self.workqueue.update(rooms)
        for other in self.nodes:
            self._reschedule(other)
        return ended

    def _reschedule(self, node: WorkerController) -> None:
        """A worker begins a test once it knows the next, so it is given rooms until it has two, or is told the end."""
        super()._reschedule(node)
        while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)
