"""The ways to sign in that this server has."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from app.accounts.mail import Mailer
from app.accounts.passkeys import RelyingParty
from app.accounts.providers import IdentityProvider
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class SignInOptions:
    """Sign-in methods of this server. *letters* is set with a mail server.

    From *proxies*, the name in *header* is trusted.
    A link that leads back here begins with *base_url*; its scheme and host are the *address*.
    """

    address: str
    base_url: str
    providers: Mapping[str, IdentityProvider]
    letters: Mailer | None
    header: str
    proxies: tuple[str, ...]

    @property
    def rosters(self) -> tuple[IdentityProvider, ...]:
        """Providers that give a person's roster id; if there are any, ids cannot be typed."""
        return tuple(
            identity_provider for identity_provider in self.providers.values() if identity_provider.roster_claim
        )

    def user_of(self, peer: str, shown: list[str]) -> str:
        """User named by the trusted proxy *peer* in the headers *shown*; "" if there is none."""
        if not self.header or len(shown) != 1 or not shown[0].isprintable():
            return ""
        try:
            address = ip_address(peer)
        except ValueError:
            return ""
        return shown[0].strip() if any(address in ip_network(proxy) for proxy in self.proxies) else ""

    def here(self, authority: str, *, secure: bool) -> RelyingParty:
        """Relying party of this server; *authority* is the Host of the request."""
        origin = self.address or f"{'https' if secure else 'http'}://{authority}"
        host = origin.partition("://")[2]
        return RelyingParty(origin, host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0])


def doors_of(settings: Settings) -> SignInOptions:
    letters = Mailer(settings.smtp, settings.mail_from) if settings.smtp else None
    providers = {name: IdentityProvider(name, provider) for name, provider in settings.providers.items()}
    proxies = tuple(settings.proxy_addresses.split())
    return SignInOptions(settings.address, settings.base_url, providers, letters, settings.proxy_header, proxies)
