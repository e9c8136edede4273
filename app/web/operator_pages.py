"""Pages of the operator: privacy, imprint and accessibility, from markdown.

A file in the folder of the setting comes before the text that is shipped. Of an imprint only a form to fill is shipped:
without one of the operator's, there is no such page.
"""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup

from app.installation import TEMPLATES
from app.settings import OPERATOR_PAGES, Settings

SHIPPED = TEMPLATES / "operator"
TO_FILL = ("imprint",)
NO_CONTACT = "the operator of this server (who has left no address here yet)"
REVISED = "23 November 2026"
"""When the accessibility statement that is shipped was looked at last."""


@dataclass(frozen=True, slots=True)
class OperatorPage:
    title: str
    body: Markup


def operator_pages(settings: Settings) -> dict[str, OperatorPage]:
    """The pages that this server has, by name."""
    day = settings.statement_date
    date = f"{day.day} {day:%B %Y}" if day else REVISED
    sources = {name: _source(settings.pages, name) for name in OPERATOR_PAGES}
    return {name: _render(source, settings.contact, date) for name, source in sources.items() if source is not None}


def _source(folder: Path | None, name: str) -> str | None:
    own = folder / f"{name}.md" if folder else None
    if own and own.is_file():
        return own.read_text("utf-8")
    return None if name in TO_FILL else (SHIPPED / f"{name}.md").read_text("utf-8")


@cache
def _render(source: str, contact: str, date: str) -> OperatorPage:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    filled = source.replace("{{contact}}", _contact_link(contact) or NO_CONTACT).replace("{{date}}", date)
    tokens = markdown.parse(filled)
    heads = [token.content for before, token in pairwise(tokens) if before.tag == "h1"]
    html = markdown.renderer.render(tokens, markdown.options, {})
    # What is wider than the page scrolls in a region of its own.
    html = html.replace("<table>", '<div class="table" tabindex="0" role="region" aria-label="Table"><table>')
    return OperatorPage(heads[0] if heads else "", Markup(html.replace("</table>", "</table></div>")))


def _contact_link(contact: str) -> str:
    """*contact* as markdown: an address leads somewhere."""
    if contact.startswith(("https://", "http://")) and " " not in contact:
        return f"<{contact}>"
    return f"<{contact}>" if "@" in contact and " " not in contact else contact
