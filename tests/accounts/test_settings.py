"""Each wrong setting of the ways to sign in says a sentence, and none of them a secret."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from app.settings import Settings

KEYS = {"title": "Campus", "issuer": "https://login.example.edu", "client_id": "id", "client_secret": "hidden"}
HERE = {"address": "https://learn.example.org"}


def oidc(name: str = "campus", **change: Any) -> str:
    found = {**KEYS, **change}
    return json.dumps({name: {key: value for key, value in found.items() if value is not None}})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"address": "learn.example.org"}, "It wants a scheme and a host and nothing else"),
        ({"address": "https://learn.example.org/here"}, "It wants a scheme and a host and nothing else"),
        ({"address": "https://learn.example.org/here"}, "a path belongs into BACKHAND_PREFIX"),
        ({"address": "https://learn.example.org/?x"}, "It wants a scheme and a host and nothing else"),
        ({"address": "https://user:hidden@learn.example.org"}, "It wants a scheme and a host and nothing else"),
        ({"address": "https://learn.example.org:x"}, "It wants a scheme and a host and nothing else"),
        ({"oidc": oidc()}, "set BACKHAND_ADDRESS"),
        ({**HERE, "oidc": "campus"}, "It wants {\"campus\": "),
        ({**HERE, "oidc": "[]"}, "It wants {\"campus\": "),
        ({**HERE, "oidc": oidc(issuer="login.example.edu")}, "seen: campus.issuer"),
        ({**HERE, "oidc": oidc(client_id=None)}, "seen: campus.client_id Field required"),
        ({**HERE, "oidc": oidc(scope="x")}, "seen: campus.scope"),
        ({**HERE, "oidc": oidc("email")}, "is no word of ours; seen: email"),
        ({**HERE, "oidc": oidc("A B")}, "is no word of ours; seen: A B"),
        ({"smtp": "smtp://mail", "mail_from": "a@b.org"}, "set BACKHAND_ADDRESS"),
        ({**HERE, "smtp": "mail:587", "mail_from": "a@b.org"}, "It wants smtp://user:password@host:587"),
        ({**HERE, "smtp": "smtp://u:hidden@mail:x", "mail_from": "a@b.org"}, "It wants smtp://user:password@host:587"),
        ({**HERE, "smtp": "smtp://mail"}, "Letters need a sender"),
        ({"hosts": "a.org,b.org"}, "with spaces between"),
        ({"proxy_header": "X-User"}, "beside BACKHAND_PROXY_HEADER"),
        ({"proxy_addresses": "*"}, "* is none"),
        ({"proxy_addresses": "10.0.0.1 0.0.0.0/0"}, "0.0.0.0/0 is every address"),
        ({"proxy_addresses": "::/0"}, "::/0 is every address"),
        ({"proxy_header": "X-User", "proxy_addresses": "10.0.0.1 proxy"}, "proxy is none"),
        ({"prefix": "learn"}, "It wants a path such as /learn"),
        ({"prefix": "/learn/"}, "It wants a path such as /learn"),
        ({"prefix": "/"}, "It wants a path such as /learn"),
        ({"prefix": "//"}, "It wants a path such as /learn"),
        ({"prefix": "//learn"}, "It wants a path such as /learn"),
        ({"prefix": "/a//b"}, "It wants a path such as /learn"),
        ({"prefix": "/.."}, "It wants a path such as /learn"),
        ({"prefix": "/a/../b"}, "It wants a path such as /learn"),
        ({"prefix": "/le%61rn"}, "It wants a path such as /learn"),
        ({"prefix": "/learn?x"}, "It wants a path such as /learn"),
        ({"prefix": "/learn\n"}, "It wants a path such as /learn"),
        ({"prefix": "https://example.org/learn"}, "It wants a path such as /learn"),
        ({"prefix": "/lessons"}, "Pages of Backhand are at /lessons already"),
        ({"prefix": "/static/here"}, "Pages of Backhand are at /static already"),
        ({"sign_in_tries_per_minute": -1}, "greater than or equal to 0"),
    ],
)  # fmt: skip
def test_a_wrong_setting_says_what_it_wants(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings(**values)

    whole = "; ".join(one["msg"] for one in refused.value.errors())
    assert said in whole
    assert "hidden" not in whole


def test_right_ones_are_taken() -> None:
    found = Settings(
        address="https://learn.example.org/", oidc=oidc(client_secret=None), smtp="smtps://mail", mail_from="a@b.org",
        proxy_header="X-User", proxy_addresses="10.0.0.0/8 fd00::1",
    )  # fmt: skip

    assert found.address == "https://learn.example.org"
    assert found.providers["campus"].issuer == "https://login.example.edu"
    assert "hidden" not in repr(Settings(**HERE, oidc=oidc(), smtp="smtp://u:hidden@mail", mail_from="a@b.org"))
