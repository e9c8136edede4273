from app.engine.grade.jail_runs import Hurried
from app.sandbox.wire import Job, Reply


class Clock:
    """A jail that remembers how long each run may take."""

    def __init__(self) -> None:
        self.seconds: list[tuple[float, float]] = []

    def run(self, job: Job) -> Reply:
        self.seconds.append((job.seconds, job.cpu_seconds))
        return Reply(ending="done")


def test_a_first_try_has_less_of_the_processor_s_time_and_all_of_the_wall_s() -> None:
    clock = Clock()

    Hurried(clock, 0.2).run(Job(driver="attempt", header={}, seconds=2.0))

    assert clock.seconds == [(2.0, 0.2)]
