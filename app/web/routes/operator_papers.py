"""Privacy, imprint and accessibility, as the operator wrote them or as they are shipped."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.web.site import TheSite, or_404

router = APIRouter()


@router.get("/privacy")
async def privacy(request: Request, site: TheSite) -> Response:
    return site.pages.page(request, "operator_page.html", page=request.app.state.operator_pages["privacy"])


@router.get("/accessibility")
async def accessibility(request: Request, site: TheSite) -> Response:
    return site.pages.page(request, "operator_page.html", page=request.app.state.operator_pages["accessibility"])


@router.get("/imprint")
async def imprint(request: Request, site: TheSite) -> Response:
    page = or_404(request.app.state.operator_pages.get("imprint"))
    return site.pages.page(request, "operator_page.html", page=page)
