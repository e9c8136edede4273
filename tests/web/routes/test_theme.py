import pytest
from starlette.testclient import TestClient


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
def test_the_chosen_theme_is_in_the_next_page_itself(client: TestClient, theme: str) -> None:
    response = client.post("/theme", data={"theme": theme, "back": "/lessons/linear"})

    assert response.url.path == "/lessons/linear"
    assert f'<html lang="en" data-theme="{theme}">' in response.text
    assert f'value="{theme}" data-quiet aria-pressed="true"' in response.text


def test_a_script_gets_nothing_to_swap(client: TestClient) -> None:
    response = client.post("/theme", data={"theme": "dark"}, headers={"hx-request": "true"})

    assert response.status_code == 204
    assert response.headers["set-cookie"].startswith("theme=dark")


@pytest.mark.parametrize("cookie", ["", "blue", "<script>"])
def test_a_theme_that_is_none_is_automatic(client: TestClient, cookie: str) -> None:
    client.cookies.set("theme", cookie)

    assert 'data-theme="auto"' in client.get("/").text


@pytest.mark.parametrize(
    "back", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:1", "", "/\r\nx: y", "/\u00e9"]
)
def test_the_way_back_stays_on_this_site(client: TestClient, back: str) -> None:
    response = client.post("/theme", data={"theme": "dark", "back": back}, follow_redirects=False)

    assert response.status_code == 303
    assert response.headers["location"] == "/"


def test_an_unknown_theme_is_refused(client: TestClient) -> None:
    assert client.post("/theme", data={"theme": "blue"}).status_code == 422
