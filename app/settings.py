"""Deployment settings, read once from the environment (`BACKHAND_*`) and frozen."""

import math
import os
import re
from datetime import date
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.installation import DATABASE, default_data_dir, default_lessons

PREFIX = "BACKHAND_"
LTI_SECRET = "lti-secret"
DATABASES = ("postgresql", "sqlite")
ADDRESS = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?/?", re.IGNORECASE)
PATH_PREFIX = re.compile(r"(/[A-Za-z0-9_-]+)+")
OWN_PATHS = frozenset(
    {
        "accessibility", "authors", "classes", "embedded", "finish", "healthz", "imprint", "join", "lessons", "lti",
        "me", "metrics", "names", "pictures", "practice", "privacy", "readyz", "reports", "seeing", "sign-in",
        "sign-out", "static", "theme", "torch", "units",
    }
)  # fmt: skip
"""What an address of the site begins with: behind a proxy that takes a prefix away nobody could tell one from it."""
OWN_WORDS = frozenset({"passkey", "email", "code", "password", "name", "proxy", "reset"})
"""What stands after `/sign-in/` already."""
PROVIDERS_FORM = 'It wants {"campus": {"title": ..., "issuer": "https://...", "client_id": ..., "client_secret": ...}}'
OPERATOR_PAGES = ("privacy", "imprint", "accessibility")
BROKERS = ("nats", "tls", "ws", "wss")


class Provider(BaseModel):
    """Identity provider for signing in. *title* is its name on the pages.

    With a *roster_claim*, that claim is a learner's id in the rosters of classes; *scopes* are what is asked for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field(min_length=1)
    issuer: str = Field(pattern="^https?://[^/ ]+[^ ]*$")
    client_id: str = Field(min_length=1)
    client_secret: str = Field(default="", repr=False)
    roster_claim: str = Field(default="", max_length=200)
    scopes: str = Field(default="openid profile", pattern=r"^openid( [!#-\[\]-~]+)*$")


_PROVIDERS = TypeAdapter(dict[str, Provider])


class Settings(BaseSettings):
    """Every setting of a deployment; each has a default that needs nothing."""

    # What a file for containers leaves empty is not set: an empty path would be the folder that one stands in.
    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="ignore")

    database_url: str = Field(
        default="", repr=False, description="SQLAlchemy URL; empty means SQLite in the data directory."
    )
    lessons: Path = Field(default_factory=default_lessons, description="Folder of the course.")
    data_dir: Path = Field(default_factory=default_data_dir, description="Folder for the database and the facts cache.")
    graders: int = Field(default_factory=lambda: max(1, min(4, os.cpu_count() or 1)), ge=1, le=64)
    nats_url: str = Field(default="", repr=False, description="A NATS broker; graders on other machines are behind it.")
    nats_nkey: Path | None = Field(default=None, description="File with the nkey seed for the broker.")
    checks_per_minute: int = Field(
        default=30, ge=0, description="Checks, runs, nudges and training starts of one learner; 0 for no limit."
    )
    changes_per_minute: int = Field(
        default=240, ge=0, description="Answers and saves of one learner; a text is saved every second. 0 for no limit."
    )
    new_learners_per_minute: int = Field(
        default=300, ge=0, description="From one address; a class may come at once. 0 for no limit."
    )
    sign_in_tries_per_minute: int = Field(
        default=10, ge=0, description="That fail, of one address or for one name; 0 for no limit."
    )
    replicas: int = Field(
        default=1, ge=1, le=256, description="Servers of one PostgreSQL; each allows its share of every limit."
    )
    hosts: str = Field(
        default="", description="Names that requests may ask for; empty means any, or those of this machine alone."
    )
    operator_token: str = Field(
        default="", repr=False, description="Whoever sends it as a bearer token may read /metrics and all of /readyz."
    )
    unsafe_no_sandbox: bool = Field(default=False, description="Run code where seccomp is missing; 127.0.0.1 only.")
    require_landlock: bool = Field(default=False, description="Refuse code where Landlock is missing.")
    cgroup: Path | None = Field(default=None, description="A control group in which each zygote makes its own.")
    secure_cookies: bool = Field(default=False, description="Behind TLS: __Host- cookies with Secure.")
    shared_by: int = Field(
        default=3, ge=2, le=100, description="So many learners share a mistake before a class is shown their line."
    )
    address: str = Field(default="", description="Where browsers reach this server, such as https://learn.example.org.")
    prefix: str = Field(default="", description="The path that the site is below on its host, such as /learn.")
    oidc: str = Field(default="", repr=False, description="JSON: providers to sign in at, by name, see `Provider`.")
    smtp: str = Field(default="", repr=False, description="The mail server that codes are sent by; none sends none.")
    mail_from: str = Field(default="", validate_default=True, description="The sender of codes.")
    secret_key_file: Path | None = Field(
        default=None,
        description="File with the secret for keys in the database; default: lti-secret in the data folder.",
    )
    proxy_header: str = Field(default="", description="In which a proxy says who somebody is.")
    proxy_addresses: str = Field(
        default="",
        validate_default=True,
        description="Of the proxies, and their networks, that may say where a request comes from.",
    )
    pages: Path | None = Field(
        default=None, description="Folder with privacy.md, imprint.md or accessibility.md in place of those shipped."
    )
    contact: str = Field(default="", description="Who is asked about privacy and accessibility: an address, or words.")
    statement_date: date | None = Field(
        default=None, description="Of the accessibility statement, such as 2027-01-31; default: of the one shipped."
    )
    names: Path | None = Field(default=None, description="A list of names for the character model.")
    demo: bool = Field(
        default=False, description="A public demonstration: no accounts, no classes; work is deleted after a day."
    )

    @field_validator("database_url")
    @classmethod
    def _of_a_known_kind(cls, url: str) -> str:
        if url and url.partition(":")[0].partition("+")[0] not in DATABASES:
            raise ValueError("It wants postgresql+psycopg://user:password@host/name, or sqlite+aiosqlite:///file")
        return url

    @field_validator("nats_url")
    @classmethod
    def _of_a_broker(cls, url: str) -> str:
        if url and (urlsplit(url).scheme not in BROKERS or not urlsplit(url).hostname):
            raise ValueError("It wants the address of a NATS broker, such as nats://web:password@broker:4222")
        return url

    @field_validator("hosts")
    @classmethod
    def _of_names(cls, names: str) -> str:
        if bad := [part for part in names.split() if "," in part or "/" in part]:
            raise ValueError(f"It wants names with spaces between, such as a.example.org b.example.org; seen: {bad[0]}")
        return names

    @field_validator("nats_nkey")
    @classmethod
    def _with_a_seed(cls, path: Path | None) -> Path | None:
        try:
            seed = path.read_text("ascii") if path else "SU"
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"It cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from error
        if not seed.startswith("SU"):
            raise ValueError("It holds no seed of a user's nkey, which begins with SU")
        return path

    @field_validator("cgroup")
    @classmethod
    def _that_is_there(cls, path: Path | None) -> Path | None:
        if path and not path.is_dir():
            raise ValueError("There is no such control group")
        return path

    @field_validator("pages")
    @classmethod
    def _with_markdown(cls, folder: Path | None) -> Path | None:
        if folder and not folder.is_dir():
            raise ValueError("There is no such folder")
        for file in sorted(folder.glob("*.md")) if folder else ():
            if file.stem not in OPERATOR_PAGES:
                raise ValueError(f"{file.name} is none of {', '.join(f'{page}.md' for page in OPERATOR_PAGES)}")
            try:
                file.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
                raise ValueError(f"{file.name} cannot be read: {reason}") from error
        return folder

    @field_validator("replicas")
    @classmethod
    def _of_one_database(cls, count: int, info: ValidationInfo) -> int:
        if count > 1 and not info.data.get("database_url", "postgresql").startswith("postgresql"):
            raise ValueError("Several servers need one PostgreSQL: set BACKHAND_DATABASE_URL")
        return count

    @field_validator("address")
    @classmethod
    def _of_this_server(cls, address: str) -> str:
        if address and not ADDRESS.fullmatch(address):
            path = "; a path belongs into BACKHAND_PREFIX" if re.match("https?://[^/?#@]+/", address) else ""
            raise ValueError(f"It wants a scheme and a host and nothing else, such as https://learn.example.org{path}")
        return address.rstrip("/").lower()

    @field_validator("prefix")
    @classmethod
    def _of_words(cls, prefix: str) -> str:
        if prefix and not PATH_PREFIX.fullmatch(prefix):
            raise ValueError(
                "It wants a path such as /learn or /courses/learn: a slash before each word and none at the end, "
                "and words of letters, digits, hyphens and underscores; without a path, leave it unset"
            )
        if (word := prefix.split("/")[1] if prefix else "") in OWN_PATHS:
            raise ValueError(f"Pages of Backhand are at /{word} already; choose another word, such as /learn")
        return prefix

    @field_validator("oidc")
    @classmethod
    def _of_providers(cls, text: str, info: ValidationInfo) -> str:
        if text and not info.data.get("address"):
            raise ValueError("Providers send browsers back here: set BACKHAND_ADDRESS")
        try:
            providers = _PROVIDERS.validate_json(text or "{}")
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            place = ".".join(str(name) for name in first["loc"])
            raise ValueError(f"{PROVIDERS_FORM}; seen: {place} {first['msg']}") from None
        if bad := [name for name in providers if name in OWN_WORDS or not re.fullmatch("[a-z0-9-]{1,40}", name)]:
            raise ValueError(f"A name has small letters, digits and hyphens and is no word of ours; seen: {bad[0]}")
        return text

    @field_validator("smtp")
    @classmethod
    def _of_a_mail_server(cls, url: str, info: ValidationInfo) -> str:
        try:
            parts = urlsplit(url)
            known = parts.scheme in ("smtp", "smtps") and parts.hostname and (parts.port or 1)
        except ValueError:
            known = False
        if url and not known:
            raise ValueError("It wants smtp://user:password@host:587, or smtps://user:password@host")
        if url and not info.data.get("address"):
            raise ValueError("Letters lead back here: set BACKHAND_ADDRESS")
        return url

    @field_validator("mail_from")
    @classmethod
    def _of_somebody(cls, sender: str, info: ValidationInfo) -> str:
        if info.data.get("smtp") and "@" not in sender:
            raise ValueError("Letters need a sender, such as backhand@example.org")
        return sender

    @field_validator("proxy_addresses")
    @classmethod
    def _of_proxies(cls, addresses: str, info: ValidationInfo) -> str:
        for part in addresses.split():
            try:
                ip_network(part)
            except ValueError:
                raise ValueError(f"It wants addresses or networks with spaces between; {part} is none") from None
            if ip_network(part).prefixlen == 0:
                raise ValueError(f"It wants the networks of your proxies; {part} is every address")
        if info.data.get("proxy_header") and not addresses.split():
            raise ValueError("A header is believed from listed proxies: set this beside BACKHAND_PROXY_HEADER")
        return addresses

    @field_validator("demo")
    @classmethod
    def _of_nothing_that_lasts(cls, demo: bool, info: ValidationInfo) -> bool:
        lasting = ("database_url", "oidc", "smtp", "proxy_header")
        if demo and (others := [f"{PREFIX}{name}".upper() for name in lasting if info.data.get(name)]):
            raise ValueError(f"It has no accounts, and a database of its own in the data folder: unset {others[0]}")
        return demo

    @property
    def providers(self) -> dict[str, Provider]:
        return _PROVIDERS.validate_json(self.oidc or "{}")

    @property
    def lti_secret_path(self) -> Path:
        """Path of the secret under which keys for learning platforms are encrypted."""
        return self.secret_key_file or self.data_dir / LTI_SECRET

    @property
    def base_url(self) -> str:
        """Beginning of the URL of every page, for links outside of pages; without an address, the prefix."""
        return self.address + self.prefix

    @property
    def host_names(self) -> frozenset[str]:
        return frozenset(self.hosts.lower().split())

    def share(self, a_minute: int) -> int:
        """Share of this server in a limit per minute for all of them; 0 is no limit."""
        return math.ceil(a_minute / self.replicas)

    @property
    def resolved_database_url(self) -> str:
        # A demonstration deletes what learners wrote: never in a database with work that is meant to last.
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir / ('demo.db' if self.demo else DATABASE)}"
