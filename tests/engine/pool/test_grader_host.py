"""A slot of a grader host whose broker went away while it waited for it."""

import asyncio
from typing import Any, cast

from app.engine.pool.grader_host import GraderHost


class SilentBroker:
    """A connection over which nothing is confirmed."""

    client_id = 1

    def new_inbox(self) -> str:
        return "inbox"

    async def flush(self, _seconds: int) -> None:
        await asyncio.Event().wait()


def test_a_slot_waits_no_longer_for_a_broker_that_was_gone_once_it_is_back() -> None:
    async def claim() -> None:
        host = GraderHost(cast(Any, SilentBroker()), {}, {})
        slot = asyncio.ensure_future(host._flush())
        while not host._flushing:
            await asyncio.sleep(0)

        await host.say_again()

        await asyncio.wait_for(slot, 300)

    asyncio.run(claim())
