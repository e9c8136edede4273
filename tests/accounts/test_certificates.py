"""Whom the server trusts when it asks others."""

import ssl

from app.accounts.certificates import tls_context
from app.accounts.providers import IdentityProvider
from app.settings import Provider


def test_a_host_shows_a_certificate_for_its_name() -> None:
    assert tls_context().verify_mode is ssl.CERT_REQUIRED
    assert tls_context().check_hostname


def test_every_provider_is_asked_with_the_certificates_that_were_read_once() -> None:
    keys = {"title": "Campus", "issuer": "https://campus.example", "client_id": "backhand", "client_secret": "secret"}
    providers = [IdentityProvider(name, Provider.model_validate(keys)) for name in ("campus", "other")]

    assert [one._client.client_kwargs["verify"] is tls_context() for one in providers] == [True, True]
