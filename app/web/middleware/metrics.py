"""Metrics for an operator's monitoring, in the text format of Prometheus.

Numbers of the whole service, never of a learner: every label has few values, and none comes from what was sent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.engine.grader import Load, Readiness
from app.engine.grader import State as GraderState

DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSample:
    """Sample of all gauges; *sessions* is None if the database does not answer."""

    readiness: Readiness
    load: Load
    trainings: int
    sessions: int | None
    connections: int = 0


class Metrics:
    """Counts what happens; `text` adds what is so now."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.checks = Counter(
            "backhand_checks",
            "Questions to the graders by kind and outcome; `stored` cost no run, `put-off` and `stopped` no answer.",
            ["kind", "outcome"],
            registry=self._registry,
        )
        self.seconds = Histogram(
            "backhand_check_seconds",
            "Seconds until an answer of the graders, waiting included.",
            ["kind"],
            buckets=DURATION_BUCKETS,
            registry=self._registry,
        )
        self.parts = Histogram(
            "backhand_check_part_seconds",
            "Seconds of an answer of the graders by part: `waiting` for one, `jail`, and `judging`, the rest.",
            ["part"],
            buckets=DURATION_BUCKETS,
            registry=self._registry,
        )
        self.database = Histogram(
            "backhand_database_seconds",
            "Seconds of transactions: `read`, `write`, and `line`, what a writer waited for the others of this server.",
            ["part"],
            buckets=DURATION_BUCKETS,
            registry=self._registry,
        )
        self.request_seconds = Histogram(
            "backhand_request_seconds",
            "Seconds until a request was answered, by route; streams of events count until they end.",
            ["route"],
            buckets=DURATION_BUCKETS,
            registry=self._registry,
        )
        self.requests = Counter(
            "backhand_requests", "Requests by route and status.", ["route", "status"], registry=self._registry
        )

    def text(self, state: MetricsSample) -> bytes:
        now = CollectorRegistry()
        now.register(_Now(state))
        return generate_latest(self._registry) + generate_latest(now)


class _Now(Collector):
    """Gauges of one state."""

    def __init__(self, state: MetricsSample) -> None:
        self._state = state

    def collect(self) -> Iterable[Metric]:
        state, load = self._state, self._state.load
        yield _gauge("backhand_graders_up", "Grader processes that are up.", load.up)
        yield _gauge("backhand_graders_idle", "Graders that wait for a question.", load.idle)
        yield _gauge("backhand_graders_replaced", "Graders that died since the start and were replaced.", load.replaced)
        yield _gauge("backhand_queue_length", "Questions that wait for a grader.", load.waiting)
        yield _gauge("backhand_trainings", "Training runs under way in this process.", state.trainings)
        words = "Connections to the database that are in use, of the pool of this server."
        yield _gauge("backhand_database_connections", words, state.connections)
        for name, words in ROLE_GAUGES.items() if load.roles else ():
            values = {role_load.role: getattr(role_load, name) for role_load in load.roles}
            yield _gauges(f"backhand_role_{name}", words, "role", values)
        if state.sessions is not None:
            yield _gauge("backhand_sessions", "Sessions in the database.", state.sessions)
        readiness, look = state.readiness, state.readiness.look
        states = {name: name == readiness.state for name in get_args(GraderState)}
        yield _gauges("backhand_state", "1 for the state that the graders are in.", "state", states)
        words = "1 for a protection in force, 0 for one that is missing."
        yield _gauges("backhand_protection", words, "layer", {name: value == "on" for name, value in readiness.layers})
        if look is not None:
            yield _gauge("backhand_canaries_seconds", "When canary attacks flew last, in Unix seconds.", look.at)
            yield _gauge("backhand_canaries_held", "1 while every canary attack is stopped.", not look.succeeded)
            yield _gauge("backhand_canaries_succeeded", "Canary attacks that succeeded.", len(look.succeeded))


def _gauge(name: str, words: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, words, value=float(value))


ROLE_GAUGES = {
    "slots": "Slots of a role on all hosts of graders.",
    "pending": "Questions that lie in the queue of a role.",
    "in_hand": "Questions of a role that a grader has.",
    "waiting": "Slots of a role that wait for a question.",
    "redelivered": "Questions of a role that another grader had before.",
    "refused": "Questions that a full queue turned away since this server started.",
}


def _gauges(name: str, words: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(name, words, labels=[label])
    for key, value in values.items():
        gauge.add_metric([key], float(value))
    return gauge
