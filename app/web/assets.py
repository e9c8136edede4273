"""The built files under `static/dist`: their names carry a hash of the content, so browsers may keep them for ever."""

import json
from pathlib import Path

from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "static" / "dist"
URL = "/static"


class Assets:
    """Names of `manifest.json` to addresses."""

    def __init__(self, folder: Path = DIST) -> None:
        self.folder = folder
        try:
            self._names: dict[str, str | list[str]] = json.loads((folder / "manifest.json").read_text("utf-8"))
        except FileNotFoundError:
            self._names = {}

    @property
    def built(self) -> bool:
        return bool(self._names)

    def url(self, name: str) -> str:
        """The address of *name*, such as `app.js`; one that answers 404 where nothing was built."""
        hashed = self._names.get(name, name)
        return f"{URL}/{hashed}"

    def fonts(self) -> tuple[str, ...]:
        """Addresses of the fonts that every page needs at once."""
        names = self._names.get("fonts", [])
        return tuple(f"{URL}/{name}" for name in names)


class KeptFiles(StaticFiles):
    """Static files that a browser asks for once."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_kept(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (200, 206):
                message["headers"] = [*message["headers"], (b"cache-control", b"public, max-age=31536000, immutable")]
            await send(message)

        await super().__call__(scope, receive, send_kept)
