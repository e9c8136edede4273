from app.engine.grade.jail_runs import Timed, TimeLimitedRunner
from app.sandbox.wire import Job, Reply


class Clock:
    """A jail that remembers how long each run may take."""

    def __init__(self) -> None:
        self.seconds: list[tuple[float, float]] = []

    def run(self, job: Job) -> Reply:
        self.seconds.append((job.seconds, job.cpu_seconds))
        return Reply(ending="done", wall_ms=3.0)


def test_a_first_try_has_less_processor_time_and_all_wall_time() -> None:
    clock = Clock()

    TimeLimitedRunner(clock, 0.2).run(Job(driver="attempt", header={}, seconds=2.0))

    assert clock.seconds == [(2.0, 0.2)]


def test_a_first_try_has_no_more_than_the_run_has_anyway() -> None:
    clock = Clock()

    TimeLimitedRunner(clock, 0.2).run(Job(driver="attempt", header={}, seconds=0.5, cpu_seconds=0.1))

    assert clock.seconds == [(0.5, 0.1)]


def test_the_time_of_all_runs_is_added_up_those_of_a_first_try_too() -> None:
    timed = Timed(Clock())

    timed.run(Job(driver="attempt", header={}))
    TimeLimitedRunner(timed, 0.2).run(Job(driver="attempt", header={}))

    assert timed.spent_ms == 6.0
