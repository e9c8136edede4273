"""State of learning platforms between requests: connections, cached keys, origins of their pages."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from app.lti.keys import PlatformKeys
from app.lti.platform_client import PlatformClient, origins_of
from app.lti.tokens import PlatformServices
from app.settings import Settings
from app.store.database import Database
from app.store.lti_platforms import list_platforms

ORIGIN_SECONDS = 30.0
"""After a command has registered a platform, until its pages may have ours in a frame."""


class LtiService:
    """Learning platforms of this server. *address* and *base_url* are its own; *secret_path* is where its secret is."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.database = database
        self.address = settings.address
        self.base_url = settings.base_url
        self.secret_path: Path = settings.lti_secret_path
        self.client = PlatformClient()
        self.keys = PlatformKeys(self.client)
        self.services = PlatformServices(self.client, database, self.secret_path)
        self.trials: dict[int, tuple[float, Sequence[Any]]] = {}
        """What the last try of each platform has shown, and when."""
        self._origins: tuple[float, frozenset[str]] = (-ORIGIN_SECONDS, frozenset())

    async def ancestors(self) -> frozenset[str]:
        """Origins of pages that may have one of ours in a frame; those of before while the database does not answer."""
        read_at, origins = self._origins
        if time.monotonic() - read_at > ORIGIN_SECONDS:
            try:
                async with self.database.read() as db:
                    platforms = await list_platforms(db)
                origins = frozenset(origin for platform in platforms for origin in origins_of(platform))
            except (SQLAlchemyError, OSError):
                pass
            self._origins = (time.monotonic(), origins)
        return origins

    def forget_origins(self) -> None:
        """Read them anew at the next request: a platform was registered."""
        self._origins = (-ORIGIN_SECONDS, self._origins[1])

    async def close(self) -> None:
        await self.client.close()
