"""HEAD is answered like GET, without a body: on every route that can be read."""

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from tests.web.asking import Ask, asking, headers_of, path_of, routes_of

VARYING = {b"content-security-policy", b"set-cookie", b"content-length", b"x-request-id"}
"""They hold a nonce, a token, both, and the name of one request."""


def _lasting(headers):
    return [(name, value) for name, value in headers if name not in VARYING]


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_every_route_that_can_be_read_answers_head_as_it_answers_get(app: FastAPI, encoding: str) -> None:
    routes = {template for method, template in routes_of(app) if method == "GET"}
    assert len(routes) > 10
    with asking(app) as asker:
        for template in sorted(routes):
            path = path_of(template)
            got, head = (
                asker(Ask(method, path, headers_of([("accept-encoding", encoding)]))) for method in ("GET", "HEAD")
            )

            assert (head.status, head.body) == (got.status, b""), path
            assert _lasting(head.headers) == _lasting(got.headers), path


def test_head_changes_nothing_that_only_a_form_may(client: TestClient) -> None:
    assert client.head("/lessons/linear/code/linear-backward/check").status_code == 405


def test_the_length_is_that_of_the_body_that_is_not_sent(client: TestClient) -> None:
    got, head = client.get("/healthz"), client.head("/healthz")

    assert head.headers["content-length"] == got.headers["content-length"] == str(len(got.content))
    assert head.content == b""
