"""An author's preview: the page of one lesson in a frame, with what `backhand check` says of its file where it belongs.

For one author on their own machine. The page asks twice a second what is new; its script then changes what differs.
"""

import asyncio
import json
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from app.content.blocks import Lesson
from app.content.text.addresses import lesson_slug
from app.sandbox import kernel
from app.web.site import Site
from app.web.views.answer_key import answer_key
from app.web.views.fault_places import place_on_page


@dataclass(frozen=True, slots=True)
class PreviewFinding:
    """One finding of a check: where, how bad it is, and what is wrong and what to do. It has no *line* of a file where
    the check itself failed.
    """

    file: str
    line: int
    level: str
    message: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class Preview:
    """Preview of the lesson in *file* for its author.

    Args:
        command: Checks it, and prints a JSON object for each finding.
    """

    def __init__(self, app: FastAPI, file: Path, command: Sequence[str]) -> None:
        self._app, self._file, self._command = app, file.resolve(), command
        self._slug = lesson_slug(file.name)
        self._text = ""  # in which the lines of what is said are counted
        self._task: asyncio.Task[None] | None = None
        self.page = self.version = 0
        self.proving = False
        self.said: tuple[PreviewFinding, ...] = ()
        app.add_api_route("/preview", self.shown, methods=["GET"])
        app.add_api_route("/preview/told", self.told, methods=["GET"])
        app.add_api_route("/preview/key", self.key, methods=["GET"])

    def changed(self) -> None:
        """The course was read again: the page may be another, and the file is checked anew."""
        self.page += 1
        self._tell(proving=True)
        if self._task:
            self._task.cancel()
        self._task = asyncio.create_task(self._check())

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def shown(self, request: Request) -> Response:
        """The frame with its switches."""
        return self._site.pages.page(request, "preview.html", preview=self, address=f"/lessons/{self._slug}")

    async def told(self, seen: int = -1) -> Response:
        """Return the findings of the check, if they differ from those that were *seen*."""
        if seen == self.version:
            return Response(status_code=204)
        return self._site.pages.fragment("_told.html", preview=self)

    def place_on_page(self, finding: PreviewFinding) -> str:
        """A CSS selector of the subject of *finding*; empty where that is not on this page."""
        lesson = self._lesson
        in_file = lesson is not None and finding.line and Path(finding.file).resolve() == self._file
        return place_on_page(lesson, self._text, finding.line) if lesson and in_file else ""

    @property
    def unread(self) -> bool:
        """True if the page, if there is one, is of an earlier text, since the present one cannot be read."""
        faulty = {Path(error.place.path).resolve() for error in self._site.faults}
        return self._lesson is None or self._file in faulty

    async def key(self) -> Response:
        """The answers of every exercise."""
        lesson = self._lesson
        return self._site.pages.fragment("_answer_key.html", keys=answer_key(lesson) if lesson else ())

    @property
    def _site(self) -> Site:
        site: Site = self._app.state.site
        return site

    @property
    def _lesson(self) -> Lesson | None:
        return self._site.whole.at.get(self._slug)

    def _tell(self, *, proving: bool) -> None:
        self.proving = proving
        self.version += 1

    async def _check(self) -> None:
        text = self._file.read_text("utf-8", "replace") if self._file.is_file() else ""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*self._command, stdout=pipe, stderr=pipe)
        try:
            out, err = await process.communicate()
        finally:
            if process.returncode is None:
                if kernel.LINUX:
                    process.send_signal(signal.SIGINT)  # so that it takes its graders along
                else:
                    process.kill()
                await process.wait()
        self._text, self.said = text, said_in(out.decode(), err.decode(), failed=process.returncode not in (0, 1))
        self._tell(proving=False)


def said_in(out: str, err: str, *, failed: bool = False) -> tuple[PreviewFinding, ...]:
    """The findings that a check printed; where it *failed* itself, its last words."""
    if failed:
        return (PreviewFinding("check", 0, "error", err.strip().rpartition("\n")[2]),)
    rows = [json.loads(line) for line in out.splitlines()]
    return tuple(PreviewFinding(item["file"], item["line"], item["level"], item["message"]) for item in rows)
