"""A running course takes up what its author changes: when it is asked to, or as soon as a file is another one."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import structlog
from fastapi import FastAPI

from app.content.blocks import Course
from app.course.last_good import reload_course
from app.web.application import take_course

log = structlog.get_logger()
SCAN_SECONDS = 0.5
WAIT_SECONDS = 0.05
PROCESS = "serve.pid"
RELOADED = "serve.reloaded"
"""Holds the moment of the last reload, for the command that waits for it."""


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
            self._course, errors = await asyncio.to_thread(reload_course, self._course, self._folder)
            await take_course(self._app, self._course, errors)
        for error in errors:
            log.warning("lesson-fault", place=str(error.place), code=error.code, message=error.message, fix=error.fix)
        self._then()
        await asyncio.to_thread(note_reload, self._app.state.settings.data_dir)
        log.info("reloaded", lessons=len(self._course.lessons), faults=len(errors))

    async def look(self) -> None:
        """Reload if a file is another one than before."""
        if await asyncio.to_thread(stamp_of, self._folder) != self._seen:
            await self.reload()

    async def watch(self) -> None:
        """Look again and again, until it is cancelled."""
        while True:
            await asyncio.sleep(SCAN_SECONDS)
            await self.look()


def stamp_of(folder: Path) -> list[tuple[str, int, int]]:
    """The files of a course with their sizes and when they were written; what vanishes meanwhile is left out."""
    stamps = []
    for path in sorted(folder.rglob("*")):
        with suppress(OSError):
            stat = path.stat()
            stamps.append((path.as_posix(), stat.st_mtime_ns, stat.st_size))
    return stamps


def _lock(file: IO[str]) -> None:
    """Hold *file* as long as this process lives.

    Raises:
        OSError: Another process holds it.
    """
    with suppress(ModuleNotFoundError):  # Windows: there no command can ask a server by a signal either
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(file, LOCK_EX | LOCK_NB)


@contextmanager
def process_file(data_dir: Path) -> Iterator[None]:
    """While it lasts, `backhand reload` finds this process; of several servers of a folder, the first."""
    with (data_dir / PROCESS).open("a+") as file:
        with suppress(OSError):
            _lock(file)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        yield


def process_of(data_dir: Path) -> int | None:
    """The number of the process that serves *data_dir*; None where there is none."""
    try:
        with (data_dir / PROCESS).open("r+") as file:
            try:
                _lock(file)
            except OSError:  # a live process holds it
                return int(file.read())
    except (FileNotFoundError, ValueError):
        pass
    return None


def note_reload(data_dir: Path) -> None:
    (data_dir / RELOADED).write_text(str(time.time_ns()))


def last_reload(data_dir: Path) -> str:
    """Note on the last reload; "" if there was none."""
    try:
        return (data_dir / RELOADED).read_text()
    except FileNotFoundError:
        return ""


def await_reload(data_dir: Path, before: str, seconds: float) -> bool:
    """Wait for a reload; True if it happened within *seconds* after the one noted *before*."""
    end = time.monotonic() + seconds
    while last_reload(data_dir) in (before, ""):
        if time.monotonic() >= end:
            return False
        time.sleep(WAIT_SECONDS)
    return True


def ask_to_reload(data_dir: Path) -> int:
    """Ask the server of *data_dir* to read its course again; the number of its process.

    Raises:
        ProcessLookupError: None is running.
    """
    number = process_of(data_dir)
    if number is None:
        raise ProcessLookupError(f"No server is running with {data_dir}")
    os.kill(number, signal.SIGHUP)
    return number
