"""A grader: a process that owns one jail and answers one question at a time over a socket.

It is exec'd with an empty environment and one end of a socket pair, and talks to nobody else. What a learner wrote is
passed on to its reader, which may die over it. Each question has exactly one answer, with its number; news of the
canary attacks may come between them.
"""

import contextlib
import json
import signal
import socket
import sys
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from app.content.blocks import Forward
from app.content.export.unfit import unfit
from app.engine.codec import plain, restored
from app.engine.grade.engine import Engine
from app.engine.grade.jail_runs import JailRuns
from app.engine.grade.outcomes import grader_fault
from app.engine.grade.seeds import PUBLIC, Seeds, seeds_in
from app.engine.grader import Nudge, Run
from app.engine.pool.cancel import STOP, Stops
from app.engine.pool.grader_frames import packed, receive
from app.engine.pool.grader_logs import log_in_lines
from app.engine.pool.reader import Answer, Reader, ReaderDiedError, Say
from app.engine.pool.self_test import Watch
from app.engine.stretch import Stretch, Stretched
from app.engine.task import AnyTask, CheckerTask, FunctionTask, HuntTask, Task
from app.engine.train.trainer import Trainer, gated
from app.grading.forward.facts import Facts, Outcome
from app.grading.judge.told import Told
from app.grading.judge.verdict import Verdict
from app.sandbox.gate import Refusal
from app.sandbox.process import StoppedError
from app.sandbox.protection import keep_to_the_jail
from app.sandbox.runner import Jail

TOO_MUCH = (
    "To read this text took more time or memory than a text may take, so it was not run. Shorten it: fewer functions "
    "that call each other, fewer terms in a line."
)
TASKS: dict[str, type[AnyTask]] = {one.__name__: one for one in (Task, HuntTask, CheckerTask, FunctionTask)}


def serve(connection: socket.socket, options: dict[str, Any]) -> None:
    """Answer until the other end closes, or a canary attack succeeds: the next grader then says so at its start."""
    cgroup = Path(options["cgroup"]) if options["cgroup"] else None
    jail = Jail(require_landlock=options["require_landlock"], unsafe=options["unsafe"], cgroup=cgroup)
    keep_to_the_jail()
    watch = Watch(jail, on=options["watch"], tell=lambda look: connection.sendall(packed({"look": plain(look)})))
    stops = Stops(connection)
    seeds = seeds_in(Path(options["secrets"])) if options["secrets"] else PUBLIC
    reader = Reader(jail, partial(answering, options["facts"], seeds))
    trainer = Trainer(jail, Path(options["names"]) if options["names"] else None, partial(_gated, reader))
    try:
        watch.look()
        connection.sendall(packed({"refusal": jail.refusal, "layers": plain(jail.layers)}))
        while watch.holds(connection) and (question := receive(connection)) is not None:
            if question["ask"] == STOP:  # it crossed the answer on its way
                continue
            jail.interrupt = stops
            try:
                answer = {"answer": answered(reader, trainer, question)}
            except StoppedError:
                answer = {"stopped": True}
            jail.interrupt = None
            connection.sendall(packed({"number": question["number"], **answer}))
    finally:
        reader.close()
        jail.close()


def answered(reader: Reader, trainer: Trainer, question: dict[str, Any]) -> Any:
    """The answer to *question*; where the reader ended over it, what it had told until then."""
    try:
        if question["ask"] != "train":
            return reader.ask(question)
        return plain(trainer.run(restored(Stretch, question["stretch"]), gate=question["gate"]))
    except ReaderDiedError as error:
        return error.said or plain(_unread(question, "refused" if error.spent else "fault"))


def _unread(question: dict[str, Any], outcome: Outcome) -> object:
    """What is answered where not even a bare verdict was told."""
    message = TOO_MUCH if outcome == "refused" else grader_fault().message
    match question["ask"]:
        case "facts":
            return Facts(shapes={}, gradable=(), error=message, outcome="fault")
        case "nudge":
            return Nudge(outcome=outcome, name=question["name"], message=message)
        case "run":
            return Run(outcome=outcome, message=message)
        case "told":
            return Told()
        case "unfit":
            return ["to read it takes too long"] * len(question["texts"])
        case "train":
            return Stretched(outcome=outcome, message=message)
        case _:
            return Verdict(outcome=outcome, message=message)


def _gated(reader: Reader, code: str, forbid: tuple[str, ...], gate: bool) -> tuple[str, Refusal | None]:
    plain_code, refused = reader.ask({"ask": "gate", "code": code, "forbid": forbid, "gate": gate})
    return plain_code, None if refused is None else restored(Refusal, refused)


def answering(facts: str, seeds: Seeds, jail: JailRuns, say: Say) -> Answer:
    """What a reader answers questions with, all that it knows of the one before included."""
    engine = Engine(jail, Path(facts) if facts else None, seeds, lambda verdict: say(plain(verdict)))
    return lambda question: plain(_read(engine, question))


def _read(engine: Engine, question: dict[str, Any]) -> Any:
    match question["ask"]:
        case "check":
            task, gate, seconds = _task(question["kind"], question["task"]), question["gate"], question["seconds"]
            return engine.check(task, question["code"], gate=gate, seconds=seconds)
        case "run":
            task, gate, seconds = _task(question["kind"], question["task"]), question["gate"], question["seconds"]
            return engine.run(task, question["code"], gate=gate, seconds=seconds)
        case "nudge":
            task, gate, seconds = _task(question["kind"], question["task"]), question["gate"], question["seconds"]
            name, entry = question["name"], question["entry"]
            return engine.nudge(task, question["code"], name, entry, gate=gate, seconds=seconds)
        case "told":
            return engine.told(_task(question["kind"], question["task"]), question["code"])
        case "facts":
            return engine.facts(restored(Forward, json.loads(question["forward"])))
        case "unfit":
            return [unfit(text) for text in question["texts"]]
        case "gate":
            return gated(question["code"], tuple(question["forbid"]), question["gate"])
        case other:
            raise ValueError(f"a grader cannot be asked {other!r}")


@lru_cache(maxsize=256)
def _task(kind: str, text: str) -> AnyTask:
    return restored(TASKS[kind], json.loads(text))


def main() -> None:
    """`python -m app.engine.pool.worker FD OPTIONS`, started by `grader_process`."""
    log_in_lines(sys.stderr)
    # Ctrl-C in a terminal, and what ends a service, reach the whole group: a running check is to be finished first. The
    # web process ends us by closing the socket.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # A web process that is gone reads no answer.
    with socket.socket(fileno=int(sys.argv[1])) as connection, contextlib.suppress(ConnectionError):
        serve(connection, json.loads(sys.argv[2]))


if __name__ == "__main__":
    main()
