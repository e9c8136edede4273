"""Rendering of pages: templates, the built files that they load, and the theme.

Templates choose and loop; what they need beyond their own values is here. The names of built files carry a hash of
their content, so browsers may keep them for ever. The theme is a cookie, so that the first paint is already right.
"""

import json
import os
import re
from collections.abc import Mapping
from copy import copy
from functools import cache, lru_cache
from mimetypes import guess_type
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from app.content.text.exercise_titles import exercise_title
from app.content.text.mathml import accessible_name_attribute, words_of
from app.content.text.sentences import highlight_code, render_sentence
from app.installation import KINDS, ROOT, TEMPLATES, version
from app.teaching.dates import to_local
from app.web.verdict_words import closeness_text, nudge_title, number_text

DIST = ROOT / "static" / "dist"
URL = "/static"
Theme = Literal["light", "dark", "auto"]
THEMES: tuple[Theme, ...] = ("light", "dark", "auto")
COOKIE = "theme"
LONGEST_PATH = 500
FAULTED = Markup(' aria-invalid="true" aria-describedby="problem"')
SPLIT_NAMES = {"train": "training", "validation": "validation", "test": "test"}
"""What pages call the parts of the data."""
PAGE_ADDRESS = re.compile(
    r"((?:\s(?:href|src|action|formaction|hx-get|hx-post|data-(?:url|draft|shapes|events))"
    r'|name="editor" content)=")/(?!/)'
)
"""An attribute that holds an address of this site. In text there is none: a quotation mark is escaped there."""

FRAMED_ADDRESS = re.compile(f"{PAGE_ADDRESS.pattern}(?!static/)")
"""Of these, one that is another in a frame: a file is the same everywhere."""


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

    def fonts(self, *kinds: str) -> tuple[str, ...]:
        """Addresses of the fonts that every page needs at once, and those that pages with *kinds* of text do."""
        return tuple(f"{URL}/{name}" for kind in ("fonts", *kinds) for name in self._names.get(kind, []))


UNTOLD = (b"last-modified", b"accept-ranges")


class ImmutableFiles(StaticFiles):
    """Static files that a browser asks for once; those that the build has compressed go as they are."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        small = Path(f"{full_path}.br")
        takes = [part.partition(";")[0].strip() for part in Headers(scope=scope).get("accept-encoding", "").split(",")]
        if "br" not in takes or "range" in Headers(scope=scope) or not small.is_file():
            return super().file_response(full_path, stat_result, scope, status_code)
        answer = super().file_response(small, small.stat(), scope, status_code)
        answer.headers["content-encoding"] = "br"
        answer.headers["content-type"] = f"{guess_type(full_path)[0] or 'text/plain'}; charset=utf-8"
        answer.headers.add_vary_header("Accept-Encoding")
        return answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_kept(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (200, 206):
                # The address changes with the content, and the etag is told: a date says nothing more. Files are small:
                # a part is given to who asks, and nobody is told to ask.
                headers = [head for head in message["headers"] if head[0] not in UNTOLD]
                message["headers"] = [*headers, (b"cache-control", b"public, max-age=31536000, immutable")]
            await send(message)

        await super().__call__(scope, receive, send_kept)


class Pages:
    """Renders pages and fragments; where the sandbox may be missing, every page says so.

    Args:
        prefix: What the addresses in pages begin with, such as `/learn`; templates know nothing of it.
    """

    def __init__(
        self,
        assets: Assets,
        templates: Path = TEMPLATES,
        *,
        prefix: str = "",
        unsafe: bool = False,
        imprint: bool = False,
        demo: bool = False,
    ) -> None:
        self._prefix, self._frame = prefix, ""
        self._environment = _environment(templates)
        self._shared = {"asset": assets.url, "fonts": assets.fonts, "version": version()}
        self._shared |= {"unsafe": unsafe, "imprint": imprint, "demo": demo, "framed": False}

    def below(self, path: str) -> "Pages":
        """The same pages for the frame of another site, their addresses below *path*."""
        pages = copy(self)
        pages._frame, pages._shared = path, {**self._shared, "framed": True}
        return pages

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A whole page."""
        shared = {"path": request.url.path, "theme": theme_of(request), "nonce": request.state.nonce}
        # A request that was refused early has no visitor.
        visitor = getattr(request.state, "visitor", None)
        shared |= {"called": getattr(visitor, "called", ""), "account": getattr(visitor, "account", False)}
        shared |= {"notice": getattr(visitor, "notice", ""), "seen": getattr(visitor, "seen", None)}
        shared["in_class"] = getattr(visitor, "in_class", False)
        shared["visit_over"] = getattr(visitor, "visit_over", False)
        text = self._render(template, swapped=False, **self._shared, **shared, **values)
        # It shows one learner's state, which answers change without a new page: on the way back browsers show even what
        # they should ask for again.
        return HTMLResponse(text, status, {"cache-control": "private, no-store", "vary": "Cookie, HX-Request"})

    def fragment(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Render what htmx swaps into an existing page; *swapped* tells the template so."""
        text = self._render(template, swapped=True, **values)
        return HTMLResponse(text, status, {"cache-control": "no-store"})

    def text(self, template: str, **values: Any) -> str:
        """A piece of a page that reaches it by another way than an answer."""
        return self._render(template, swapped=True, **values)

    def part(self, template: str, **values: Any) -> Markup:
        """Render *template* as a part of another page: of a page itself, all between head and foot."""
        page = self._environment.get_template(template)
        context = page.new_context({"swapped": False, **self._shared, **values})
        whole = page.blocks.get("main") or page.blocks.get("class") or page.root_render_func
        return Markup("".join(whole(context)))  # each is escaped already

    def _render(self, template: str, **values: Any) -> str:
        text = self._environment.get_template(template).render(values)
        text = FRAMED_ADDRESS.sub(rf"\1{self._frame}/", text) if self._frame else text
        return PAGE_ADDRESS.sub(rf"\1{self._prefix}/", text) if self._prefix else text


def wants_fragment(request: Request) -> bool:
    """True if htmx sent the request, and not the browser itself."""
    return request.headers.get("hx-request") == "true" and request.headers.get("hx-boosted") != "true"


def back_to(path: str, anchor: str = "") -> RedirectResponse:
    """After a plain form: show the page again, at the exercise; reloading it sends nothing twice."""
    return RedirectResponse(path + (f"#{anchor}" if anchor else ""), 303)


def file_headers(name: str) -> dict[str, str]:
    """Headers of a file that a browser stores under that *name*, for one person."""
    return {"content-disposition": f'attachment; filename="{name}"', "cache-control": "private, no-store"}


def own_path(path: str) -> str:
    """*path*, if it is one of this site and nothing that a browser takes for an address of another; else the first.

    Of ours none is longer than `LONGEST_PATH`: what is kept of a path is bounded by this.
    """
    # `//host` and `/\host` are addresses of other sites to a browser.
    local = (
        len(path) <= LONGEST_PATH
        and path.startswith("/")
        and not path.startswith(("//", "/\\"))
        and path.isprintable()
        and path.isascii()
    )
    return path if local else "/"


@cache
def _environment(templates: Path) -> Environment:
    kinds = PrefixLoader({"kinds": FileSystemLoader([*KINDS.glob("*/")])})
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(templates), kinds]),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,  # a page asks for dozens of templates, and each would be looked up on disk again
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "sentence": render_sentence,
        "words": words_of,
        "named": accessible_name_attribute,
        "highlighted": lru_cache(maxsize=1024)(highlight_code),
        "number": number_text,
        "closeness": lambda value: closeness_text(value.exact, value.approx, value.maxdiff),
        "thousands": "{:,}".format,
        "part": SPLIT_NAMES.__getitem__,
        "asked": query_text,
        "faulted": invalid_field_attributes,
        "ended": ended,
        "local_in": to_local,
        "title_of": exercise_title,
        "nudge_title": nudge_title,
    }
    # One for each name of a verdict, and the same for everybody: they are a third of what an exam's answer costs.
    form = vars(environment.get_template("_nudge.html").make_module())["form"]
    environment.globals["nudge_form"] = lru_cache(maxsize=1024)(form)
    return environment


def query_text(fields: Mapping[str, str]) -> str:
    """*fields* that are not empty as the query of an address, with its question mark; empty for none."""
    given = {name: value for name, value in fields.items() if value}
    return f"?{urlencode(given)}" if given else ""


def invalid_field_attributes(value: str, problem: str, *about: str) -> Markup:
    """Attributes of a field that holds *value*, if *problem*, the note of the page, quotes it or begins with one of
    *about*.
    """
    return FAULTED if (value and repr(value) in problem) or problem.startswith(about) else Markup("")


def ended(name: str) -> str:
    """*name* at the end of a sentence: a name such as `Anna Meier, Dr.` ends it already."""
    return name if name.endswith((".", "!", "?", "…")) else f"{name}."


def theme_of(request: Request) -> Theme:
    chosen = first_cookie(request.headers, COOKIE)
    return next((theme for theme in THEMES if theme == chosen), "auto")


def first_cookie(headers: Headers, wanted: str) -> str:
    """First cookie of that name, undecoded, or "".

    None of ours is quoted; to take quotes away costs some releases of Python quadratic time.
    """
    pairs = (part.strip().partition("=") for line in headers.getlist("cookie") for part in line.split(";"))
    return next((value for name, _, value in pairs if name == wanted), "")
