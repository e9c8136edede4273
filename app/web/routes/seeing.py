"""An instructor looks at pages as one of their learners sees them: what is assigned, to look at and not to change."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.store.learner_views import VIEW_STAYS, begin_view, end_view
from app.web.class_access import PREFIX, Arranging, parse_row_id
from app.web.middleware.visitor import END_OF_VIEW, SEEING
from app.web.render import back_to
from app.web.routes.sign_in_result import drop_cookie, keep_cookie
from app.web.site import TheSite, TheVisitor, or_404

router = APIRouter()


@router.post(f"{PREFIX}/learners/{{learner_id}}/see")
async def begin(page: Arranging, learner_id: str) -> Response:
    """See pages as a learner of the class from now on, for an hour at most; it is written down, for them too."""
    async with page.write() as db:
        token = or_404(await begin_view(db, page.class_id, page.learner, parse_row_id(learner_id)))
    response = page.back()
    keep_cookie(page.request, response, SEEING, token, "/", round(VIEW_STAYS.total_seconds()))
    return response


@router.post(END_OF_VIEW)
async def end(request: Request, site: TheSite, visitor: TheVisitor) -> Response:
    """Be oneself again."""
    seen = visitor.seen
    response = back_to(f"/classes/{seen.class_id}/learners/{seen.learner}" if seen else "/")
    if seen is not None:
        async with site.database.write(short=True) as db:
            await end_view(db, seen.view)
    drop_cookie(request, response, SEEING, "/")
    return response
