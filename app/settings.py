"""Deployment settings, read once from the environment (`BACKHAND_*`) and frozen."""

import math
import os
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT = Path(__file__).resolve().parents[1]

PREFIX = "BACKHAND_"
DATABASES = ("postgresql", "sqlite")
BROKERS = ("nats", "tls", "ws", "wss")


def _here_or_root(name: str) -> Path:
    # The command may be run from anywhere; a folder of that name where it is run comes first.
    return Path(name) if Path(name).is_dir() else ROOT / name


class Settings(BaseSettings):
    """Every setting of a deployment; each has a default that needs nothing."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore")

    database_url: str = Field(
        default="", repr=False, description="SQLAlchemy URL; empty means SQLite in the data directory."
    )
    lessons: Path = Field(default_factory=lambda: _here_or_root("lessons"), description="Folder of the course.")
    data_dir: Path = Field(
        default_factory=lambda: _here_or_root("var"), description="Folder for the database and the facts cache."
    )
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
    names: Path | None = Field(default=None, description="A list of names for the character model.")

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

    @field_validator("replicas")
    @classmethod
    def _of_one_database(cls, count: int, info: ValidationInfo) -> int:
        if count > 1 and not info.data.get("database_url", "postgresql").startswith("postgresql"):
            raise ValueError("Several servers need one PostgreSQL: set BACKHAND_DATABASE_URL")
        return count

    @property
    def host_names(self) -> frozenset[str]:
        return frozenset(self.hosts.lower().split())

    def share(self, a_minute: int) -> int:
        """What this server allows of a limit for all of them; 0 is no limit."""
        return math.ceil(a_minute / self.replicas)

    @property
    def resolved_database_url(self) -> str:
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir / 'backhand.db'}"
