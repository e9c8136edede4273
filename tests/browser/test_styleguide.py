"""Every component looks as it did: pictures of the styleguide, light and dark, which `make pictures` renews."""

import base64
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from app.settings import Settings
from tests.browser.answers import EACH_KIND
from tests.browser.authoring import serving
from tests.browser.conftest import Contexts, Watched
from tests.browser.steps import (
    SCHEMES,
    Scheme,
    code_boxes,
    drawn,
    open_page,
    paint_in,
    scrolls_sideways,
    upgrade,
    violations_in_both,
)
from tests.courses import course_in
from tests.styleguide.page import styleguide_app
from tests.turns import PAGES

PICTURES = Path(__file__).parent / "pictures"
DRAWN_BY = PICTURES / "drawn-by.txt"
RENEW = "PICTURES" in os.environ
TOLERANCE = 0.0003
"""The share of pixels that may look otherwise: eighty of a component of middling size."""
PARTS = 4
"""Components are looked through in so many parts: one in turn, since each takes a second."""
ALL = {"width": 700, "height": 50_000}
"""Everything in sight: an editor measures its lines when it is seen, and what is not drawn cannot be cut out."""

# Of two pixels of the page one is drawn: where another component grows, the same ones should be.
EVEN = """all => all.forEach(one => {
  const { top } = one.getBoundingClientRect();
  one.style.cssText = `position: relative; top: ${Math.ceil(top / 2) * 2 - top}px`;
})"""

# How many pixels of two pictures differ by more than a tenth in some colour; all where their sizes differ by a line.
DIFFERENT = """async ([one, other]) => {
  const pixels = await Promise.all([one, other].map(async (picture) => {
    const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return canvas.getImageData(0, 0, image.width, image.height);
  }));
  const [a, b] = pixels;
  if (a.width !== b.width || a.height !== b.height) return 1;
  let count = 0;
  for (let at = 0; at < a.data.length; at += 4) {
    count += [0, 1, 2].some((colour) => Math.abs(a.data[at + colour] - b.data[at + colour]) > 25);
  }
  return count / (a.width * a.height);
}"""


# The whole page is drawn once, and each component cut out: to draw one alone is to draw all of them.
CUT = """async ([picture, all]) => {
  const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
  const whole = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const cut = async ({ x, y, width, height }) => {
    const [left, top] = [Math.floor(x), Math.floor(y)];
    const [wide, high] = [Math.ceil(x + width) - left, Math.ceil(y + height) - top].map((one) => Math.ceil(one / 2));
    const canvas = new OffscreenCanvas(wide, high);
    canvas.getContext("2d").drawImage(whole, -left / 2, -top / 2);
    const png = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
    return btoa(Array.from(png, (byte) => String.fromCharCode(byte)).join(""));
  };
  return Promise.all(all.map(cut));
}"""


# An editor measures its lines once it is seen, which on a busy machine is after the picture.
MEASURED = """all => all.forEach(box => {
  box.view.requestMeasure({ read: () => {}, write: () => { box.dataset.measured = ""; } });
})"""


@pytest.fixture(scope="module")
def styleguide(contexts: Contexts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Opened once: it is as long as many lessons."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("styleguide"), database_url="")
    options = {"viewport": ALL, "device_scale_factor": 0.5, "timezone_id": "UTC", "locale": "en-GB"}
    with serving(lambda: styleguide_app(settings, course_in(EACH_KIND.parent))) as address:
        context = contexts.new({**options, "reduced_motion": "reduce"})
        page = context.new_page()
        watched = Watched(page)
        open_page(page, f"{address}/styleguide")
        upgrade(page)
        page.locator(".specimen").evaluate_all(EVEN)
        code_boxes(page).evaluate_all(MEASURED)
        drawn(page)
        yield page
        context.close()
        # Nobody tells how the run that is shown goes on.
        assert [one for one in watched.complaints if "status of 404" not in one] == []


def taken(page: Page) -> dict[str, bytes]:
    """A picture of each component, by its name."""
    found = page.locator(".specimen")
    names = found.evaluate_all("all => all.map(one => one.id.replace('specimen-', ''))")
    places = [one.bounding_box() for one in found.all()]
    whole = base64.b64encode(page.screenshot(animations="disabled")).decode()
    return dict(zip(names, map(base64.b64decode, page.evaluate(CUT, [whole, places])), strict=True))


def drawn_by(page: Page) -> str:
    browser = page.context.browser
    assert browser is not None
    return f"Chromium {browser.version.partition('.')[0]} on {sys.platform}"


def differing(page: Page, one: bytes, other: bytes) -> float:
    if one == other:
        return 0.0
    share: float = page.evaluate(DIFFERENT, [base64.b64encode(picture).decode() for picture in (one, other)])
    return share


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_component_looks_as_in_its_picture(styleguide: Page, scheme: Scheme, tmp_path: Path) -> None:
    page = styleguide
    this = drawn_by(page)
    if RENEW:
        PICTURES.mkdir(exist_ok=True)
        DRAWN_BY.write_text(this + "\n", "utf-8")
    if this != (then := DRAWN_BY.read_text("utf-8").strip()):
        pytest.skip(f"the pictures were drawn by {then}, which sets letters in its own way; here is {this}")
    paint_in(page, scheme)
    assert not scrolls_sideways(page)
    pictures = taken(page)

    files = {name: PICTURES / f"{name}-{scheme}.png" for name in pictures}
    for name, file in files.items() if RENEW else ():
        if not file.exists() or differing(page, pictures[name], file.read_bytes()) > TOLERANCE:
            file.write_bytes(pictures[name])
    lost = [one.name for one in PICTURES.glob(f"*-{scheme}.png") if one not in files.values()]
    assert lost == [], "a picture without a component"
    different = {name: differing(page, pictures[name], file.read_bytes()) for name, file in files.items()}
    other = {name: share for name, share in different.items() if share > TOLERANCE}
    for name in other:
        (tmp_path / f"{name}.png").write_bytes(pictures[name])
    assert other == {}, f"look at {tmp_path}; then: make pictures"


@pytest.mark.in_turn(turns=PARTS, places=PAGES)
@pytest.mark.parametrize("part", range(PARTS))
def test_axe_finds_nothing_in_a_part_of_the_components(styleguide: Page, part: int) -> None:
    assert violations_in_both(styleguide, f".specimen:nth-child({PARTS}n + {part})") == []


SET = "([name, value]) => document.documentElement.style.setProperty(name, value)"


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("right", "#8a2be2"),
        *(
            pytest.param(*one, marks=pytest.mark.prove)
            for one in (("quarter", "0.7rem"), ("serif", "monospace"), ("wrong-soft", "#fff"))
        ),
    ],
)
def test_a_token_that_changes_is_seen_in_a_picture(styleguide: Page, token: str, value: str) -> None:
    paint_in(styleguide, "light")
    component = styleguide.locator("#specimen-dw-shape")
    before = component.screenshot(animations="disabled")

    styleguide.evaluate(SET, [f"--{token}", value])
    after = component.screenshot(animations="disabled")
    styleguide.evaluate(SET, [f"--{token}", ""])

    assert differing(styleguide, before, after) > TOLERANCE
