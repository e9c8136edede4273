"""`backhand grader`: jailed graders for servers on other machines, until it is told to stop."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator

import typer
from nats.aio.client import Client

from app.cli import environment
from app.cli.refuse import refuse
from app.engine.pool import broker
from app.engine.pool.grader_host import GraderHost
from app.engine.pool.local_graders import LocalGraders
from app.settings import Settings

LONELY = "One slot alone checks and never trains: a training run would keep every check waiting."


def grader(url: str, checks: int, trains: int) -> None:
    settings = environment.settings()
    if not (url := url or settings.nats_url):
        refuse("Give the address of the broker: --nats nats://broker:4222, or BACKHAND_NATS_URL.")
    if settings.unsafe_no_sandbox:
        refuse("BACKHAND_UNSAFE_NO_SANDBOX is set: code of other machines is never run without a sandbox. Unset it.")
    if checks + trains > 1 and not checks:
        refuse("At least one slot of every machine checks: --checks 1.")
    if not checks:
        checks, trains = 1, 0
        typer.echo(LONELY, err=True)
    asyncio.run(_serve(settings.model_copy(update={"nats_url": url}), {"checks": checks, "trains": trains}))


async def _serve(settings: Settings, slots: dict[str, int]) -> None:
    leave = asyncio.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(one, leave.set)
    async with contextlib.AsyncExitStack() as stack:
        pools = {
            role: await stack.enter_async_context(_pool(settings, count)) for role, count in slots.items() if count
        }
        async with _hosting(settings, pools, slots) as host:
            await host.run(leave)


def _pool(settings: Settings, graders: int) -> LocalGraders:
    return LocalGraders(settings.model_copy(update={"graders": graders}), watch=True, secret=True)


@contextlib.asynccontextmanager
async def _hosting(
    settings: Settings, pools: dict[str, LocalGraders], slots: dict[str, int]
) -> AsyncIterator[GraderHost]:
    found: list[GraderHost] = []

    async def lost() -> None:
        typer.echo("The broker is away; this comes back when it does.", err=True)

    async def back() -> None:
        for host in found:
            await host.say_again()

    connection: Client = await broker.connected(settings.nats_url, settings.nats_nkey, "_INBOX.grader", lost, back)
    try:
        found.append(GraderHost(connection, pools, slots))
        typer.echo(f"Waiting for questions: {slots['checks']} to check, {slots['trains']} to train.", err=True)
        yield found[0]
    finally:
        await connection.close()
