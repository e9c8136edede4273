"""How soon the shapes of a line are painted after a keystroke, beyond the pause that the page waits for.

One typist in a real browser, measured there from the key to the frame after the answer; the others type by HTTP, each
a solution of the course at the speed of hands, and ask as the page does: after a gap that is longer than the pause.
"""

import random
import re
import statistics
import threading
import time
from itertools import cycle

from playwright.sync_api import sync_playwright

from app.content.blocks import Grad
from app.course.course import load_course
from benchmarks.serving import ROOT, Learner, server
from tests.browser.conftest import SWITCHES, chrome

TYPISTS, KEYS, GRADERS = 30, 120, 2
GAP_SECONDS = 0.24
"""Between two keys, in the median: fifty words a minute."""
PAUSE = int(re.findall(r"^const PAUSE = (\d+);", (ROOT / "static/js/told.js").read_text(), re.MULTILINE)[0])
SLUG, BOX = "a-layer-trained", "linear-backward"
WATCH = """() => {
  const editor = document.querySelector("#BOX .cm-editor");
  window.waits = [];
  let pressed = 0;
  editor.addEventListener("keydown", () => (pressed = performance.now()), { capture: true });
  new MutationObserver(() => {
    if ("asking" in editor.dataset) return;
    const key = pressed;
    requestAnimationFrame(() => setTimeout(() => window.waits.push(performance.now() - key)));
  }).observe(editor, { attributes: true, attributeFilter: ["data-asking"] });
}""".replace("BOX", BOX)


def main() -> None:
    """Print the percentiles, with the typist alone and among the others."""
    course = load_course(ROOT / "lessons")
    boxes = [(one.slug, box) for one in course.lessons for box in one.exercises if isinstance(box, Grad)]
    with server(GRADERS) as port:
        _report("alone", _typed(port))
        ended, asked = threading.Event(), list[float]()
        others = [
            threading.Thread(target=_type, args=(port, *boxes[at * len(boxes) // TYPISTS], at, ended, asked))
            for at in range(1, TYPISTS)
        ]
        for one in others:
            one.start()
        time.sleep(3.0)  # until all of them have their session and graders know their boxes
        asked.clear()
        began = time.perf_counter()
        waits = _typed(port)
        a_second = len(asked) / (time.perf_counter() - began)
        ended.set()
        for one in others:
            one.join()
        _report(f"with {TYPISTS - 1} others, {a_second:.0f} questions a second", waits)
        _report("  the others, by HTTP", [one * 1e3 for one in asked])


def _typed(port: int) -> list[float]:
    """Milliseconds from each key to its paint, without the pause."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chrome(), args=list(SWITCHES))
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/lessons/{SLUG}")
        page.locator(f"#{BOX}").scroll_into_view_if_needed()
        page.locator(f"#{BOX} .cm-content").click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text("dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n")
        page.locator(f"#{BOX} .cm-told").nth(2).wait_for(state="attached")
        page.evaluate(WATCH)
        for key in [key for key, _ in zip(cycle("a = dY.T @ X\n"), range(KEYS), strict=False)]:
            page.keyboard.press("Enter" if key == "\n" else key)
            page.keyboard.press("Escape")
            page.wait_for_timeout(PAUSE + 130)
        waits: list[float] = page.evaluate("window.waits")
        browser.close()
    return [one - PAUSE for one in waits]


def _type(port: int, slug: str, box: Grad, seed: int, ended: threading.Event, asked: list[float]) -> None:
    draw, learner = random.Random(seed), Learner(port)
    learner.post(f"/lessons/{slug}/code/{box.name}/draft", {"code": "", "revision": "0"})
    while not ended.is_set():
        for end in range(1, len(box.solution.source)):
            gap = draw.lognormvariate(0, 0.5) * GAP_SECONDS
            if ended.wait(gap):
                return
            if gap > PAUSE / 1e3:
                began = time.perf_counter()
                status, _ = learner.post(f"/lessons/{slug}/code/{box.name}/shapes", {"code": box.solution.source[:end]})
                assert status == 200, status
                asked.append(time.perf_counter() - began)


def _report(who: str, waits: list[float]) -> None:
    ordered = sorted(waits)
    p95 = ordered[int(0.95 * len(ordered))]
    print(
        f"{who}: p50 {statistics.median(ordered):.1f} ms, p95 {p95:.1f} ms, most {ordered[-1]:.1f} ms, n={len(ordered)}"
    )
