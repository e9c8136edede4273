"""How the project is installed: by make and into an image, with torch from the index that is asked for."""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
REQUIREMENTS = ROOT / "deploy" / "requirements.txt"
INDEX = "https://index.example/cpu"


def commands(*arguments: str) -> list[str]:
    """What make would install into a fresh environment."""
    return [line for line in made(*arguments) if "pip install" in line]


def made(*arguments: str) -> list[str]:
    """What make would do for one."""
    make = shutil.which("make")
    assert make, "the tests themselves are started by make"
    done = subprocess.run(
        [make, "--always-make", "--dry-run", "--no-print-directory", ".venv/.installed", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def in_a_shell(line: str, index: str) -> str:
    """A line of the Dockerfile with its variables in place, as a shell would run it."""
    script = f'set -- $(echo {line.removeprefix("RUN pip")}); echo "$*"'
    return subprocess.run(
        ["sh", "-c", script], env={"TORCH_INDEX": index}, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize(
    ("version", "noted"), [("3, 11, 9", True), ("3, 11, 10", False), ("3, 12, 5", True), ("3, 13, 0", False)]
)
def test_make_says_where_python_is_slow_over_quoted_cookies(tmp_path, version, noted):
    python = tmp_path / "python"
    program = f"import sys; sys.version_info = ({version}); exec(sys.argv[1])"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{program}" "$2"\n')
    python.chmod(0o755)
    (line,) = (line for line in made(f"PYTHON={python}") if "cookies" in line)

    said = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout

    assert ("Backhand lets no quoted cookie" in said) is noted


@pytest.mark.parametrize(("makes", "first"), [("ensurepip", True), ("nothing of the kind", False)])
def test_make_takes_the_systems_python_first_if_it_makes_environments(tmp_path, monkeypatch, makes, first):
    system, other = tmp_path / "system", tmp_path / "python3.11"
    system.write_text(f'#!/bin/sh\n[ "$2" = "import {makes}" ]\n')
    other.write_text("#!/bin/sh\n")
    for python in (system, other):
        python.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    (line,) = (line for line in made(f"SYSTEM={system}") if line.endswith("-m venv .venv"))

    assert line.split(" || ")[1] == f"{system if first else other} -m venv .venv"


def test_make_asks_the_index_that_is_given_for_torch_alone() -> None:
    torch, project = commands(f"TORCH_INDEX={INDEX}")

    assert f"torch==2.13.0 --index-url '{INDEX}'" in torch
    assert INDEX not in project


def test_make_asks_the_default_index_where_none_is_given() -> None:
    assert not [line for line in commands() if "index" in line]


@pytest.mark.parametrize(("index", "asked"), [(INDEX, f" --index-url {INDEX}"), ("", "")])
def test_an_image_asks_the_index_that_is_given_for_torch(index: str, asked: str) -> None:
    text = (ROOT / "Dockerfile").read_text()
    (line,) = re.findall(r"^RUN pip install torch.*? -c constraints.txt", text, re.MULTILINE)

    assert re.search(r"^ARG TORCH_INDEX=", text[: text.index(line)], re.MULTILINE)
    assert in_a_shell(line, index) == f"install torch==2.13.0{asked} -c constraints.txt"


def hashed() -> dict[str, tuple[str, int]]:
    """The packages of the image: version and number of hashes by name."""
    entries = re.findall(
        r"^([\w.-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", REQUIREMENTS.read_text(), re.MULTILINE
    )
    return {canonical(name): (version, hashes.count("sha256")) for name, version, hashes in entries}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_an_image_installs_all_packages_but_torch_by_hash() -> None:
    lines = [line for line in REQUIREMENTS.read_text().splitlines() if not line.startswith(" ")]
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split())
    versions = {canonical(name): version for name, version in pinned.items()}
    wanted, missing = {"backhand"}, ["backhand[postgres,nats]"]
    while missing:
        requirement = Requirement(missing.pop())
        for line in importlib.metadata.requires(requirement.name) or ():
            needed = Requirement(line)
            holds = (needed.marker is None) or any(
                needed.marker.evaluate({"extra": extra}) for extra in (requirement.extras or {""})
            )
            if holds and canonical(needed.name) not in wanted | {"torch"}:
                wanted.add(canonical(needed.name))
                missing.append(f"{needed.name}[{','.join(needed.extras)}]" if needed.extras else needed.name)

    assert len(lines) == len(hashed())
    assert wanted - {"backhand"} <= hashed().keys()
    assert {name: version for name, (version, _) in hashed().items() if name in versions} == {
        name: versions[name] for name in hashed().keys() & versions.keys()
    }
    assert "pip install --no-deps --require-hashes -r requirements.txt" in (ROOT / "Dockerfile").read_text()


def test_the_image_is_built_with_a_supported_node_version() -> None:
    (built,) = re.findall(r"^ARG NODE_IMAGE=node:(\d+)-", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    wanted = json.loads((ROOT / "package.json").read_text())["engines"]["node"]

    assert int(built) % 2 == 0  # those with odd numbers are mended for half a year
    assert int(built) > int(wanted.removeprefix(">="))  # the oldest that works is mended no more


def test_every_place_asks_for_the_same_torch() -> None:
    files = ("Makefile", "Dockerfile", "constraints.txt", "pyproject.toml")
    asked = {version for name in files for version in re.findall(r"\btorch==([\d.]+)", (ROOT / name).read_text())}

    assert len(asked) == 1
