"""`backhand grader`: jailed graders for servers on other machines, until it is told to stop."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator

import structlog
import typer

from app.cli import environment
from app.cli.graders import require_secret
from app.cli.refuse import refuse
from app.engine.pool.local_graders import LocalGraders
from app.sandbox import kernel
from app.settings import Settings
from app.web.middleware.reports import configure_logs

try:
    from app.engine.pool import broker
    from app.engine.pool.grader_host import GraderHost
except ModuleNotFoundError as error:  # nats-py is an extra
    refuse(f"{error}. Install Backhand with it: pip install '.[nats]'.")

log = structlog.get_logger()

GIVE_UP_SECONDS = 0.2
LONELY = "One slot alone checks and never trains: a training run would keep every check waiting."


def grader(url: str, checks: int, trains: int) -> None:
    settings = environment.load_settings()
    if not kernel.LINUX:
        refuse(kernel.NEEDS_LINUX)
    if not (url := url or settings.nats_url):
        refuse("Give the address of the broker: --nats nats://broker:4222, or BACKHAND_NATS_URL.")
    if settings.unsafe_no_sandbox:
        refuse("BACKHAND_UNSAFE_NO_SANDBOX is set: code of other machines is never run without a sandbox. Unset it.")
    if checks + trains > 1 and not checks:
        refuse("At least one slot of every machine checks: --checks 1.")
    if not checks:
        checks, trains = 1, 0
        typer.echo(LONELY, err=True)
    require_secret(settings.data_dir)
    configure_logs(plain=sys.stderr.isatty())
    asyncio.run(_serve(settings.model_copy(update={"nats_url": url}), {"checks": checks, "trains": trains}))


async def _serve(settings: Settings, slots: dict[str, int]) -> None:
    leave = asyncio.Event()
    for signals in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signals, leave.set)
    async with contextlib.AsyncExitStack() as stack:
        pools = {
            role: await stack.enter_async_context(_pool(settings, count)) for role, count in slots.items() if count
        }
        async with _hosting(settings, pools, slots, leave) as host:
            if host is not None:
                await host.run(leave)
    log.info("stopped")


def _pool(settings: Settings, graders: int) -> LocalGraders:
    return LocalGraders(settings.model_copy(update={"graders": graders}), watch=True, secret=True)


@contextlib.asynccontextmanager
async def _hosting(
    settings: Settings, pools: dict[str, LocalGraders], slots: dict[str, int], leave: asyncio.Event
) -> AsyncIterator[GraderHost | None]:
    """The graders at the broker; None where it is time to *leave* before it was reached."""
    grader_hosts: list[GraderHost] = []

    async def lost() -> None:
        log.warning("broker-away", effect="Nothing is graded here until it is back.")

    async def back() -> None:
        log.info("broker-back")
        for host in grader_hosts:
            await host.say_again()

    connecting = asyncio.ensure_future(
        broker.connect_to_broker(settings.nats_url, settings.nats_nkey, "_INBOX.grader", lost, back)
    )
    leaving = asyncio.ensure_future(leave.wait())
    await asyncio.wait({connecting, leaving}, return_when=asyncio.FIRST_COMPLETED)
    leaving.cancel()
    if not connecting.done():
        while not connecting.done():  # the client of the broker loses a cancellation now and then
            connecting.cancel()
            await asyncio.wait([connecting], timeout=GIVE_UP_SECONDS)
        yield None
        return
    connection = await connecting
    try:
        grader_hosts.append(GraderHost(connection, pools, slots))
        log.info("waiting-for-questions", **slots)
        yield grader_hosts[0]
    finally:
        await connection.close()
