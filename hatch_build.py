"""What is no code goes into a wheel, inside of the package, where `app.installation` finds it.

An editable installation reads it in the checkout, where scripts and styles may not be built yet.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHARED = ("lessons", "templates", "static/dist", "static/css/tokens.css")


class ShareHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        if not (root / "static" / "dist" / "manifest.json").is_file():
            raise FileNotFoundError("static/dist is not built. Build the scripts and styles first: make wheel")
        build_data["force_include"] |= {str(root / path): f"app/_share/{path}" for path in SHARED}
