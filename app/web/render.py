"""Templates to answers. Templates choose and loop; what they need beyond their own values is here."""

from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from app.content.prose import highlighted, sentence
from app.web.assets import ROOT, Assets
from app.web.theme import theme_of
from app.web.verdict_words import OUTCOMES, number

TEMPLATES = ROOT / "templates"


class Pages:
    """Renders pages and fragments; where the sandbox may be missing, every page says so."""

    def __init__(self, assets: Assets, templates: Path = TEMPLATES, *, unsafe: bool = False) -> None:
        self._environment = _environment(templates)
        self._shared = {"asset": assets.url, "fonts": assets.fonts, "unsafe": unsafe}

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A whole page."""
        shared = {"path": request.url.path, "theme": theme_of(request), "nonce": request.state.nonce}
        text = self._render(template, swapped=False, **self._shared, **shared, **values)
        # Private, and asked for again: it shows one learner's state.
        return HTMLResponse(text, status, {"cache-control": "private, no-cache", "vary": "Cookie, HX-Request"})

    def fragment(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """What htmx swaps into a page that is already there; *swapped* tells the template so."""
        text = self._render(template, swapped=True, **values)
        return HTMLResponse(text, status, {"cache-control": "no-store"})

    def text(self, template: str, **values: Any) -> str:
        """A piece of a page that reaches it by another way than an answer."""
        return self._render(template, swapped=True, **values)

    def _render(self, template: str, **values: Any) -> str:
        return self._environment.get_template(template).render(values)


def wants_fragment(request: Request) -> bool:
    """Whether htmx asks, and not the browser itself."""
    return request.headers.get("hx-request") == "true" and request.headers.get("hx-boosted") != "true"


def back_to(path: str, anchor: str = "") -> RedirectResponse:
    """After a plain form: show the page again, at the exercise; reloading it sends nothing twice."""
    return RedirectResponse(path + (f"#{anchor}" if anchor else ""), 303)


@cache
def _environment(templates: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,  # a page asks for dozens of templates, and each would be looked up on disk again
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "sentence": sentence,
        "highlighted": _highlighted,
        "number": number,
        "outcome": OUTCOMES.__getitem__,
    }
    return environment


@lru_cache(maxsize=1024)
def _highlighted(source: str) -> Markup:
    return highlighted(source)
