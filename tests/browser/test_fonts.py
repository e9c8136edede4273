"""What a first visit looks like before the fonts are there: as it will with them."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.test_layout import SHIFTS

WIDTHS = {
    "DejaVu Serif": 0.506, "Noto Serif": 0.4717, "Times New Roman": 0.395,
    "DejaVu Sans": 0.4995, "Arial": 0.4362,
    "Menlo": 0.602, "Courier New": 0.6,
}  # fmt: skip
"""A letter of `SAMPLE` in em, measured in fonts of the same widths (Tinos, Arimo) where these are not free."""
SAMPLE = (
    "the quick brown fox jumps over the lazy dog and what a gradient is at each of its entries, "
    "in the order of the backward pass"
)

# Of each face that stands in for one of ours: its first name, what it is scaled to, and how far it and ours reach.
NEAR = """([sample, own]) => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d");
  const measured = (font) => {
    canvas.font = `1000px ${font}`;
    const { width, fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = canvas.measureText(sample);
    return [width / sample.length, up, down].map((one) => one / 1000);
  };
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  return rules.filter((one) => one instanceof CSSFontFaceRule && one.style.src.includes("local(")).map(({ style }) => {
    const part = (name) => (parseFloat(style.getPropertyValue(name)) || 100) / 100;
    const [family, name] = [style.fontFamily.replaceAll('"', ""), /local\\("(.*?)"\\)/.exec(style.src)[1]];
    const scale = part("size-adjust");
    const reach = [part("ascent-override") * scale, part("descent-override") * scale];
    return { name, scale, reach, ours: measured(`"${own[family]}"`) };
  });
}"""
LOADED = "own => Promise.all(own.map(one => document.fonts.load(`1em '${one}'`))).then(() => null)"
OWN = {"Near Serif": "Source Serif 4", "Near Sans": "Source Sans 3", "Near Mono": "IBM Plex Mono"}


def test_what_stands_in_for_a_font_has_its_measures(page: Page) -> None:
    page.goto("/")
    page.evaluate(LOADED, list(OWN.values()))

    faces = page.evaluate(NEAR, [SAMPLE, OWN])

    assert {one["name"] for one in faces} == WIDTHS.keys()
    for one in faces:
        width, *reach = one["ours"]
        assert one["scale"] * WIDTHS[one["name"]] == pytest.approx(width, rel=0.003), one
        assert one["reach"] == pytest.approx(reach, abs=0.002), one


@pytest.mark.own_context
@pytest.mark.parametrize("address", ["/", "/lessons/ten-minutes"])
def test_hardly_anything_moves_when_fonts_come_late(page: Page, address: str) -> None:
    late: list[Route] = []
    page.add_init_script(f"({SHIFTS})()")
    page.route("**/*.woff2", lambda route: late.append(route))
    page.goto(address, wait_until="commit")
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    expect(page.locator("footer")).to_be_attached()

    for one in late:
        one.continue_()
    page.unroute("**/*.woff2")
    page.evaluate("document.fonts.ready.then(() => null)")

    assert late
    assert sum(value for value, *_ in page.evaluate("moved")) < 0.01
