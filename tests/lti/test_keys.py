"""Keys of this server: published, encrypted, rotated."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from sqlalchemy import select

from app.lti import keys
from app.lti.errors import LaunchError
from app.lti.keys import PlatformKeys, encryption_in, make_keys, published_keys, rotate_keys, sign_claims
from app.lti.platform_client import Answer
from app.store.classes import RefusedError
from app.store.database import Database
from app.store.tables import LtiKey, LtiPlatform
from tests.lti.platform import KEYS, with_keys_made_before

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _quick_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with_keys_made_before(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "secret"


async def shown(database: Database) -> list[str]:
    async with database.read() as db:
        return [key["kid"] for key in (await published_keys(db))["keys"]]


async def signing(database: Database, path: Path) -> str:
    async with database.read() as db:
        token = await sign_claims(db, path, {"sub": "x"})
        keys = KeySet.import_key_set(await published_keys(db))
    return str(jwt.decode(token, keys, algorithms=["RS256"]).header["kid"])


async def test_the_next_key_is_shown_before_it_signs_and_the_old_one_after(database: Database, path: Path) -> None:
    async with database.write() as db:
        await make_keys(db, encryption_in(path, make=True))
        await make_keys(db, encryption_in(path))
    upcoming, first = await shown(database)
    assert await signing(database, path) == first

    async with database.write() as db:
        await rotate_keys(db, encryption_in(path))
    assert await signing(database, path) == upcoming
    assert (await shown(database))[1:] == [upcoming, first]
    for _ in range(2):
        async with database.write() as db:
            await rotate_keys(db, encryption_in(path))

    assert len(await shown(database)) == 3
    assert first not in await shown(database)


async def test_nothing_private_is_shown_and_nothing_readable_is_stored(database: Database, path: Path) -> None:
    async with database.write() as db:
        await make_keys(db, encryption_in(path, make=True))
        rows = (await db.scalars(select(LtiKey))).all()

    assert path.stat().st_mode & 0o777 == 0o600
    for row in rows:
        assert set(json.loads(row.public_json)) == {"kty", "n", "e", "kid", "alg", "use"}
        assert "PRIVATE" not in row.private
        assert b"PRIVATE KEY" in encryption_in(path).decrypt(row.private.encode())


async def test_another_secret_is_told_with_the_way_out(database: Database, path: Path, tmp_path: Path) -> None:
    async with database.write() as db:
        await make_keys(db, encryption_in(path, make=True))
    encryption_in(tmp_path / "other", make=True)

    async with database.read() as db:
        with pytest.raises(RefusedError, match="rotate --anew"):
            await sign_claims(db, tmp_path / "other", {})
        with pytest.raises(RefusedError, match="cannot be read"):
            await sign_claims(db, tmp_path / "none", {})
    (tmp_path / "bad").write_text("short")
    with pytest.raises(RefusedError, match="no secret"):
        encryption_in(tmp_path / "bad")

    async with database.write() as db:
        await rotate_keys(db, encryption_in(tmp_path / "other"), revoke=True)
    assert await signing(database, tmp_path / "other")


async def test_without_a_key_nothing_is_signed(database: Database, path: Path) -> None:
    async with database.read() as db:
        assert await published_keys(db) == {"keys": []}
        with pytest.raises(RefusedError, match="lti add"):
            await sign_claims(db, path, {})


class TwoPlatforms:
    """Answers for two platforms, each with a key of its own that is called as its host."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, platform: LtiPlatform, *_: object, **__: object) -> Answer:
        self.asked.append(platform.jwks_url)
        key = KEYS[("a", "b").index(platform.jwks_url)].as_dict(private=False)
        return Answer(200, {}, json.dumps({"keys": [{**key, "kid": f"key of {platform.jwks_url}"}]}).encode())


async def test_a_key_of_one_platform_is_none_of_another() -> None:
    keys = PlatformKeys(TwoPlatforms())  # type: ignore[arg-type]
    first, second = (LtiPlatform(jwks_url=url, name=url) for url in ("a", "b"))

    assert (await keys.find(second, "key of b")).kid == "key of b"
    for _ in range(2):
        with pytest.raises(LaunchError, match="does not show"):
            await keys.find(first, "key of b")


async def test_keys_are_kept_for_an_hour_and_asked_for_anew_then(monkeypatch: pytest.MonkeyPatch) -> None:
    moment, client, platform = [5.0], TwoPlatforms(), LtiPlatform(jwks_url="a", name="a")
    monkeypatch.setattr(keys, "time", SimpleNamespace(monotonic=lambda: moment[0]))
    known = PlatformKeys(client)  # type: ignore[arg-type]
    for later, asked in ((0.0, 1), (3599.0, 1), (3602.0, 2)):
        moment[0] = 5.0 + later
        await known.find(platform, "key of a")
        assert len(client.asked) == asked


@pytest.mark.parametrize(
    "row",
    [
        None,
        {},
        {"kty": "oct", "k": "AAAA", "kid": "a"},
        {**KEYS[0].as_dict(private=False), "kid": "a", "use": "enc"},
        {**KEYS[0].as_dict(private=True), "kid": "a"},
        {**KEYS[0].as_dict(private=False), "kid": "a", "n": "!"},
    ],
)
def test_what_is_no_key_for_signatures_is_left_out(row: object) -> None:
    assert keys._rsa_key(row) is None
    assert keys._rsa_key({**KEYS[0].as_dict(private=False), "kid": "a"}) is not None


def test_a_short_key_of_a_platform_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "KEY_BITS", 4096)

    assert keys._rsa_key({**KEYS[0].as_dict(private=False), "kid": "a"}) is None
