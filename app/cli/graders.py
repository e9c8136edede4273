"""Graders for a command that ends: it waits until they are up, or know why they will not be."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.engine.pool.local_graders import LocalGraders

LOOK_SECONDS = 0.02


@asynccontextmanager
async def settled(graders: LocalGraders) -> AsyncIterator[LocalGraders]:
    """*graders*, started, ready or refused."""
    async with graders:
        while graders.readiness.state == "warming":
            await asyncio.sleep(LOOK_SECONDS)
        yield graders
