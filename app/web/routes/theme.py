"""Light, dark or automatic."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import Response

from app.web.render import COOKIE, Theme, own_path
from app.web.routes.form_fields import Typed

COOKIE_SECONDS = 400 * 24 * 3600

router = APIRouter()


@router.post("/theme")
async def choose_theme(request: Request, theme: Annotated[Theme, Form()], back: Typed = "/") -> Response:
    """Remember *theme*; a plain form returns to the page *back*, a script gets nothing to swap."""
    if request.headers.get("hx-request") == "true":
        response = Response(status_code=204)
    else:
        response = Response(status_code=303, headers={"location": own_path(back)})
    secure = request.app.state.settings.secure_cookies
    response.set_cookie(COOKIE, theme, max_age=COOKIE_SECONDS, httponly=True, samesite="lax", secure=secure)
    return response
