"""Where an address with a slash too many leads."""

import pytest
from starlette.testclient import TestClient

from tests.web.asking import Ask, asking


@pytest.mark.parametrize("path", ["/lessons/linear/", "/finish/", "/lessons/linear/?ask=weights", "/units/layers/"])
def test_a_slash_too_many_is_taken_away_without_naming_a_scheme_or_a_host(client: TestClient, path: str) -> None:
    answer = client.get(path, follow_redirects=False)

    assert answer.status_code == 307
    assert answer.headers["location"] == path.replace("/?", "?").rstrip("/")


@pytest.mark.parametrize("path", ["/lessons/nothing/", "/nothing/"])
def test_what_is_not_there_is_not_there_with_a_slash_either(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("target", ["//elsewhere.example/", "//elsewhere.example/lessons/linear/", "/%5Celsewhere/"])
def test_no_path_leads_to_another_host(app, target: str) -> None:
    with asking(app) as ask:
        answer = ask(Ask("GET", target))

    assert answer.status == 404
    assert not answer.header("location")
