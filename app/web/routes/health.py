"""Health checks: whether the process lives, and whether it can serve requests now."""

import asyncio
import time
from datetime import UTC, datetime
from functools import partial

import structlog
from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.engine.grader import CanaryReport
from app.installation import version
from app.store import learners
from app.web.middleware.metrics import MetricsSample
from app.web.middleware.security import is_operator
from app.web.site import Site, TheSite

log = structlog.get_logger()
router = APIRouter()

DATABASE_SECONDS = 3.0
HEALTH_CACHE_SECONDS = 1.0
NO_STORE = {"cache-control": "no-store"}


@router.get("/healthz")
async def healthz() -> JSONResponse:
    """The process answers, and says its version."""
    return JSONResponse({"status": "ok", "version": version()}, headers=NO_STORE)


@router.get("/readyz")
async def readyz(request: Request, site: TheSite) -> JSONResponse:
    """Readiness: whether requests should be sent to this server.

    503 while graders warm up, while the server stops, and without a database that can be written. A server that
    refuses to run code, or whose graders are away, is ready: everything else works. Why, and what protects it, is for
    the operator.
    """
    database = await _looked_at(request, site)
    readiness = site.grader.readiness
    state = "stopped" if request.app.state.stopping else readiness.state
    ready = state in ("ready", "refused", "away") and database == "ok"
    answer: dict[str, object] = {"ready": ready, "state": state, "database": database}
    if is_operator(request.headers, site.settings.operator_token):
        answer["reason"], answer["layers"] = readiness.reason, dict(readiness.layers)
        answer["canaries"] = _canaries(readiness.look)
    return JSONResponse(answer, 200 if ready else 503, NO_STORE)


@router.get("/metrics")
async def metrics(request: Request, site: TheSite) -> Response:
    """For the operator's monitoring; for others there is no such page."""
    if not is_operator(request.headers, site.settings.operator_token):
        raise HTTPException(404)
    state = MetricsSample(
        readiness=site.grader.readiness,
        load=site.grader.load,
        trainings=site.runs.under_way,
        sessions=await _sessions(site),
        connections=site.database.connections,
    )
    return Response(site.metrics.text(state), headers=NO_STORE, media_type=CONTENT_TYPE_PLAIN_0_0_4)


def _canaries(look: CanaryReport | None) -> dict[str, object]:
    """Report of the last canary run; *held* is None before the first."""
    if look is None:
        return {"held": None, "at": None, "succeeded": []}
    at = datetime.fromtimestamp(look.at, UTC).isoformat(timespec="seconds")
    return {"held": not look.succeeded, "at": at, "succeeded": list(look.succeeded)}


async def _sessions(site: Site) -> int | None:
    async def count() -> int:
        async with site.database.read() as db:
            return await learners.count_sessions(db)

    try:
        return await asyncio.wait_for(count(), DATABASE_SECONDS)
    except (SQLAlchemyError, OSError, TimeoutError):
        return None


async def _looked_at(request: Request, site: Site) -> str:
    """Result of `_database`, cached for a second: a look costs as much as a save, and needs no sign-in."""
    state = request.app.state
    async with state.looking:
        if time.monotonic() >= state.database[0]:
            problem = await _database(site)
            state.database = (time.monotonic() + HEALTH_CACHE_SECONDS, problem)
        return str(state.database[1])


async def _database(site: Site) -> str:
    """`ok`, or what is wrong: a database on a full disk is read all the same, and takes nothing."""
    for problem, step in (("does not answer", site.database.ping), ("cannot be written", partial(_write, site))):
        try:
            await asyncio.wait_for(step(), DATABASE_SECONDS)
        except (SQLAlchemyError, OSError, TimeoutError) as error:
            reason = str(getattr(error, "orig", "")).partition("\n")[0]
            log.warning("database-unavailable", problem=problem, error=reason or type(error).__name__)
            return f"{problem}: {reason}" if reason else problem
    return "ok"


async def _write(site: Site) -> None:
    async with site.database.write() as db:
        await learners.try_writing(db)
