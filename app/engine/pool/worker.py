"""A grader: a process that owns one jail and answers one question at a time over a socket.

It is exec'd with an empty environment and one end of a socket pair, and talks to no other process. What a learner wrote
is passed on to its reader, which may die over it. Each question has exactly one answer, with its number; news of the
canary attacks may come between them.
"""

import contextlib
import json
import signal
import socket
import sys
from functools import partial
from pathlib import Path
from typing import Any

from app.engine.codec import from_json_value, to_json_value
from app.engine.grade.engine import Engine
from app.engine.grade.jail_runs import JailRunner
from app.engine.grade.outcomes import grader_fault
from app.engine.grade.seeds import PUBLIC, Seeds, seeds_in
from app.engine.pool.canary_watch import CanaryWatch
from app.engine.pool.cancel import STOP, CancelListener
from app.engine.pool.grader_frames import encode_frame, receive_frame
from app.engine.pool.grader_logs import log_in_lines
from app.engine.pool.questions import QUESTIONS, TOO_MUCH
from app.engine.pool.reader import Answer, ReaderDiedError, ReaderProcess, Say
from app.engine.train.trainer import Trainer, apply_gate
from app.engine.training_chunk import TrainingChunk
from app.sandbox.gate import Refusal
from app.sandbox.process import RunCancelledError
from app.sandbox.protection import keep_to_the_jail
from app.sandbox.runner import Jail


def serve(connection: socket.socket, options: dict[str, Any]) -> None:
    """Answer until the other end closes, or a canary attack succeeds: the next grader then says so at its start."""
    cgroup = Path(options["cgroup"]) if options["cgroup"] else None
    jail = Jail(require_landlock=options["require_landlock"], unsafe=options["unsafe"], cgroup=cgroup)
    keep_to_the_jail()
    watch = CanaryWatch(
        jail, on=options["watch"], tell=lambda look: connection.sendall(encode_frame({"look": to_json_value(look)}))
    )
    stops = CancelListener(connection)
    seeds = seeds_in(Path(options["secrets"])) if options["secrets"] else PUBLIC
    reader = ReaderProcess(jail, partial(answering, options["facts"], seeds))
    trainer = Trainer(jail, Path(options["names"]) if options["names"] else None, partial(_apply_gate, reader))
    try:
        watch.look()
        connection.sendall(encode_frame({"refusal": jail.refusal, "layers": to_json_value(jail.layers)}))
        while watch.holds(connection) and (question := receive_frame(connection)) is not None:
            if question["ask"] == STOP:  # it crossed the answer on its way
                continue
            jail.interrupt = stops
            try:
                answer = {"answer": handle_request(reader, trainer, question)}
            except RunCancelledError:
                answer = {"stopped": True}
            jail.interrupt = None
            connection.sendall(encode_frame({"number": question["number"], **answer}))
    finally:
        reader.close()
        jail.close()


def handle_request(reader: ReaderProcess, trainer: Trainer, question: dict[str, Any]) -> Any:
    """The answer to *question*; where the reader ended over it, what it had told until then."""
    try:
        if question["ask"] != "train":
            return reader.ask(question)
        return to_json_value(trainer.run(from_json_value(TrainingChunk, question["stretch"]), gate=question["gate"]))
    except ReaderDiedError as error:
        if error.said:
            return error.said
        instead = partial(QUESTIONS[question["ask"]].instead, question)
        return to_json_value(instead("refused", TOO_MUCH) if error.spent else instead("fault", grader_fault().message))


def _apply_gate(reader: ReaderProcess, code: str, forbid: tuple[str, ...], gate: bool) -> tuple[str, Refusal | None]:
    plain_code, refused = reader.ask({"ask": "gate", "code": code, "forbid": forbid, "gate": gate})
    return plain_code, None if refused is None else from_json_value(Refusal, refused)


def answering(facts: str, seeds: Seeds, jail: JailRunner, say: Say) -> Answer:
    """Function with which a reader answers requests; it keeps what it learned from the one before."""
    engine = Engine(jail, Path(facts) if facts else None, seeds, lambda verdict: say(to_json_value(verdict)))
    return lambda question: to_json_value(_answer_question(engine, question))


def _answer_question(engine: Engine, question: dict[str, Any]) -> Any:
    if question["ask"] == "gate":
        return apply_gate(question["code"], tuple(question["forbid"]), question["gate"])
    row = QUESTIONS.get(question["ask"])
    if row is None or row.answer is None:
        raise ValueError(f"a grader cannot be asked {question['ask']!r}")
    return row.answer(engine, question)


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
