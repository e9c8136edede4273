"""`python -m tests.image FOLDER`: the container image without a registry, and a lesson and a check in it under runc.

Debian's own Python stands in for that of the base image (`debootstrap` makes the root file system), and its client for
PostgreSQL for the newer one where the archive of that cannot be reached; all else is done as the Dockerfile says. It
runs as `deploy/compose.yaml` demands: another user than root, a read-only root, no capabilities, no new privileges. A
PostgreSQL of this machine is backed up and restored from within. Wants root, a mirror of Debian, and a few minutes.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from urllib.parse import unquote

from benchmarks.serving import Learner, free_port, wait_for
from tests.store import postgres

ROOT = Path(__file__).parents[1]
PYTHON = "python3,python3-venv,python3-pip,python-is-python3,ca-certificates"
OUTSIDE = ("/etc/resolv.conf", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
ARCHIVE = "/usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y && "
LESSON = "/lessons/a-layer-trained"
RIGHT = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n"


def main(folder: Path) -> None:
    """Build where there is nothing yet, run, and say what was seen."""
    image = folder / "image"
    if not image.exists():
        _call("debootstrap", "--variant=minbase", f"--include={PYTHON}", "bookworm", str(image))
    steps = _steps((ROOT / "Dockerfile").read_text("utf-8"))
    environment = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
    where, command = "/", [""]
    for word, rest in steps:
        if word == "ENV":
            environment |= dict(one.split("=", 1) for one in shlex.split(rest))
        elif word == "WORKDIR":
            where = rest
        elif word == "COPY":
            _copied(image, where, rest.split())
        elif word == "RUN":
            _done(image, where, rest, environment)
        elif word == "CMD":
            command = json.loads(rest)
    print(f"The image has {_bytes(image) / 1e9:.2f} GB.")
    _try(image, where, command, environment)
    _try_space(image, environment)


def _bytes(image: Path) -> int:
    """What is in the image, without what Debian's tools left to download no more."""
    files = (Path(folder, name) for folder, _, names in os.walk(image) for name in names)
    kept = (file for file in files if file.relative_to(image).parts[0] != "opt" and "var/cache/apt" not in str(file))
    return sum({status.st_ino: status.st_size for status in map(os.lstat, kept)}.values())


def _steps(text: str) -> list[tuple[str, str]]:
    """The instructions of the last stage."""
    stage = text.rpartition("\nFROM ")[2].partition("\n")[2]
    return [(one[1], one[2]) for one in re.finditer(r"^([A-Z]+) (.*)$", stage, re.MULTILINE)]


def _copied(image: Path, where: str, words: list[str]) -> None:
    target = image / where.lstrip("/") / words[-1]
    if words[0] == "--from=wheel":
        _call(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(target))
        return
    sources = [ROOT / one for one in words[:-1]]
    for one in sources:
        if one.is_dir():
            shutil.copytree(one, target, dirs_exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(one, target)


def _done(image: Path, where: str, line: str, environment: dict[str, str]) -> None:
    for one in filter(os.path.exists, OUTSIDE):
        (image / one.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(one, image / one.lstrip("/"))
    (image / where.lstrip("/")).mkdir(parents=True, exist_ok=True)
    # Debian wants nobody to install beside its own packages; the base image has no such wish.
    environment = environment | {"PIP_BREAK_SYSTEM_PACKAGES": "1", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        _call("chroot", str(image), "/bin/sh", "-c", f"cd {where} && {line}", **environment)
    except subprocess.CalledProcessError:
        if ARCHIVE not in line:
            raise
        print("The archive of PostgreSQL cannot be reached: Debian's own client stands in.")
        for one in (image / "etc/apt/sources.list.d").glob("pgdg*"):
            one.unlink()
        own = re.sub(r"postgresql-client-\d+", "postgresql-client", line.replace(ARCHIVE, ""))
        _call("chroot", str(image), "/bin/sh", "-c", f"cd {where} && {own}", **environment)


def _call(*command: str, **environment: str) -> None:
    subprocess.run(command, env=os.environ | environment, check=True)


def _try(image: Path, where: str, command: list[str], environment: dict[str, str]) -> None:
    port, name = free_port(), f"backhand-{uuid.uuid4().hex}"
    programs = postgres.programs()
    assert programs is not None, "PostgreSQL is not installed"
    with tempfile.TemporaryDirectory() as folder, postgres.server(programs) as url:
        socket = Path(unquote(url.rpartition("host=")[2]))
        socket.chmod(0o755)
        volumes = {"/var/lib/backhand": Path(folder) / "progress", "/backups": Path(folder) / "backups"}
        for volume in volumes.values():
            volume.mkdir()
            os.chown(volume, 10001, 10001)
        told = [*command[:2], "--host", "127.0.0.1", "--port", str(port)]
        own = environment | {"BACKHAND_OPERATOR_TOKEN": "t"}
        config = _config(image, where, told, own, {**volumes, str(socket): socket})
        (Path(folder) / "config.json").write_text(json.dumps(config))
        runc = ["runc", "--root", f"{folder}/state"]
        process = subprocess.Popen([*runc, "run", "--bundle", folder, name], stdout=subprocess.DEVNULL)
        try:
            wait_for(port)
            learner = Learner(port)
            revision = re.search(r'name="revision"[^>]*value="(\d+)"', learner.get(LESSON)[1])
            assert revision, "the lesson has a box of code"
            asked = {"code": RIGHT, "revision": revision[1]}
            status, page = learner.post(f"{LESSON}/code/linear-backward/check", asked)
            passed = 'data-passed="true"' in page
            print(f"a lesson is shown; a check answers {status}, passed: {passed}")
            _call(
                *runc,
                "exec",
                name,
                "sh",
                "-c",
                "id; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/1/status; touch /x || true",
            )
            _call(*runc, "exec", name, "backhand", "doctor")
            # As in a container of its own: with the data of the server that runs here nothing would be restored.
            other = ("--env", "BACKHAND_DATA_DIR=/tmp/other", "--env", f"BACKHAND_DATABASE_URL={url}")
            inside = (*runc, "exec", *other, name)
            for line in (
                "class create Algebra",
                "backup /backups/first.backup",
                "class create Geometry",
                "restore /backups/first.backup --replace",
                "class list",
            ):
                _call(*inside, "backhand", *line.split())
            _call(*inside, "ls", "-l", "/backups")
        finally:
            subprocess.run([*runc, "kill", name, "TERM"], check=False)
            process.wait(60)


def _try_space(image: Path, environment: dict[str, str]) -> None:
    """The same packages as `deploy/space` runs them: as user 1000, with its settings and its command."""
    text = (ROOT / "deploy" / "space" / "Dockerfile").read_text("utf-8")
    command = json.loads(re.findall(r"^CMD (.*)$", text, re.MULTILINE)[-1])
    own = dict(one.split("=", 1) for line in re.findall(r"^ENV (.*)$", text, re.MULTILINE) for one in shlex.split(line))
    environment = {name: value for name, value in environment.items() if not name.startswith("BACKHAND_")} | own
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        os.chown(home, 1000, 1000)
        (image / "home" / "user").mkdir(parents=True, exist_ok=True)
        told = _config(image, "/home/user", command, environment, {"/home/user": home}, uid=1000)
        (Path(folder) / "config.json").write_text(json.dumps(told))
        runc, name = ["runc", "--root", f"{folder}/state"], f"backhand-{uuid.uuid4().hex}"
        process = subprocess.Popen([*runc, "run", "--bundle", folder, name], stdout=subprocess.DEVNULL)
        try:
            wait_for(7860)
            page = Learner(7860).get(LESSON)[1]
            print(f"a Space is served, as a demonstration: {'A demonstration.' in page}")
            _call(*runc, "exec", name, "sh", "-c", "id; ls -l ~/.local/share/backhand; backhand doctor | tail -n 2")
        finally:
            subprocess.run([*runc, "kill", name, "TERM"], check=False)
            process.wait(60)


def _config(
    image: Path,
    where: str,
    command: list[str],
    environment: dict[str, str],
    volumes: dict[str, Path],
    uid: int = 10001,
) -> dict[str, object]:
    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": uid, "gid": uid},
            "args": command,
            "env": [f"{name}={value}" for name, value in environment.items()],
            "cwd": where,
            "noNewPrivileges": True,
            "capabilities": {kind: [] for kind in ("bounding", "effective", "permitted")},
        },
        "root": {"path": str(image), "readonly": True},
        "hostname": "container",
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
            {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=1777"]},
            *(
                {"destination": place, "type": "bind", "source": str(folder), "options": ["rbind", "rw"]}
                for place, folder in volumes.items()
            ),
        ],
        # The network of the machine, so that the server can be asked from here.
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]},
    }  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
