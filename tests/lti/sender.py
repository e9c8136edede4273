"""`python -m tests.lti.sender FOLDER EXERCISES...`: what a server does with the outbox, and nothing else.

What takes minutes in life takes moments here. It ends when it is killed.
"""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from app.lti import platform_client
from app.lti.scores import ScoreSender
from app.lti.service import LtiService
from app.settings import Settings
from app.store import lti_scores
from app.store.cleanup import run_periodically
from app.store.database import Database


async def send(folder: Path, exercises: list[str]) -> None:
    settings = Settings(data_dir=folder, database_url="", address="http://testserver")
    database = Database(settings.resolved_database_url)
    sender = ScoreSender(database, LtiService(settings, database).services, lambda: lambda _: exercises)
    await run_periodically("lti-scores", sender.send_due, 0.1, asyncio.Event())


if __name__ == "__main__":
    platform_client.SECONDS = 1.0
    lti_scores.FIRST_RETRY = lti_scores.LONGEST_RETRY = timedelta(seconds=0.2)
    lti_scores.LEASE = timedelta(seconds=2)
    asyncio.run(send(Path(sys.argv[1]), sys.argv[2:]))
