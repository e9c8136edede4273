"""Makes the picture of the README: a code box with its shapes and its verdict. Run by `make screenshots`."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import SWITCHES, chrome

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "static/readme/lesson.png"
ADDRESS = "/lessons/a-layer-trained"
BOX = "linear-backward"
CODE = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.mean(0)\n"
START_SECONDS = 60


def main() -> None:
    """Serve the course, take a box to its verdict, and keep what a reader sees."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = [sys.executable, "-m", "app", "serve", "--host", "127.0.0.1", "--port", str(port)]
        settings = {**os.environ, "BACKHAND_DATA_DIR": folder, "BACKHAND_GRADERS": "1"}
        server = subprocess.Popen(command, cwd=ROOT, env=settings, stdout=subprocess.DEVNULL)
        try:
            take(f"http://127.0.0.1:{port}")
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(20)


def take(address: str) -> None:
    _wait_for(f"{address}/readyz")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chrome(), args=list(SWITCHES))
        page = browser.new_page(viewport={"width": 900, "height": 940}, color_scheme="light")
        page.goto(address + ADDRESS)
        section = page.locator(f"#{BOX}")
        section.scroll_into_view_if_needed()
        section.locator(".cm-content").click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text(CODE)
        expect(section.locator(".cm-told")).to_have_count(3)
        page.locator(f"#{BOX}-check").click()
        expect(page.locator(f"#{BOX}-verdict")).to_have_attribute("data-outcome", "graded", timeout=30_000)
        page.evaluate("document.activeElement.blur(); document.fonts.ready")
        page.evaluate(f"document.getElementById('{BOX}').previousElementSibling.scrollIntoView()")
        page.mouse.move(0, 0)
        page.wait_for_timeout(300)
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURE)
        browser.close()


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


if __name__ == "__main__":
    main()
