from app.engine.grade.first_try import Hurried
from app.sandbox.wire import Job, Reply


class Clock:
    """A jail that remembers how long each run may take."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def run(self, job: Job) -> Reply:
        self.seconds.append(job.seconds)
        return Reply(ending="done")


def test_a_run_gets_the_shorter_of_both_times() -> None:
    clock = Clock()
    hurried = Hurried(clock, 0.2)

    for seconds in (2.0, 0.1):
        hurried.run(Job(driver="attempt", header={}, seconds=seconds))

    assert clock.seconds == [0.2, 0.1]
