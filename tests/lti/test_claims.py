"""What is believed of a message by its times."""

import pytest

from app.lti.claims import CLAIM, Expected, check_claims
from app.lti.errors import LaunchError

NOW = 1_800_000_000.0
EXPECTED = Expected("https://m.example", "tool", "n", frozenset({"1"}), "https://t.example", NOW, 3)
SOUND = {
    "iss": "https://m.example", "aud": "tool", "exp": NOW + 60, "iat": NOW, "nonce": "n", "sub": "u",
    CLAIM + "version": "1.3.0", CLAIM + "message_type": "LtiResourceLinkRequest", CLAIM + "deployment_id": "1",
    CLAIM + "target_link_uri": "https://t.example/lti/launch",
}  # fmt: skip


@pytest.mark.parametrize(("claim", "beside"), [("exp", -9.0), ("iat", 9.0)])
def test_a_clock_may_be_wrong_by_ten_seconds(claim: str, beside: float) -> None:
    check_claims({**SOUND, claim: NOW + beside}, EXPECTED)


@pytest.mark.parametrize(("claim", "beside"), [("exp", -11.0), ("iat", 11.0)])
def test_a_clock_that_is_wrong_by_more_is_not_believed(claim: str, beside: float) -> None:
    with pytest.raises(LaunchError, match="clock"):
        check_claims({**SOUND, claim: NOW + beside}, EXPECTED)
