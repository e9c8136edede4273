import re

import pytest
from starlette.datastructures import Headers
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.settings import Settings
from app.web.application import create_app
from app.web.middleware.security import BODY_BYTES, is_same_site
from app.web.render import Assets, first_cookie
from tests.web.conftest import BROWSER

LESSON = "/lessons/linear"
QUIZ = f"{LESSON}/quiz/half"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{}'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HOST = {"host": "course.example"}
COOKIE = {"cookie": "session=x"}


@pytest.mark.parametrize(
    ("headers", "accepted"),
    [
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "nonsense"}, False),
        ({"sec-fetch-site": "cross-site", "origin": "https://course.example"}, False),
        ({"origin": "https://course.example"}, True),
        ({"origin": "http://COURSE.example"}, True),
        ({"origin": "https://course.example", **COOKIE}, True),
        ({"origin": "https://course.example:8443"}, False),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "https://course.example.evil.example"}, False),
        ({"origin": "https://evil.example/course.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://[::1"}, False),
        ({"origin": "http://course.example@evil.example"}, False),
        ({"origin": ""}, False),
        ({}, True),
        (COOKIE, False),
    ],
    ids=str,
)
def test_a_form_is_accepted_only_from_this_site(headers: dict[str, str], accepted: bool) -> None:
    assert is_same_site(Headers({**HOST, **headers}), secure=False) is accepted


@pytest.mark.parametrize(
    ("origin", "secure", "accepted"),
    [
        ("https://course.example", True, True),
        ("http://course.example", True, False),
        ("http://course.example", False, True),
        ("evil://course.example", False, False),
        ("evil://course.example", True, False),
        ("://course.example", False, False),
        ("course.example", False, False),
    ],
)
def test_an_origin_counts_with_its_scheme(origin: str, secure: bool, accepted: bool) -> None:
    assert is_same_site(Headers({**HOST, "origin": origin}), secure=secure) is accepted


@pytest.mark.parametrize("path", [QUIZ, f"{LESSON}/code/linear-backward/draft", "/theme", "/nope"])
def test_a_forged_form_changes_nothing_and_gets_a_clear_page(client: TestClient, path: str) -> None:
    data = {"answer": "0.5", "code": "x", "revision": 0, "theme": "dark"}
    response = client.post(path, data=data, headers={"sec-fetch-site": "cross-site"})

    assert response.status_code == 403
    assert "another site" in response.text
    assert "set-cookie" not in response.headers
    assert "0/8" in client.get("/").text


def test_a_forged_link_may_be_read(client: TestClient) -> None:
    assert client.get(LESSON, headers={"sec-fetch-site": "cross-site"}).status_code == 200


@pytest.mark.parametrize("path", ["/", LESSON, "/nope", "/healthz", "/static/nope.js", Assets().url("app.css")])
def test_every_answer_carries_the_policy_and_its_fellows(client: TestClient, path: str) -> None:
    headers = client.get(path).headers

    policy = headers["content-security-policy"]
    nonce = re.search(r"'nonce-([\w-]{20,})'", policy)
    assert policy == (POLICY.format(nonce[1]) if nonce else "default-src 'none'; frame-ancestors 'none'")
    assert (nonce is not None) == headers["content-type"].startswith("text/html")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "strict-transport-security" not in headers


@pytest.mark.parametrize("path", ["/", LESSON, "/nope"])
def test_a_page_asks_its_browser_for_no_camera_and_no_place(client: TestClient, path: str) -> None:
    policy = client.get(path).headers["permissions-policy"]

    assert {"camera=()", "geolocation=()", "storage-access=(self)"} <= set(policy.split(", "))


def test_the_nonce_is_new_each_time_and_stands_in_the_page(client: TestClient) -> None:
    first, second = client.get("/"), client.get("/")
    nonces = [re.search(r"nonce-([\w-]+)", one.headers["content-security-policy"])[1] for one in (first, second)]

    assert nonces[0] != nonces[1]
    assert f'nonce="{nonces[0]}"' in first.text


def test_pages_hold_no_inline_script_or_style(client: TestClient) -> None:
    client.post(f"{LESSON}/code/linear-backward/check", data={"code": "x", "revision": 0})
    for path in ("/", LESSON, "/units/layers", "/nope"):
        text = client.get(path).text
        assert not re.search(r"\sstyle=|\son\w+=|hx-on|javascript:|<style", text)
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))


def test_a_page_that_failed_carries_the_headers_and_no_trace(client: TestClient, monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("app.web.routes.answers.quiz_view", broken)
    response = client.post(QUIZ, data={"answer": "0.5"})
    assert response.status_code == 500
    assert "Our fault, not yours" in response.text
    assert "secret detail" not in response.text
    assert "Traceback" not in response.text
    assert "content-security-policy" in response.headers


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_beyond_the_limit_is_refused_with_a_clear_page(client: TestClient, declared: bool) -> None:
    body = b"answer=" + b"1" * BODY_BYTES
    headers = {"content-type": "application/x-www-form-urlencoded"}
    content = body if declared else iter([body[: BODY_BYTES // 2], body[BODY_BYTES // 2 :]])
    response = client.post(QUIZ, content=content, headers=headers)

    assert response.status_code == 413
    assert "256 KiB" in response.text
    assert "content-security-policy" in response.headers


@pytest.mark.parametrize("host", ["", "a b", "evil\u00e9", "x/y", "host:port", "a@b"])
def test_a_host_that_is_none_is_refused(client: TestClient, host: str) -> None:
    response = client.get("/", headers={b"host": host.encode()})

    assert response.status_code == 400


def test_two_hosts_are_none(client: TestClient) -> None:
    response = client.get("/", headers=[("host", "localhost"), ("host", "evil.example")])

    assert response.status_code == 400


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        ("session=a", "a"),
        ("theme=dark; session=a", "a"),
        ("  session=a;theme=dark", "a"),
        ("session=a; session=b", "a"),
        ("xsession=a; session", ""),
        ("session = a", ""),
        ('session="a\\"b"', '"a\\"b"'),
        ("=; ; ;session=a=b", "a=b"),
        ("", ""),
    ],
)
def test_a_cookie_is_read_as_it_stands(sent: str, found: str) -> None:
    assert first_cookie(Headers({"cookie": sent}), "session") == found


def test_no_quoted_cookie_reaches_a_parser_and_the_session_counts(client: TestClient, monkeypatch) -> None:
    client.get(LESSON)
    parsed: list[str] = []
    monkeypatch.setattr("http.cookies._unquote", lambda value: parsed.append(value) or value)
    cookies = f'a="b\\\\"; session={client.cookies["session"]}; other="; theme="{chr(92) * 100}'

    answer = client.get(LESSON, headers={"cookie": cookies})

    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    assert client.cookies["session"] in parsed
    assert not [value for value in parsed if '"' in value]


def test_a_proxy_that_speaks_tls_is_asked_about_cookies_once(client: TestClient, capsys) -> None:
    for _ in range(3):
        client.get("/healthz", headers={"x-forwarded-proto": "https"})

    assert "".join(capsys.readouterr()).count("BACKHAND_SECURE_COOKIES") == 1


@pytest.mark.parametrize("host", ["localhost:8000", "course.example", "[::1]:8000", "127.0.0.1"])
def test_usual_hosts_are_served(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe%00%ff=%zz&answer", b"answer=%ed%a0%80", b"", b"a=b&" * 5000],
    ids=["bytes", "surrogate", "empty", "many"],
)
def test_no_form_breaks_the_server(client: TestClient, content: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}

    assert client.post(QUIZ, content=content, headers=headers).status_code in (200, 400, 422)


def test_a_broken_multipart_form_is_a_clear_page(client: TestClient) -> None:
    headers = {"content-type": "multipart/form-data; boundary=x"}
    response = client.post(QUIZ, content=b"--y\r\nno: header\r\n\r\nnonsense", headers=headers)

    assert response.status_code == 400
    assert "<h1>" in response.text


def test_an_error_in_a_swap_goes_into_the_target_and_leaves_it_there(client: TestClient) -> None:
    response = client.post(f"{LESSON}/quiz/nope", headers={"hx-request": "true"})

    assert response.status_code == 404
    assert response.headers["hx-reswap"] == "innerHTML"
    assert "<html" not in response.text


class TestSessions:
    def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(self, client: TestClient) -> None:
        cookie = client.get(LESSON).headers["set-cookie"]

        assert re.match(r"session=[\w-]{43}; Path=/; Max-Age=\d+; HttpOnly; SameSite=Lax$", cookie)

    def test_a_token_that_was_planted_is_never_adopted(self, client: TestClient) -> None:
        planted = "A" * 43
        client.cookies.set("session", planted)
        cookie = client.get(LESSON).headers["set-cookie"]

        assert planted not in cookie

    def test_a_known_session_is_not_sent_again(self, client: TestClient) -> None:
        client.get(LESSON)

        assert "set-cookie" not in client.get(LESSON).headers
        assert "set-cookie" not in client.post(QUIZ, data={"answer": "1"}, follow_redirects=False).headers

    @pytest.mark.parametrize("token", ["", "x", "\u00e9", "x" * 5000, "a=b; c", "' OR 1=1 --"])
    def test_no_cookie_breaks_the_server(self, client: TestClient, token: str) -> None:
        response = client.get(LESSON, headers={b"cookie": b"session=" + token.encode()})

        assert response.status_code == 200

    def test_behind_tls_the_cookie_is_bound_to_the_host(self, tmp_path, course: Course, grader) -> None:
        settings = Settings(data_dir=tmp_path / "tls", secure_cookies=True)
        headers = BROWSER
        with TestClient(
            create_app(settings, course, grader), base_url="https://course.example", headers=headers
        ) as tls:
            response = tls.get(LESSON)
            theme = tls.post("/theme", data={"theme": "dark"}, follow_redirects=False).headers["set-cookie"]

        assert response.headers["set-cookie"].startswith("__Host-session=")
        assert "; Secure" in response.headers["set-cookie"]
        assert "; Secure" in theme
        assert response.headers["strict-transport-security"].startswith("max-age=")

    def test_behind_tls_a_form_of_a_page_without_it_is_refused(self, tmp_path, course: Course, grader) -> None:
        settings = Settings(data_dir=tmp_path / "tls", secure_cookies=True)
        with TestClient(create_app(settings, course, grader), base_url="https://course.example") as tls:
            for origin, status in (("http://course.example", 403), ("https://course.example", 303)):
                sent = tls.post("/theme", data={"theme": "dark"}, headers={"origin": origin}, follow_redirects=False)
                assert sent.status_code == status

    def test_behind_tls_each_cookie_of_signing_in_is_bound_to_the_host(self, tmp_path, course: Course, grader) -> None:
        """Else a subdomain could plant its own sign-in."""
        settings = Settings(data_dir=tmp_path / "tls", secure_cookies=True)
        with TestClient(
            create_app(settings, course, grader), base_url="https://course.example", headers=BROWSER
        ) as tls:
            asked = tls.post("/sign-in/passkey/ask", json={})
            named = {"name": "Ada", "password": "seven times eight"}
            made = tls.post("/sign-in/name", data=named, follow_redirects=False)
            page = tls.get("/sign-in").text

        cookies = [*asked.headers.get_list("set-cookie"), *made.headers.get_list("set-cookie")]
        assert {one.partition("=")[0] for one in cookies} == {"__Host-challenge", "__Host-way", "__Host-session"}
        assert all("; Secure" in one and "; Path=/;" in f"{one};" and "Domain" not in one for one in cookies)
        assert re.search(
            r'class="way" id="password"', page.partition('class="way"')[1] + page.partition('class="way"')[2]
        )


@pytest.mark.parametrize("path", ["/", "/units/layers", "/lessons/linear", "/lessons/nope", "/nowhere"])
def test_where_the_sandbox_may_be_missing_every_page_says_so(
    client: TestClient, settings: Settings, course: Course, grader, path: str
) -> None:
    unsafe = create_app(settings.model_copy(update={"unsafe_no_sandbox": True}), course, grader)

    with TestClient(unsafe, headers={"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}) as warned:
        assert "Code may run without the filter that confines it" in warned.get(path).text
    assert "without the filter" not in client.get(path).text
