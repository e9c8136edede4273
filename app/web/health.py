"""Whether the process lives, and whether it is of use now: for whatever watches it."""

import asyncio

import structlog
from fastapi import APIRouter
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse

from app.web.site import Site, TheSite

log = structlog.get_logger()
router = APIRouter()

DATABASE_SECONDS = 3.0
NO_STORE = {"cache-control": "no-store"}


@router.get("/healthz")
async def healthz() -> JSONResponse:
    """The process answers."""
    return JSONResponse({"status": "ok"}, headers=NO_STORE)


@router.get("/readyz")
async def readyz(request: Request, site: TheSite) -> JSONResponse:
    """Whether requests should be sent here.

    503 while graders warm up, while the server stops, and without a database. A server that refuses to run code is
    ready: everything else works, and `state` says why.
    """
    database = await _database(site)
    readiness = site.grader.readiness
    state = "stopped" if request.app.state.stopping else readiness.state
    ready = state in ("ready", "refused") and database == "ok"
    answer = {
        "ready": ready,
        "state": state,
        "reason": readiness.reason,
        "layers": dict(readiness.layers),
        "database": database,
    }
    return JSONResponse(answer, 200 if ready else 503, NO_STORE)


async def _database(site: Site) -> str:
    try:
        await asyncio.wait_for(site.database.ping(), DATABASE_SECONDS)
    except (SQLAlchemyError, OSError, TimeoutError) as error:
        log.warning("database-does-not-answer", error=type(error).__name__)
        return "does not answer"
    return "ok"
