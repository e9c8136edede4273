import json
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.web.render import Assets, ImmutableFiles


def test_names_are_looked_up_in_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"app.js": "app-1.js", "fonts": ["fonts/a.woff2"]}))
    assets = Assets(tmp_path)

    assert assets.built
    assert assets.url("app.js") == "/static/app-1.js"
    assert assets.fonts() == ("/static/fonts/a.woff2",)


def test_without_a_build_pages_still_have_addresses(tmp_path: Path) -> None:
    assets = Assets(tmp_path)

    assert not assets.built
    assert assets.url("app.js") == "/static/app.js"
    assert assets.fonts() == ()


def test_a_file_is_kept_for_ever_and_a_missing_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "app-1.js").write_text("1")
    app = FastAPI()
    app.mount("/static", ImmutableFiles(directory=tmp_path))
    client = TestClient(app)

    whole = client.get("/static/app-1.js").headers
    assert whole["cache-control"] == "public, max-age=31536000, immutable"
    assert [name for name in ("etag", "last-modified", "accept-ranges") if name in whole] == ["etag"]
    part = client.get("/static/app-1.js", headers={"range": "bytes=0-0"})
    assert (part.status_code, part.headers["cache-control"]) == (206, "public, max-age=31536000, immutable")
    assert "cache-control" not in client.get("/static/nope.js").headers
    assert client.get("/static/../conftest.py").status_code == 404


@pytest.mark.parametrize(
    ("takes", "encoding"),
    [("gzip, deflate, br, zstd", "br"), ("br;q=0.9", "br"), ("gzip", ""), ("brown", ""), ("", "")],
)
def test_a_file_goes_as_the_build_compressed_it_to_whoever_can_read_it(
    tmp_path: Path, takes: str, encoding: str
) -> None:
    (tmp_path / "app-1.js").write_text("let one = 1")
    (tmp_path / "app-1.js.br").write_bytes(b"\x0b\x05\x80let one = 1\x03")
    (tmp_path / "alone.css").write_text("p {}")
    app = FastAPI()
    app.mount("/static", ImmutableFiles(directory=tmp_path))

    with TestClient(app).stream("GET", "/static/app-1.js", headers={"accept-encoding": takes}) as answer:
        body = b"".join(answer.iter_raw())

    assert answer.headers.get("content-encoding", "") == encoding
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert body == (b"\x0b\x05\x80let one = 1\x03" if encoding else b"let one = 1")
    assert TestClient(app).get("/static/alone.css", headers={"accept-encoding": takes}).text == "p {}"


def test_pages_are_private_and_asked_for_again(client: TestClient) -> None:
    assert client.get("/").headers["cache-control"] == "private, no-store"
