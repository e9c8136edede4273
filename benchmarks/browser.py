"""What a page costs a phone: bytes, and Chromium's own times under a 4 times slower processor and a slow 4G network.

Bytes are those of a first visit, compressed, of all that the page asks for until it stands still.
"""

import statistics
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from app.content.blocks import CodeBox
from app.course.course import load_course
from benchmarks.serving import ROOT, server

ROUNDS = 3
SLOW_4G = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 750e3 / 8}
PHONE = {"width": 390, "height": 844}
OBSERVE = """
  window.measured = { lcp: 0, cls: 0, inp: 0 };
  const watch = (type, note, more = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true, ...more });
  watch("largest-contentful-paint", (one) => (measured.lcp = one.startTime));
  watch("layout-shift", (one) => { if (!one.hadRecentInput) measured.cls += one.value; });
  const slowest = (one) => { if (one.interactionId) measured.inp = Math.max(measured.inp, one.duration); };
  watch("event", slowest, { durationThreshold: 16 });
"""


def weight(page: Page, address: str) -> dict[str, int]:
    """Bytes that came over the network until *address* stood still, by path."""
    session = page.context.new_cdp_session(page)
    paths: dict[str, str] = {}
    found: dict[str, int] = {}

    def asked(event: dict[str, Any]) -> None:
        paths[event["requestId"]] = event["request"]["url"].partition("://")[2].partition("/")[2].partition("?")[0]

    def came(event: dict[str, Any]) -> None:
        path = paths.get(event["requestId"], "")
        found[path] = found.get(path, 0) + int(event["encodedDataLength"])

    session.on("Network.requestWillBeSent", asked)
    session.on("Network.loadingFinished", came)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready.then(() => null)")
    session.detach()
    return found


def times(browser: Browser, address: str) -> dict[str, float]:
    """LCP and INP in ms and CLS of a phone that opens *address*, types and reads on; CLS also when it was *opened*."""
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.add_init_script(OBSERVE)
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", SLOW_4G)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.goto(address)
    page.wait_for_load_state("networkidle")
    opened = page.evaluate("measured.cls")
    page.mouse.wheel(0, 800)
    for field in page.locator("input[name=answer]:visible, .cm-content").all()[:3]:
        field.tap()
        page.keyboard.type("dW")
    height = page.evaluate("document.documentElement.scrollHeight")
    for place in range(0, height, 800):
        page.evaluate(f"scrollTo(0, {place})")
        page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    found: dict[str, float] = page.evaluate("measured")
    context.close()
    return {**found, "opened": opened}


def main() -> None:
    """Print the bytes of the heaviest page without a code box and with one, and the times of the longest lesson."""
    from tests.browser.conftest import SWITCHES, chrome

    lessons = [one for one in load_course(ROOT / "lessons").lessons if not one.draft]
    boxes = {one.slug: any(isinstance(each, CodeBox) for each in one.exercises) for one in lessons}
    longest = max(lessons, key=lambda one: len(one.source)).slug
    with server() as port, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chrome(), args=list(SWITCHES))
        for coded in (False, True):
            weights = {}
            for slug in (slug for slug, has in boxes.items() if has is coded):
                page = browser.new_page()
                weights[slug] = sum(weight(page, f"http://127.0.0.1:{port}/lessons/{slug}").values())
                page.context.close()
            slug = max(weights, key=weights.__getitem__, default="")
            if slug:
                print(f"{'with' if coded else 'without'} code boxes: /lessons/{slug} {weights[slug] / 1000:.0f} kB")
        rounds = [times(browser, f"http://127.0.0.1:{port}/lessons/{longest}") for _ in range(ROUNDS)]
        told = {name: statistics.median(one[name] for one in rounds) for name in ("lcp", "opened", "cls", "inp")}
        shifts = f"CLS {told['opened']:.3f} until it is there, {told['cls']:.3f} to the end of the page"
        print(f"/lessons/{longest}: LCP {told['lcp']:.0f} ms, {shifts}, INP {told['inp']:.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()
