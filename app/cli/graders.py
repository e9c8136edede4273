"""Graders for a command that ends: it waits until they are up, or know why they will not be."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.cli.refuse import refuse, refuse_unreadable
from app.engine.grade.seeds import FILE, SecretError, seeds_in
from app.engine.pool.local_graders import LocalGraders

POLL_SECONDS = 0.02


@asynccontextmanager
async def started_graders(graders: LocalGraders) -> AsyncIterator[LocalGraders]:
    """*graders*, started, ready or refused."""
    async with graders:
        while graders.readiness.state == "warming":
            await asyncio.sleep(POLL_SECONDS)
        yield graders


def require_secret(folder: Path) -> None:
    """End the command where the secret in *folder* cannot be used; it is made where there is none."""
    try:
        seeds_in(folder)
    except OSError as error:
        refuse_unreadable(folder / FILE, error)
    except SecretError as error:
        refuse(str(error))
