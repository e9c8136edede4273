from collections.abc import Iterator

import numpy as np
import pytest

from app.sandbox import canaries as module
from app.sandbox.canaries import Canary, run_canaries
from app.sandbox.wire import Ending, Job, Reply

ONE = Canary(name="fork", source="")


class Replies:
    """A jail whose runs end as they were told to."""

    def __init__(self, *endings: Ending | None) -> None:
        self._endings: Iterator[Ending | None] = iter(endings)

    def run(self, job: Job) -> Reply:
        assert job.driver == "probe"
        ending = next(self._endings)
        return Reply(ending="done", arrays={"won": np.ones(())}) if ending is None else Reply(ending=ending)


@pytest.fixture(autouse=True)
def _one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CANARIES", (ONE,))


@pytest.mark.parametrize(
    ("endings", "succeeded"),
    [
        (["denied"], ()),
        (["fault"], ()),  # it was never run
        ([None], ("fork",)),  # it won, and once is enough
        (["timeout"], ()),  # a busy machine
        (["crashed", "denied"], ()),
        (["crashed", "crashed"], ("fork",)),
        (["crashed", None], ("fork",)),
        (["crashed", "done"], ("fork",)),
    ],
)
def test_only_what_was_stopped_as_planned_is_held(endings: list[Ending | None], succeeded: tuple[str, ...]) -> None:
    assert run_canaries(Replies(*endings)) == succeeded
