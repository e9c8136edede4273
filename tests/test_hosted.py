"""Places that run Backhand from a file: each is read by the fields that its host documents, and names what is here."""

import json
import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from app.settings import PREFIX, Settings

ROOT = Path(__file__).resolve().parents[1]
SPACE = ROOT / "deploy" / "space"
Size = Annotated[str, StringConstraints(pattern=r"^\d+(tb|gb|mb|kb)$")]
Span = Annotated[str, StringConstraints(pattern=r"^\d+(ms|s|m)$")]
Colour = Literal["red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"]


class Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SpaceCard(Fields):
    """https://huggingface.co/docs/hub/spaces-config-reference"""

    title: str
    emoji: str
    color_from: Colour = Field(alias="colorFrom")
    color_to: Colour = Field(alias="colorTo")
    sdk: Literal["docker"]
    app_port: int
    license: str
    short_description: Annotated[str, StringConstraints(max_length=60)]


class Requirements(Fields):
    cpus: int
    memory: Size
    storage: Size


class CamelFields(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)


class Port(CamelFields):
    label: str
    on_auto_forward: Literal["notify", "openBrowser", "openPreview", "silent", "ignore"]


class DevContainer(CamelFields):
    """https://containers.dev/implementors/json_reference/"""

    name: str
    image: str
    features: dict[str, dict[str, str]]
    host_requirements: Requirements
    post_create_command: str
    forward_ports: list[int]
    ports_attributes: dict[str, Port]
    remote_env: dict[str, str]


class Build(Fields):
    args: dict[str, str]


class Mount(Fields):
    source: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,30}$")]
    destination: str


class HttpCheck(Fields):
    method: Literal["GET"]
    path: str
    interval: Span
    timeout: Span
    grace_period: Span


class HttpService(Fields):
    internal_port: int
    force_https: bool
    auto_stop_machines: Literal["off", "stop", "suspend"]
    auto_start_machines: bool
    min_machines_running: int
    checks: list[HttpCheck]


class Machine(Fields):
    memory: Size
    cpu_kind: Literal["shared", "performance"]
    cpus: Literal[1, 2, 4, 8, 16]


class Fly(Fields):
    """https://fly.io/docs/reference/configuration/"""

    app: str
    build: Build
    env: dict[str, str]
    mounts: Mount
    http_service: HttpService
    vm: Annotated[list[Machine], Field(min_length=1)]


def known_settings(names: set[str]) -> bool:
    return names <= {f"{PREFIX}{name}".upper() for name in Settings.model_fields}


def test_a_space_takes_its_card_and_asks_the_port_that_is_served() -> None:
    card = SpaceCard.model_validate(yaml.safe_load((SPACE / "README.md").read_text("utf-8").split("---")[1]))
    dockerfile = (SPACE / "Dockerfile").read_text("utf-8")
    (command,) = re.findall(r"^CMD (.*)$", dockerfile, re.MULTILINE)

    assert f"--port {card.app_port}" in json.loads(command)[-1]
    assert f"EXPOSE {card.app_port}" in dockerfile
    assert "--uid 1000" in dockerfile
    assert dockerfile.index("USER user") < dockerfile.index("CMD")
    assert known_settings(set(re.findall(r"BACKHAND_\w+", dockerfile)))


def test_a_space_installs_what_the_image_installs() -> None:
    lines = [re.findall(r"^RUN (pip install .*?)(?: &&.*)?$", (folder / "Dockerfile").read_text("utf-8"), re.MULTILINE)
             for folder in (SPACE, ROOT)]  # fmt: skip

    assert set(lines[0]) <= set(lines[1])
    assert len(lines[0]) == 3


def test_a_development_container_takes_its_file() -> None:
    container = DevContainer.model_validate_json((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    node = json.loads((ROOT / "package.json").read_text("utf-8"))["engines"]["node"]

    assert container.forward_ports == [8000]
    assert known_settings(container.remote_env.keys())
    (version,) = (options["version"] for name, options in container.features.items() if "node" in name)
    assert int(version) >= int(node.removeprefix(">="))


def test_fly_takes_its_file_and_asks_the_port_and_volume_of_the_image() -> None:
    fly = Fly.model_validate(tomllib.loads((ROOT / "deploy" / "fly.toml").read_text("utf-8")))
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")

    assert f"EXPOSE {fly.http_service.internal_port}" in dockerfile
    assert f"VOLUME {fly.mounts.destination}" in dockerfile
    assert all(f"ARG {name}" in dockerfile for name in fly.build.args)
    assert known_settings(fly.env.keys())


def test_on_fly_the_address_is_one_of_the_hosts_and_its_proxy_is_told_of() -> None:
    text = (ROOT / "deploy" / "fly.toml").read_text("utf-8")
    env = tomllib.loads(text)["env"]

    assert urlsplit(env["BACKHAND_ADDRESS"]).hostname in env["BACKHAND_HOSTS"].split()
    assert "# BACKHAND_PROXY_ADDRESSES = " in text


def test_an_image_carries_labels_a_bill_of_materials_and_a_health_check() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")

    for label in ("title", "description", "licenses", "version"):
        assert f"org.opencontainers.image.{label}=" in dockerfile
    assert "pip check && pip inspect > packages.json" in dockerfile
    assert re.search(r"^HEALTHCHECK .*/healthz", dockerfile, re.MULTILINE)
    assert dockerfile.rindex("\nUSER backhand") > dockerfile.rindex("\nRUN ")
