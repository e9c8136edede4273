"""Run the web server with its graders until it is told to stop."""

import asyncio
import signal
import sys
from types import FrameType

import structlog
import uvicorn
from fastapi import FastAPI

from app.content.blocks import Course
from app.content.course import load_course
from app.engine.local import LocalGraders
from app.sandbox.kernel import hide_memory
from app.settings import Settings
from app.web.application import create_app
from app.web.logs import configure_logs

log = structlog.get_logger()

# Long enough for a check that just began; then connections are closed.
STOP_SECONDS = 10


class Server(uvicorn.Server):
    """Says that it is stopping before it does, so that nothing new is sent here."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._app.state.stopping = True
        self._app.state.site.runs.end_streams()  # an open stream would keep the server from stopping
        log.info("stopping", signal=signal.Signals(sig).name)
        super().handle_exit(sig, frame)


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve the course of *settings* on *host* and *port*.

    Raises:
        LessonErrors: The course has faults; nothing was started.
    """
    configure_logs(plain=sys.stderr.isatty())
    hide_memory()
    course = load_course(settings.lessons)
    asyncio.run(_serve(settings, course, host, port))


async def _serve(settings: Settings, course: Course, host: str, port: int) -> None:
    async with LocalGraders(settings, watch=True) as graders:
        app = create_app(settings, course, graders)
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        log.info("serving", url=f"http://{host}:{port}", lessons=len(course.lessons))
        await Server(config, app).serve()
