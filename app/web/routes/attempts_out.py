"""Attempts of a class as JSON lines, for research and for other tools: under pseudonyms, where the class allows it."""

import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from app.engine.grade.seeds import Seeds, seeds_in
from app.store.attempts_out import attempt_pages, let_attempts_out
from app.store.classes import record_event
from app.store.database import Database
from app.store.tables import Attempt, Class
from app.web.class_access import PREFIX, Arranging
from app.web.render import file_headers
from app.web.routes.form_fields import Typed

router = APIRouter(prefix=PREFIX)

CLOSED = "Attempts of this class may not be taken out. Its instructors can allow it on the page before."
VERBS = {"quiz": "answered", "code": "checked"}


@router.get("/attempts")
async def show(page: Arranging) -> Response:
    return page.render("class_attempts.html")


@router.post("/attempts")
async def switch(page: Arranging, allowed: Typed = "") -> Response:
    """Allow that attempts are taken out, or end it; their learners are told on the page of the class."""
    async with page.write() as db:
        group = await db.get_one(Class, page.class_id)
        await let_attempts_out(db, group, page.learner, allowed=allowed == "yes")
    return page.back("attempts")


@router.get("/attempts.jsonl")
async def as_lines(page: Arranging) -> Response:
    """One line for each attempt that is stored."""
    if not page.group.attempts_out:
        raise HTTPException(409, CLOSED)
    seeds = seeds_in(page.site.settings.data_dir)
    async with page.write() as db:
        await record_event(db, page.class_id, page.learner, "attempts-taken-out", page.class_id)
    headers = file_headers(f"attempts-{page.class_id}.jsonl")
    lines = _lines(page.site.database, page.class_id, seeds)
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)


async def _lines(database: Database, class_id: int, seeds: Seeds) -> AsyncIterator[str]:
    async for attempts in attempt_pages(database, class_id):
        yield "".join(
            json.dumps(attempt_facts(attempt, seeds.pseudonym(f"class {class_id} learner {attempt.learner_id}"))) + "\n"
            for attempt in attempts
        )


def attempt_facts(attempt: Attempt, actor: str) -> dict[str, Any]:
    """One attempt as a statement: who did what to what, with which result, and when (UTC)."""
    return {
        "actor": actor,
        "verb": VERBS.get(attempt.kind, attempt.kind),
        "object": f"{attempt.lesson}#{attempt.exercise}",
        "result": {"success": attempt.correct, "code": attempt.code, "response": attempt.text},
        "timestamp": attempt.created_at.isoformat(timespec="milliseconds"),
    }
