"""`backhand practice`: generated exercises, for lessons and for measuring how good they are."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import typer

from app.check.bounded_grader import RetryingGrader
from app.cli import environment
from app.cli.graders import started_graders
from app.cli.refuse import refuse
from app.engine.grader import ProvingGrader
from app.engine.pool.local_graders import LocalGraders
from app.practice.difficulty import ENOUGH, estimate_difficulties, repriced_points
from app.practice.draw import VERSION, NothingFitsError
from app.practice.draw import generate_item as drawn
from app.practice.proof import SEEDS, NotProvedError, Proof, drawn_and_proved
from app.practice.proof import prove_item as proved
from app.store import practice_items
from app.store.database import Database

T = TypeVar("T")
REPORT_COLUMNS = ("level", "draws", "solved", "kept", "mutants", "survive", "one red line", "unrecognised", "rows")


def draw(level: int, wanted: str, within: list[str], seed: int | None) -> None:
    """Print an exercise that was proved, as a piece of a lesson."""
    start = random.randrange(1_000_000) if seed is None else seed
    item, _ = _run_query(lambda grader: drawn_and_proved(level, wanted, grader, start, within))
    if item is None:
        refuse(f"None of {SEEDS} exercises from seed {start} was proved. Try another seed or level.")
    typer.echo(item.fragment.rstrip())


def prove(level: int, wanted: str, count: int, seed: int) -> None:
    """Print why exercises are not kept, and the table of acceptance."""
    proofs = _run_query(lambda grader: _proofs(level, wanted, range(seed, seed + count), grader))
    mutants = sum(proof.mutants for proof in proofs)
    rows = {row.partition(":")[0] for proof in proofs for row in proof.rows}
    totals = (
        level,
        count,
        sum(proof.solved for proof in proofs),
        sum(proof.kept for proof in proofs),
        mutants,
        sum(proof.survived for proof in proofs),
        _part(sum(proof.one_red for proof in proofs), mutants - sum(proof.survived for proof in proofs)),
        _part(sum(proof.unrecognised for proof in proofs), mutants),
        len(rows),
    )
    for line in (REPORT_COLUMNS, ["---"] * len(REPORT_COLUMNS), totals):
        typer.echo(f"| {' | '.join(map(str, line))} |")


async def _proofs(level: int, wanted: str, seeds: range, grader: ProvingGrader) -> list[Proof]:
    proofs = []
    for seed in seeds:
        proof = await proved(drawn(level, seed, wanted), grader)
        proofs.append(proof)
        if not proof.kept:
            typer.echo(f"Seed {seed} is not kept: {proof.reason}")
    return proofs


def points(*, write: bool) -> None:
    """Print what is estimated, and write it only when asked to."""
    asyncio.run(_points(environment.load_settings().resolved_database_url, write=write))


async def _points(url: str, *, write: bool) -> None:
    async with Database(url) as database, database.write() as db:
        estimates = estimate_difficulties(await practice_items.list_outcomes(db))
        changed = 0
        for row in await practice_items.list_items(db, VERSION) if write and estimates else ():
            row.points = repriced_points(drawn(row.level, row.seed, row.wanted, json.loads(row.within_json)), estimates)
            changed += 1
    for item in estimates:
        typer.echo(f"{item.name}: {item.solved} of {item.tries} solved, {item.before} points, now {item.points}")
    if not estimates:
        typer.echo(f"No operation was tried {ENOUGH} times yet.")
    elif write:
        typer.echo(f"{changed} exercises have new points.")


def _part(some: int, of: int) -> str:
    return f"{100 * some / of:.1f} %" if of else "-"


def _run_query(question: Callable[[ProvingGrader], Coroutine[Any, Any, T]]) -> T:
    try:
        return asyncio.run(_of_graders(question))
    except (NothingFitsError, NotProvedError) as error:
        refuse(str(error))


async def _of_graders(question: Callable[[ProvingGrader], Coroutine[Any, Any, T]]) -> T:
    async with _graders() as grader:
        return await question(grader)


@asynccontextmanager
async def _graders() -> AsyncIterator[ProvingGrader]:
    async with started_graders(LocalGraders(environment.load_settings(), keep_facts=False)) as graders:
        if graders.readiness.state != "ready":
            refuse(f"Nothing was proved. {graders.readiness.reason}")
        yield RetryingGrader(graders)
