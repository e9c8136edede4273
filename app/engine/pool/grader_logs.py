"""Log of a grader for its operator: one line of JSON per entry, on the standard error of the service.

Tracebacks and reports hold what submissions say; a line end in them must not begin a line of the log.
"""

import json
import logging
from datetime import UTC, datetime
from typing import TextIO

_LONGEST = 10_000


class OneLine(logging.Formatter):
    """A record as JSON, with nothing in it that moves a cursor."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "event": record.getMessage()[:_LONGEST],
            "level": record.levelname.lower(),
            "logger": record.name,
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)[-_LONGEST:]
        return json.dumps(entry).replace("\x7f", "\\u007f")


def log_in_lines(stream: TextIO) -> None:
    """From here on, what this process logs goes to *stream*, warnings and worse."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(OneLine())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
