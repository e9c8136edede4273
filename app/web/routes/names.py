"""The names that the model learns from, to look into: counts, symbols, parts, and the examples that any name gives."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.web.render import wants_fragment
from app.web.site import TheSite
from app.web.views.names_view import FIRST, names_view

router = APIRouter()


@router.get("/names")
async def names(request: Request, site: TheSite, name: str = FIRST) -> Response:
    """The data, and the examples that *name* gives."""
    view = await names_view(site.runs.names, name)
    if wants_fragment(request):
        return site.pages.fragment("_name.html", names=view)
    return site.pages.page(request, "names.html", names=view)
