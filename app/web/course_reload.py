"""A running course takes up what its author changes: when it is asked to, or as soon as a file is another one."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

import structlog
from fastapi import FastAPI

from app.content.blocks import Course
from app.content.last_good import renewed
from app.web.application import take_course

log = structlog.get_logger()
LOOK_SECONDS = 0.5
PROCESS = "serve.pid"


class CourseReload:
    """Reads *folder* again for *app*, which serves *course*, and calls *then* each time."""

    def __init__(self, app: FastAPI, folder: Path, course: Course, then: Callable[[], None] = lambda: None) -> None:
        self._app, self._folder, self._course, self._then = app, folder, course, then
        self._turn = asyncio.Lock()
        self._seen = stamp_of(folder)

    async def reload(self) -> None:
        """Take up the folder as it is now; what is faulty stays as it was, and is told."""
        async with self._turn:
            self._seen = stamp_of(self._folder)
            self._course, errors = await asyncio.to_thread(renewed, self._course, self._folder)
            await take_course(self._app, self._course, errors)
        for one in errors:
            log.warning("lesson-fault", place=str(one.place), code=one.code, message=one.message, fix=one.fix)
        self._then()
        log.info("reloaded", lessons=len(self._course.lessons), faults=len(errors))

    async def look(self) -> None:
        """Reload if a file is another one than before."""
        if await asyncio.to_thread(stamp_of, self._folder) != self._seen:
            await self.reload()

    async def watch(self) -> None:
        """Look again and again, until it is cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.look()


def stamp_of(folder: Path) -> list[tuple[str, int, int]]:
    """The files of a course with their sizes and when they were written; what vanishes meanwhile is left out."""
    found = []
    for path in sorted(folder.rglob("*")):
        with suppress(OSError):
            stat = path.stat()
            found.append((path.as_posix(), stat.st_mtime_ns, stat.st_size))
    return found


@contextmanager
def process_file(data_dir: Path) -> Iterator[None]:
    """While it lasts, `backhand reload` finds this process; of several servers of a folder, the first."""
    with (data_dir / PROCESS).open("a+") as file:
        with suppress(OSError):
            flock(file, LOCK_EX | LOCK_NB)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        yield


def ask_to_reload(data_dir: Path) -> int:
    """Ask the server of *data_dir* to read its course again; the number of its process.

    Raises:
        ProcessLookupError: None is running.
    """
    try:
        with (data_dir / PROCESS).open("r+") as file:
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except OSError:  # somebody lives who holds it
                number = int(file.read())
                os.kill(number, signal.SIGHUP)
                return number
    except (FileNotFoundError, ValueError):
        pass
    raise ProcessLookupError(f"No server is running with {data_dir}")
