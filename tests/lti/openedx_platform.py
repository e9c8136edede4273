"""The platform code of Open edX (`lti-consumer-xblock`) as an HTTP server, in an environment of its own.

`python openedx_platform.py PORT TOOL`. `/launch` answers what a browser would send to the tool, as JSON; the rest is
what platforms are asked by tools. What Open edX keeps in its database is in memory here. Its modules are imported where
they are used: they want Django to be ready.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import django
from Cryptodome.PublicKey import RSA
from django.conf import settings

settings.configure(
    PLATFORM_NAME="Open edX",
    SECRET_KEY="x",
    CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
    INSTALLED_APPS=["django.contrib.contenttypes", "rest_framework"],
    DATABASES={},
    USE_TZ=True,
)
django.setup()

PORT, TOOL = int(sys.argv[1]), sys.argv[2]
HERE = f"http://127.0.0.1:{PORT}"
KEY = RSA.generate(2048).export_key().decode()
AGS = "https://purl.imsglobal.org/spec/lti-ags/scope/"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
SCORES = []


def consumer(user, role, custom):
    from lti_consumer.lti_1p3.consumer import LtiAdvantageConsumer

    made = LtiAdvantageConsumer(
        iss=HERE,
        lti_oidc_url=f"{TOOL}/lti/login",
        lti_launch_url=f"{TOOL}/lti/launch",
        client_id="backhand-1",
        deployment_id="1",
        rsa_key=KEY,
        rsa_key_id="open-edx",
        redirect_uris=[f"{TOOL}/lti/launch"],
        tool_keyset_url=f"{TOOL}/lti/jwks",
    )
    made.set_user_data(user_id=user, role=role, full_name=f"Person {user}", email_address=f"{user}@example.org")
    made.set_resource_link_claim(resource_link_id="link-1", title="A lesson")
    made.set_context_claim(context_id="course-1", context_types=[], context_title="Deep Learning", context_label="DL")
    made.set_launch_presentation_claim(document_target="iframe")
    made.enable_ags(
        lineitems_url=f"{HERE}/lineitems", lineitem_url=f"{HERE}/lineitems/1", allow_programmatic_grade_interaction=True
    )
    made.enable_nrps(f"{HERE}/members")
    made.enable_deep_linking(f"{TOOL}/lti/launch", f"{HERE}/deep-link")
    if custom:
        made.set_custom_parameters(custom)
    return made


def remember(hint, kind):
    """What Open edX remembers of a launch between its first request and its second."""
    from edx_django_utils.cache import TieredCache
    from lti_consumer.data import Lti1p3LaunchData

    known = {"user_id": "x", "user_role": "student", "config_id": "c", "resource_link_id": "link-1"}
    TieredCache.set_all_tiers(hint, Lti1p3LaunchData(**known, message_type=kind))


class Handler(BaseHTTPRequestHandler):
    def answer(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def may(self, scope):
        shown = self.headers.get("authorization", "").removeprefix("Bearer ")
        try:
            return consumer("x", "student", {}).check_token(shown, [scope])
        except Exception:
            return False

    def sent(self):
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def do_GET(self):
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/jwks":
            self.answer(consumer("x", "student", {}).get_public_keyset())
        elif parts.path == "/launch":
            made = consumer(query.pop("user"), query.pop("role"), json.loads(query.pop("custom")))
            chooses = query.pop("chooses", "")
            remember(query["lti_message_hint"], "LtiDeepLinkingRequest" if chooses else "LtiResourceLinkRequest")
            self.answer(made.generate_launch_request(query))
        elif parts.path == "/scores":
            self.answer(SCORES)
        elif parts.path == "/members" and self.may(MEMBERS):
            roles = ["http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"]
            people = [{"user_id": f"n{number}", "name": f"Listed {number}", "roles": roles} for number in range(3)]
            self.answer({"id": f"{HERE}/members", "context": {"id": "course-1"}, "members": people})
        else:
            self.answer({}, 401)

    def do_POST(self):
        if self.path == "/token":
            form = {name: values[0] for name, values in parse_qs(self.sent().decode()).items()}
            self.answer(consumer("x", "student", {}).access_token(form))
        elif self.path == "/deep-link":
            form = {name: values[0] for name, values in parse_qs(self.sent().decode()).items()}
            self.answer(list(consumer("x", "student", {}).check_and_decode_deep_linking_token(form["JWT"])))
        elif self.path == "/lineitems/1/scores" and self.may(f"{AGS}score"):
            from lti_consumer.lti_1p3.extensions.rest_framework.serializers import LtiAgsScoreSerializer

            serializer = LtiAgsScoreSerializer(data=json.loads(self.sent()))
            SCORES.append({"type": self.headers["content-type"], **serializer.initial_data})
            self.answer({}, 204 if serializer else 400)
        else:
            self.answer({}, 401)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
