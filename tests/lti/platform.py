"""A learning platform on this machine, which behaves as a live Moodle 4.5.5 was seen to.

It answers over a socket, as platforms do; a browser is what a test makes of `TestClient`. What it has is in its
attributes: people, courses, columns of grades. Its clock may be wrong.
"""

import asyncio
import base64
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import formatdate
from functools import cache
from html import escape
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import uvicorn
from httpx2 import Response as Reply
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from app.lti import keys
from tests.waiting import until

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/"
DEEP = "https://purl.imsglobal.org/spec/lti-dl/claim/"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
FROM_ELSEWHERE = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}
IN_A_TAB = {**FROM_ELSEWHERE, "sec-fetch-dest": "document"}
KEYS = [RSAKey.generate_key(2048) for _ in range(2)]
"""Made once: a key takes longer than a test."""


@cache
def _key_of(_number: int) -> RSAKey:
    return RSAKey.generate_key(2048)


def with_keys_made_before(patch: pytest.MonkeyPatch) -> None:
    """Let keys of the tool be those of the last test."""
    numbers = count()
    patch.setattr(keys, "generate_key", lambda: _key_of(next(numbers)))


PLATFORM_HOST = "platform.test"
KEEPER = """<script>
const kept = {};
addEventListener("message", ({ data, origin, source }) => {
  const key = `${origin} ${data?.key}`;
  window.heard = [...(window.heard ?? []), data?.subject];
  if (data?.subject === "lti.frameResize") document.querySelector("iframe").height = data.height;
  if (data?.subject === "lti.put_data") kept[key] = data.value;
  if (data?.subject !== "lti.put_data" && data?.subject !== "lti.get_data") return;
  const { message_id, key: name } = data;
  source.postMessage({ subject: `${data.subject}.response`, message_id, key: name, value: kept[key] }, origin);
});
</script>"""


@dataclass
class Person:
    """*role* is that in every course of theirs, by its short name."""

    subject: str
    name: str
    role: str = "Learner"


@dataclass
class Column:
    """A line item: its address has a query, as Moodle's have. By subject, the points of each and when they were set.

    It is of the *links*, by their ids: where a course was copied, one column may be coupled twice.
    """

    url: str
    label: str
    maximum: float
    resource_id: str | None = None
    links: tuple[str, ...] = ()
    tag: str | None = None
    course: str = ""
    grades: dict[str, tuple[float | None, float]] = field(default_factory=dict)
    scores: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Link:
    """A link in a course, with the column that it is graded in, if any."""

    id: str
    custom: dict[str, str]
    column: Column | None = None
    target: str = "/lti/launch"


class Platform:
    """The platform; *tool* is the address of the server that it opens pages of."""

    def __init__(self, tool: str = "http://testserver", client_id: str = "backhand-1", tls: Path | None = None) -> None:
        self.tool, self.client_id, self.deployment = tool, client_id, "dep-1"
        self.tls, self.links = tls, dict[str, Link]()
        self.tool_keys: Callable[[], Any] = dict
        self.tokens: set[str] = set()
        self._serve()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Nobody is there, in a course that nobody has seen."""
        self.people: dict[str, Person] = {}
        self.context, self.title, self.history = f"course-{secrets.token_hex(4)}", "Deep Learning", ""
        self.columns: list[Column] = []
        self.key, self.kid = KEYS[0], "platform-key"
        self.ahead = 0.0
        """Seconds by which its clock is ahead."""
        self.clock, self.dated = time.time, True
        self.broken: list[int | str] = []
        """How the next requests for scores go: a status, or `hang`."""
        self.broken_lists: list[int] = []
        """How the next requests for columns go."""
        self.latency = 0.0
        """How many seconds it thinks about a score, or looks for columns."""
        self.under_way, self.doubled = set[tuple[str, str]](), list[tuple[str, str]]()
        """Whose scores it thinks about, and those of whom another one came meanwhile."""
        self.asked: list[str] = []
        self.configuration: dict[str, Any] = {}
        """What it tells of itself otherwise than it should."""
        self.registered: list[dict[str, Any]] = []
        self.page = 100
        """How many people, or columns, are in a page of a list."""
        self.scopes = ["lineitem", "result.readonly", "score"]
        self.filters = True
        """Whether it knows what a question for columns asks for."""

    def _serve(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.url = f"https://{PLATFORM_HOST}:{self.port}" if self.tls else f"http://127.0.0.1:{self.port}"
        routes = [
            Route("/course", self._course),
            Route("/auth", self._auth),
            Route("/.well-known/openid-configuration", self._configuration),
            Route("/register", self._register, methods=["POST"]),
            Route("/jwks", self._jwks),
            Route("/token", self._token, methods=["POST"]),
            Route("/ags/{course}/lineitems", self._lineitems, methods=["GET", "POST"]),
            Route("/ags/{course}/lineitems/{number}/lineitem/scores", self._scores, methods=["POST"]),
            Route("/ags/{course}/lineitems/{number}/lineitem/results", self._results),
            Route("/nrps/{course}", self._members),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes), port=self.port, log_level="error", ws="none", loop="asyncio", lifespan="off",
            date_header=False, timeout_graceful_shutdown=1,
            ssl_certfile=self.tls, ssl_keyfile=self.tls,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        until(lambda: self._server.started)

    def close(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()

    # What a browser does

    def begin(
        self, browser: TestClient, target: str = "/lti/launch", headers: dict[str, str] = FROM_ELSEWHERE, **more: str
    ) -> Reply:
        """Click on a link: what the tool answers when a login begins."""
        query = {
            "iss": self.url,
            "login_hint": "hint",
            "target_link_uri": self.tool + target,
            "client_id": self.client_id,
            "lti_message_hint": "message",
            "lti_deployment_id": self.deployment,
            **more,
        }
        return browser.get("/lti/login", params=query, headers=headers, follow_redirects=False)

    def asked_by(self, reply: Reply) -> dict[str, str]:
        """What the tool asks the platform for, as its answer sends the browser there."""
        assert reply.status_code == 303, reply.text
        return {name: values[0] for name, values in parse_qs(urlsplit(reply.headers["location"]).query).items()}

    def launch(
        self,
        browser: TestClient,
        person: Person,
        link: Link | None = None,
        *,
        headers: dict[str, str] = FROM_ELSEWHERE,
        **claims: Any,
    ) -> Reply:
        """All of it, from the click to what the tool shows then; *claims* are put in place of those of a launch."""
        link = link or Link("link-1", {})
        asked = self.asked_by(self.begin(browser, link.target, headers))
        token = self.token({**self.claims(person, link, asked["nonce"]), **claims})
        form = {"state": asked["state"], "id_token": token}
        return browser.post("/lti/launch", data=form, headers=headers, follow_redirects=False)

    # What it says

    def claims(self, person: Person, link: Link, nonce: str) -> dict[str, Any]:
        now = int(time.time() + self.ahead)
        course = f"{self.url}/ags/{self.context}"
        grades: dict[str, Any] = {
            "scope": [f"{AGS}scope/{name}" for name in self.scopes],
            "lineitems": f"{course}/lineitems?type_id=1",
        }
        if link.column is not None:
            grades["lineitem"] = link.column.url
        return {
            "iss": self.url,
            "aud": self.client_id,
            "sub": person.subject,
            "name": person.name,
            "email": f"{person.subject}@example.org",
            "nonce": nonce,
            "iat": now,
            "exp": now + 60,
            CLAIM + "version": "1.3.0",
            CLAIM + "message_type": "LtiResourceLinkRequest",
            CLAIM + "deployment_id": self.deployment,
            CLAIM + "target_link_uri": self.tool + link.target,
            CLAIM + "roles": [MEMBERSHIP + person.role],
            CLAIM + "resource_link": {"id": link.id, "title": "A link"},
            CLAIM + "context": {"id": self.context, "title": self.title, "label": "DL", "type": ["CourseSection"]},
            CLAIM + "custom": {
                **link.custom,
                "context_history": self.history,
                "link_history": "$ResourceLink.id.history",
                "due": "$ResourceLink.submission.endDateTime",
            },
            CLAIM + "launch_presentation": {"document_target": "iframe", "locale": "en"},
            CLAIM + "tool_platform": {"product_family_code": "moodle", "version": "2024100705"},
            CLAIM + "ext": {"lms": "moodle-2"},
            AGS + "claim/endpoint": grades,
            NRPS + "claim/namesroleservice": {
                "context_memberships_url": f"{self.url}/nrps/{self.context}",
                "service_versions": ["1.0", "2.0"],
            },
        }

    def deep_linking(self) -> dict[str, Any]:
        """Claims of a request for links, as Moodle makes it."""
        settings = {
            "accept_types": ["ltiResourceLink"],
            "accept_presentation_document_targets": ["frame", "iframe", "window"],
            "accept_multiple": True,
            "auto_create": False,
            "accept_lineitem": True,
            "deep_link_return_url": f"{self.url}/mod/lti/contentitem_return.php?course=2&id=1",
            "data": "their own",
        }
        return {CLAIM + "message_type": "LtiDeepLinkingRequest", DEEP + "deep_linking_settings": settings}

    def token(self, claims: dict[str, Any], header: dict[str, Any] | None = None, key: RSAKey | None = None) -> str:
        header = {"alg": "RS256", "typ": "JWT", "kid": self.kid, **(header or {})}
        return str(jwt.encode(header, claims, key or self.key, algorithms=["RS256"]))

    def add_column(
        self,
        label: str,
        maximum: float = 10.0,
        link: str | None = None,
        resource_id: str | None = None,
        tag: str | None = None,
    ) -> Column:
        number = len(self.columns) + 1
        url = f"{self.url}/ags/{self.context}/lineitems/{number}/lineitem?type_id=1"
        links = () if link is None else (link,)
        self.columns.append(Column(url, label, maximum, resource_id, links, tag, self.context))
        return self.columns[-1]

    def copy_course(self, *links: Link) -> list[Link]:
        """Back the course up and restore it as a new one, as Moodle does: all ids are new, parameters are as they were.

        Columns of the same resource become one, which is coupled once for each that there was.
        """
        before, self.history = self.context, self.context
        self.context = f"{before}-copy"
        copies = [replace(link, id=f"{link.id}-copy", column=None) for link in links]
        made: dict[str, Column] = {}
        for column in [column for column in self.columns if column.course == before]:
            key = column.resource_id or column.url
            if key not in made:
                made[key] = self.add_column(column.label, column.maximum, None, column.resource_id, column.tag)
            made[key].links += tuple(f"{link}-copy" for link in column.links) or ("",)
        return copies

    def person(self, subject: str, name: str, role: str = "Learner") -> Person:
        self.people[subject] = Person(subject, name, role)
        return self.people[subject]

    # What it answers to browsers

    async def _course(self, request: Request) -> Response:
        """A page with the tool in a frame, or a link that opens it in the place of the page."""
        query = {
            "iss": self.url, "login_hint": request.query_params["user"], "client_id": self.client_id,
            "target_link_uri": f"{self.tool}/lti/launch", "lti_message_hint": request.query_params["link"],
        }  # fmt: skip
        if "store" in request.query_params:
            query["lti_storage_target"] = "_parent"
        address = f"{self.tool}/lti/login?{urlencode(query)}"
        if "tab" in request.query_params:
            return Response(f'<a id="open" href="{escape(address)}">Open</a>', media_type="text/html")
        page = f'<h1>Course</h1>{KEEPER}<iframe name="tool" width="900" height="700" src="{escape(address)}"></iframe>'
        return Response(page, media_type="text/html")

    async def _auth(self, request: Request) -> Response:
        asked = request.query_params
        link = self.links.get(asked["lti_message_hint"])
        claims = self.claims(self.people[asked["login_hint"]], link or Link("link-1", {}), asked["nonce"])
        if link is None:
            claims |= self.deep_linking()
        token = self.token(claims)
        form = (
            f'<form method="post" action="{escape(asked["redirect_uri"])}"><input name="id_token" value="{token}">'
            f'<input name="state" value="{escape(asked["state"])}"></form><script>document.forms[0].submit()</script>'
        )
        return Response(form, media_type="text/html")

    # What it answers

    async def _configuration(self, _: Request) -> Response:
        told = {
            "issuer": self.url, "authorization_endpoint": f"{self.url}/auth", "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks", "registration_endpoint": f"{self.url}/register",
            "https://purl.imsglobal.org/spec/lti-platform-configuration": {"product_family_code": "moodle"},
        }  # fmt: skip
        return JSONResponse({**told, **self.configuration})

    async def _register(self, request: Request) -> Response:
        if request.headers.get("authorization") != "Bearer let me in":
            return JSONResponse({"error": "invalid_token"}, 401)
        sent = json.loads(await request.body())
        self.registered.append(sent)
        tool = {**sent["https://purl.imsglobal.org/spec/lti-tool-configuration"], "deployment_id": "77"}
        made = {**sent, "client_id": "made-by-itself", "https://purl.imsglobal.org/spec/lti-tool-configuration": tool}
        return JSONResponse(made, 200)

    async def _jwks(self, _: Request) -> Response:
        self.asked.append("jwks")
        headers = {"date": formatdate(time.time() + self.ahead, usegmt=True)}
        return JSONResponse(
            {"keys": [{**self.key.as_dict(private=False), "kid": self.kid, "alg": "RS256", "use": "sig"}]},
            headers=headers,
        )

    async def _token(self, request: Request) -> Response:
        self.asked.append("token")
        form = dict(await request.form())
        keys = KeySet.import_key_set(self.tool_keys())
        claims = jwt.decode(str(form["client_assertion"]), keys, algorithms=["RS256"]).claims
        sound = (
            claims["iss"] == claims["sub"] == self.client_id
            and claims["aud"] in (f"{self.url}/token", [f"{self.url}/token"])
            and claims["exp"] > time.time()
            and form["grant_type"] == "client_credentials"
            and form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        )
        if not sound:
            return JSONResponse({"error": "invalid_client"}, 400)
        scope = str(form["scope"])
        if scope.startswith(AGS) and scope.removeprefix(f"{AGS}scope/") not in self.scopes:
            return JSONResponse({"error": "invalid_scope"}, 400)
        token = secrets.token_hex(8) + " " + str(form["scope"])
        self.tokens.add(token)
        shown = base64.b64encode(token.encode()).decode()
        return JSONResponse({"access_token": shown, "token_type": "Bearer", "expires_in": 3600, "scope": form["scope"]})

    def _may(self, request: Request, scope: str) -> bool:
        shown = request.headers.get("authorization", "").removeprefix("Bearer ")
        try:
            token = base64.b64decode(shown).decode()
        except ValueError:
            return False
        return token in self.tokens and scope in token

    async def _lineitems(self, request: Request) -> Response:
        self.asked.append(f"{request.method} lineitems")
        scope = f"{AGS}scope/lineitem"
        if not self._may(request, scope) or (request.method == "POST" and self._may(request, f"{scope}.readonly")):
            return Response(status_code=401)
        if how := self.broken_lists.pop(0) if self.broken_lists else 0:
            return Response("<h1>Down for maintenance</h1>", how)
        if request.method == "POST":
            assert request.headers["content-type"] == "application/vnd.ims.lis.v2.lineitem+json"
            sent = json.loads(await request.body())
            made = self.add_column(
                sent["label"], sent["scoreMaximum"], sent.get("resourceLinkId"), sent.get("resourceId"), sent.get("tag")
            )
            return JSONResponse({**sent, "id": made.url}, 201)
        assert request.query_params["type_id"] == "1"
        await asyncio.sleep(self.latency)
        asked = request.query_params if self.filters else {}
        resource, tag, link = (asked.get(name) for name in ("resource_id", "tag", "resource_link_id"))
        rows = [
            {"id": one.url, "label": one.label, "scoreMaximum": one.maximum, "resourceId": one.resource_id,
             "tag": one.tag, "resourceLinkId": coupled or None}
            for one in self.columns
            if one.course == request.path_params["course"]
            and resource in (None, one.resource_id) and tag in (None, one.tag)
            for coupled in one.links or ("",)
            if link in (None, coupled)
        ]  # fmt: skip
        begin = int(request.query_params.get("from", "0"))
        headers = {}
        if begin + self.page < len(rows):
            headers["link"] = f'<{request.url.include_query_params(**{"from": begin + self.page})}>; rel="next"'
        return JSONResponse(rows[begin : begin + self.page], headers=headers)

    def _column(self, request: Request) -> Column:
        return self.columns[int(request.path_params["number"]) - 1]

    async def _scores(self, request: Request) -> Response:
        self.asked.append("score")
        how = self.broken.pop(0) if self.broken else 200
        if how == 401:
            self.tokens.clear()
        if how == "hang":
            await asyncio.Event().wait()
        if isinstance(how, int) and how != 200:
            return Response("<h1>Down for maintenance</h1>" if how >= 500 else "", how)
        if not self._may(request, f"{AGS}scope/score"):
            return Response(status_code=401)
        assert request.query_params["type_id"] == "1"
        assert request.headers["content-type"] == "application/vnd.ims.lis.v1.score+json"
        sent, now = json.loads(await request.body()), self.clock() + self.ahead
        person, column = self.people.get(sent["userId"]), self._column(request)
        place = (column.url, sent["userId"])
        self.doubled += [place] if place in self.under_way else []
        self.under_way.add(place)
        await asyncio.sleep(self.latency)
        self.under_way.discard(place)
        if person is None or person.role != "Learner":
            return JSONResponse({"status": 400, "reason": "Incorrect score received"}, 400)
        written = column.grades.get(person.subject, (None, 0.0))[1]
        # Compared in whole seconds with the own last write, whatever that write was stamped with.
        if int(datetime.fromisoformat(sent["timestamp"]).timestamp()) < int(written):
            return JSONResponse([], 409, headers={"date": formatdate(now, usegmt=True)} if self.dated else {})
        column.grades[person.subject] = (sent.get("scoreGiven"), now)
        column.scores.append(sent)
        return Response(status_code=200)

    async def _results(self, request: Request) -> Response:
        self.asked.append("results")
        if not self._may(request, f"{AGS}scope/result.readonly"):
            return Response(status_code=401)
        column, subject = self._column(request), request.query_params.get("user_id", "")
        if subject not in column.grades:
            return JSONResponse([])
        points, written = column.grades[subject]
        moment = datetime.fromtimestamp(written, UTC).isoformat()
        return JSONResponse(
            [
                {
                    "id": "1",
                    "userId": subject,
                    "resultScore": points,
                    "resultMaximum": column.maximum,
                    "timestamp": moment,
                }
            ]
        )

    async def _members(self, request: Request) -> Response:
        self.asked.append("members")
        if not self._may(request, f"{NRPS}scope/contextmembership.readonly"):
            return Response(status_code=401)
        begin, everybody = int(request.query_params.get("from", "0")), list(self.people.values())
        shown = everybody[begin : begin + self.page]
        rows = [
            {"status": "Active", "user_id": one.subject, "name": one.name, "roles": [one.role],
             "email": f"{one.subject}@example.org", "lis_person_sourcedid": f"4711-{one.subject}"}
            for one in shown
        ]  # fmt: skip
        headers = {}
        if begin + self.page < len(everybody):
            headers["link"] = f'<{self.url}/nrps/{self.context}?from={begin + self.page}>; rel="next"'
        return JSONResponse({"id": str(request.url), "context": {"id": self.context}, "members": rows}, headers=headers)
