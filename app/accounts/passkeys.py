"""Passkeys: a key pair that a device makes for this host alone. It signs a challenge that was made for one try.

Source: https://www.w3.org/TR/webauthn-3/
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import webauthn
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from app.accounts.credentials import VerifiedIdentity
from app.store.classes import RefusedError
from app.store.tables import Credential

LONGEST_ID = 2000
NO_PROOF = "That passkey could not be checked: it was made for another address, or for another try. Try again."
UNKNOWN = "No account here has this passkey. It may have been removed; sign in another way."


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """Relying party of WebAuthn: the *origin*, such as `https://learn.example.org`, and the *host* in it."""

    origin: str
    host: str


def registration_options(party: RelyingParty, name: str, have: Sequence[Credential]) -> dict[str, Any]:
    """Options for creating a passkey; a device that has one of *have* already is excluded."""
    known = [
        PublicKeyCredentialDescriptor(id=base64url_to_bytes(credential.subject))
        for credential in have
        if credential.kind == "passkey"
    ]
    options = webauthn.generate_registration_options(
        rp_id=party.host,
        rp_name="Backhand",
        user_name=name,
        # A device replaces the passkey that it has for the same user: this one says nothing of anybody.
        user_id=secrets.token_bytes(16),
        exclude_credentials=known,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.PREFERRED
        ),
    )
    return dict(json.loads(webauthn.options_to_json(options)))


def authentication_options(party: RelyingParty) -> dict[str, Any]:
    """Options for signing in with a passkey; the passkey itself names its owner."""
    return dict(json.loads(webauthn.options_to_json(webauthn.generate_authentication_options(rp_id=party.host))))


def verify_registration(party: RelyingParty, challenge: str, shown: dict[str, Any]) -> VerifiedIdentity:
    """
    Raises:
        RefusedError: *shown* is no passkey that was made for this challenge.
    """
    try:
        verification = webauthn.verify_registration_response(
            credential=shown,
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=party.host,
            expected_origin=party.origin,
        )
    except Exception as error:  # whatever untrusted bytes make of the readers of CBOR and keys
        raise RefusedError(NO_PROOF) from error
    return VerifiedIdentity(
        kind="passkey",
        issuer=party.host,
        subject=bytes_to_base64url(verification.credential_id),
        secret=bytes_to_base64url(verification.credential_public_key),
        sign_count=verification.sign_count,
    )


def shown_id(shown: dict[str, Any]) -> str:
    """The id as it is looked up; "" for what can be none."""
    credential_id = str(shown.get("id", ""))
    return (
        credential_id
        if credential_id.isascii() and credential_id.isprintable() and len(credential_id) < LONGEST_ID
        else ""
    )


def verify_authentication(
    party: RelyingParty, challenge: str, shown: dict[str, Any], credential: Credential | None
) -> VerifiedIdentity:
    """
    Raises:
        RefusedError: *shown* does not prove possession of *credential*, or it was copied: its count went back.
    """
    if credential is None or credential.secret is None:
        raise RefusedError(UNKNOWN)
    try:
        verification = webauthn.verify_authentication_response(
            credential=shown,
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=party.host,
            expected_origin=party.origin,
            credential_public_key=base64url_to_bytes(credential.secret),
            credential_current_sign_count=credential.sign_count or 0,
        )
    except Exception as error:
        raise RefusedError(NO_PROOF) from error
    return VerifiedIdentity(
        kind="passkey", issuer=party.host, subject=credential.subject, sign_count=verification.new_sign_count
    )
