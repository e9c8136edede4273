"""Signing in elsewhere: at a campus, at Google (OpenID Connect), or at GitHub (OAuth alone).

What is asked for goes into a ticket of the browser, so an answer counts once and there: the state, the
nonce and the verifier (PKCE) never leave it. A person is known by the issuer with its subject, and never by an address.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
from authlib.integrations.starlette_client import OAuth

from app.accounts.certificates import tls_context
from app.accounts.credentials import VerifiedIdentity
from app.settings import Provider
from app.store.classes import RefusedError
from app.store.tables import NAME_LENGTH
from app.teaching.text_input import one_line

PROVIDER_SECONDS = 10.0


class ProviderUnavailableError(Exception):
    """An identity provider that does not answer, or answers wrongly; the message is for the person who signs in."""


@dataclass(frozen=True, slots=True)
class OAuthEndpoints:
    """Provider without OpenID Connect: its addresses, and where its answer holds a person's id."""

    authorize_url: str
    access_token_url: str
    user_url: str
    scope: str
    subject: str


WITHOUT_OPENID = {
    "https://github.com": OAuthEndpoints(
        "https://github.com/login/oauth/authorize",
        "https://github.com/login/oauth/access_token",
        "https://api.github.com/user",
        "read:user",
        "id",
    )
}


class IdentityProvider:
    """One provider; *name* is how addresses call it."""

    def __init__(self, name: str, provider: Provider) -> None:
        self.name = name
        self.title = provider.title
        self.roster_claim = provider.roster_claim
        self.issuer = provider.issuer.rstrip("/")
        self._plain = WITHOUT_OPENID.get(self.issuer)
        keys = {"client_id": provider.client_id, "client_secret": provider.client_secret or None}
        kwargs = {"code_challenge_method": "S256", "timeout": PROVIDER_SECONDS, "verify": tls_context()}
        if self._plain is not None:
            auth_endpoints = self._plain
            addresses = {
                "authorize_url": auth_endpoints.authorize_url,
                "access_token_url": auth_endpoints.access_token_url,
            }
            kwargs["scope"] = auth_endpoints.scope
        else:
            addresses = {"server_metadata_url": f"{self.issuer}/.well-known/openid-configuration"}
            kwargs["scope"] = provider.scopes
        self._client: Any = OAuth().register(name, **keys, **addresses, client_kwargs=kwargs)

    async def question(self, back: str) -> dict[str, str]:
        """Start a sign-in: the address to send the browser to (`url`), and the data to store until it comes *back*.

        Raises:
            ProviderUnavailableError: The provider does not answer.
        """
        try:
            return {**await self._client.create_authorization_url(back), "redirect_uri": back}
        except (httpx2.HTTPError, ValueError, RuntimeError) as error:
            raise self._away() from error

    async def answer(self, pending: dict[str, str], answer: dict[str, str]) -> VerifiedIdentity:
        """Verify the provider's *answer* to a *pending* sign-in.

        Raises:
            RefusedError: It is no answer to that, or it says no.
            ProviderUnavailableError: The provider does not answer.
        """
        state, code = answer.get("state", ""), answer.get("code", "")
        if not secrets.compare_digest(state.encode(), pending["state"].encode()):
            raise RefusedError("That answer belongs to another question. Begin again.")
        if not code:
            raise RefusedError(f"{self.title} did not let you in, or you went back. Nothing was changed.")
        words = {"redirect_uri": pending["redirect_uri"], "code_verifier": pending["code_verifier"]}
        try:
            token = await self._client.fetch_access_token(code=code, **words)
            return await (self._by_api(token) if self._plain else self._by_token(token, pending["nonce"]))
        except httpx2.HTTPError as error:
            raise self._away() from error
        except RefusedError:
            raise
        except Exception as error:
            # Whatever the libraries say of a token that is not as it should be: it proves nothing.
            raise RefusedError(f"What {self.title} said could not be believed. Begin again.") from error

    async def _by_token(self, token: dict[str, Any], nonce: str) -> VerifiedIdentity:
        claims = await self._client.parse_id_token(token, nonce=nonce)
        if claims is None or str(claims["iss"]).rstrip("/") != self.issuer:
            raise RefusedError(f"What came back is not from {self.title}. Begin again.")
        name = claims.get("name") or claims.get("preferred_username")
        roster_id = await self._roster_id(claims, token)
        return VerifiedIdentity(
            kind="oidc", issuer=self.issuer, subject=str(claims["sub"]), name=str(name or ""), roster_id=roster_id
        )

    async def _roster_id(self, claims: Mapping[str, Any], token: dict[str, Any]) -> str | None:
        """The id at the school, from the token of the id or else from what the provider tells of its user."""
        if not self.roster_claim:
            return None
        value = claims.get(self.roster_claim)
        if value is None and (await self._client.load_server_metadata()).get("userinfo_endpoint"):
            user = await self._client.userinfo(token=token)
            value = user.get(self.roster_claim) if user.get("sub") == claims["sub"] else None
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        known = isinstance(value, str | int) and not isinstance(value, bool)
        return one_line(str(value))[:NAME_LENGTH] or None if known else None

    async def _by_api(self, token: dict[str, Any]) -> VerifiedIdentity:
        assert self._plain is not None
        answer = await self._client.get(self._plain.user_url, token=token)
        answer.raise_for_status()
        user = answer.json()
        name = user.get("name") or user.get("login")
        value = user.get(self.roster_claim) if self.roster_claim else None
        roster_id = one_line(str(value))[:NAME_LENGTH] if value else None
        subject = str(user[self._plain.subject])
        return VerifiedIdentity(
            kind="oidc", issuer=self.issuer, subject=subject, name=str(name or ""), roster_id=roster_id
        )

    def _away(self) -> ProviderUnavailableError:
        host = urlsplit(self.issuer).hostname
        return ProviderUnavailableError(
            f"{self.title} ({host}) does not answer. Nothing is lost: try again, or sign in another way."
        )
