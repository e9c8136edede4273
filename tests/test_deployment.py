"""What stands in `deploy`: each file is one that its reader takes, and gives no process more than it needs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from app.engine.grade import seeds
from app.lti.keys import encryption_in
from app.settings import LTI_SECRET, PREFIX, Settings

DEPLOY = Path(__file__).parents[1] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = sorted(one for one in (DEPLOY / "kubernetes").glob("*.yaml") if one.stem != "kustomization")
KUBERNETES = ("1.28", "1.37")
"""The oldest that the manifests are written for, and the newest that is known here."""
OF_THE_JAIL = {"seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"}


def documents():
    return [one for file in MANIFESTS for one in yaml.safe_load_all(file.read_text("utf-8"))]


def named(kind, name):
    (found,) = (one for one in documents() if (one["kind"], one["metadata"]["name"]) == (kind, name))
    return found


def pods():
    return [
        (one["metadata"]["name"], spec["template"]["spec"])
        for one in documents()
        for spec in (one.get("spec", {}), one.get("spec", {}).get("jobTemplate", {}).get("spec", {}))
        if "template" in spec
    ]


def composed(name):
    return yaml.safe_load((DEPLOY / name).read_text("utf-8"))


def settings_in(text):
    return {word.removeprefix(PREFIX) for word in re.findall(rf"\b{PREFIX}[A-Z_]+", text)}


@pytest.mark.parametrize("file", [*UNITS, *MANIFESTS, *DEPLOY.glob("compose*.yaml")], ids=lambda file: file.name)
def test_every_setting_that_is_named_is_one(file):
    assert settings_in(file.read_text("utf-8")) <= {name.upper() for name in Settings.model_fields}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_takes_the_unit(tmp_path, unit):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed (Debian: apt-get install systemd)")
    # That the program is there is a matter of the machine.
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text("utf-8"), flags=re.MULTILINE)
    (tmp_path / unit.name).write_text(text, "utf-8")

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / unit.name], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_allows_the_jail_its_calls_where_code_runs_and_nowhere_else(unit):
    text = unit.read_text("utf-8")
    allowed = set(re.search(r"^SystemCallFilter=(.*)$", text, re.MULTILINE)[1].split())

    assert "@system-service" in allowed
    assert (allowed & OF_THE_JAIL) == (set() if " jobs" in text else OF_THE_JAIL)
    assert {"NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict"} <= set(text.split("\n"))
    assert not re.search(r"^User=root$", text, re.MULTILINE)


@pytest.mark.prove
@pytest.mark.parametrize("version", KUBERNETES)
def test_kubernetes_takes_every_manifest(version):
    from kubernetes_validate import validate

    for one in documents():
        assert validate(one, version, strict=True)


def test_every_manifest_is_applied():
    listed = composed("kubernetes/kustomization.yaml")["resources"]

    assert sorted(listed) == [file.name for file in MANIFESTS]


def test_the_broker_has_the_same_rights_in_a_cluster():
    assert named("ConfigMap", "nats")["data"]["nats.conf"] == (DEPLOY / "nats.conf").read_text("utf-8")


def test_no_pod_can_do_more_than_the_restricted_standard_allows():
    for name, pod in pods():
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for one in [*pod["containers"], *pod.get("initContainers", [])]:
            own = one["securityContext"]
            assert own["capabilities"] == {"drop": ["ALL"]}, name
            assert (own["allowPrivilegeEscalation"], own["readOnlyRootFilesystem"]) == (False, True), name
            assert one["resources"]["limits"]["memory"], name


def test_graders_reach_the_broker_and_names_and_nothing_else():
    rules = [one["spec"] for one in documents() if one["kind"] == "NetworkPolicy"]
    of_graders = [one for one in rules if one["podSelector"] in ({}, {"matchLabels": {"app": "grader"}})]
    ways = [way for one in of_graders for way in one.get("egress", [])]

    assert {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]} in rules, "what is not allowed is forbidden"
    assert sorted(port["port"] for way in ways for port in way["ports"]) == [53, 53, 4222]
    assert all(way["to"] for way in ways)
    assert not any(one.get("ingress") for one in of_graders)


def test_a_grader_pod_holds_the_password_of_graders_alone():
    (_, pod), = (one for one in pods() if one[0] == "grader")  # fmt: skip
    text = yaml.safe_dump(pod)

    assert re.findall(r"key: (\S+)", text) == ["grader-password"]
    assert "DATABASE" not in text


def test_the_limits_of_the_servers_are_shared_among_as_many_as_there_are():
    assert named("ConfigMap", "web")["data"]["BACKHAND_REPLICAS"] == str(named("Deployment", "web")["spec"]["replicas"])
    web = composed("compose.scale.yaml")["services"]["web"]
    assert web["environment"]["BACKHAND_REPLICAS"] == str(web["deploy"]["replicas"])


@pytest.mark.parametrize("name", [seeds.FILE, LTI_SECRET])
def test_servers_of_a_cluster_have_each_secret_of_their_folder_in_common(name):
    spec = named("Deployment", "web")["spec"]["template"]["spec"]
    (mount,) = (one for one in spec["containers"][0]["volumeMounts"] if one["mountPath"] == f"/var/lib/backhand/{name}")
    (volume,) = (one for one in spec["volumes"] if one["name"] == mount["name"])
    (key,) = (item["key"] for item in volume["secret"]["items"] if item["path"] == mount["subPath"])

    assert mount["readOnly"]
    assert f"={key}=" in (DEPLOY / "kubernetes" / "settings.yaml").read_text("utf-8")


def test_the_secret_for_platforms_that_a_cluster_is_told_to_make_is_one(tmp_path):
    (drawn,) = re.findall(r"lti-secret=<\((.*)\)", (DEPLOY / "kubernetes" / "settings.yaml").read_text("utf-8"))
    (tmp_path / LTI_SECRET).write_bytes(subprocess.run(["sh", "-c", drawn], capture_output=True, check=True).stdout)

    assert encryption_in(tmp_path / LTI_SECRET).encrypt(b"key")


def test_composed_containers_are_as_confined_as_the_single_one():
    (alone,) = composed("compose.yaml")["services"].values()
    for name, one in composed("compose.scale.yaml")["services"].items():
        if one.get("image") == "backhand":
            for option in ("read_only", "cap_drop", "security_opt", "pids_limit"):
                assert one[option] == alone[option], name
            assert all("size=" in way for way in one["tmpfs"]), name
            assert one["mem_limit"], name


def test_composed_graders_are_on_a_network_that_leads_nowhere_else():
    scale = composed("compose.scale.yaml")
    grader, on = scale["services"]["grader"], scale["networks"]

    assert grader["networks"] == ["grading"]
    assert on["grading"] == on["data"] == {"internal": True}
    assert "DATABASE" not in yaml.safe_dump(grader)
    assert {name for name, one in scale["services"].items() if "data" in one["networks"]} == {
        "web",
        "jobs",
        "backup",
        "postgres",
    }


def test_the_proxy_takes_its_configuration(tmp_path):
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("caddy is not installed (Debian: apt-get install caddy)")
    (tmp_path / "Caddyfile").write_text(composed("compose.scale.yaml")["configs"]["caddy"]["content"], "utf-8")

    done = subprocess.run(
        [caddy, "validate", "--adapter", "caddyfile", "--config", tmp_path / "Caddyfile"],
        capture_output=True, text=True, check=False, env={"HOME": str(tmp_path)},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr


def test_every_composed_password_has_to_be_chosen():
    text = (DEPLOY / "compose.scale.yaml").read_text("utf-8")

    passwords = re.findall(r"\w*PASSWORD\w*\W{1,3}\$\{[^}]*\}|://\w+:(?:\$\{[^}]*\}|[^@]*)@", text)
    assert len(passwords) == 8
    assert all(":?choose one" in one for one in passwords)


def test_servers_reach_providers_of_identity_and_mail():
    (web,) = (one for one in documents() if (one["kind"], one["metadata"]["name"]) == ("NetworkPolicy", "web"))

    ports = {port["port"] for way in web["spec"]["egress"] for port in way["ports"]}

    assert {443, 465, 587} <= ports


def test_whose_word_counts_for_where_a_request_comes_from_is_named():
    servers = [composed("compose.scale.yaml")["services"]["web"]["environment"], named("ConfigMap", "web")["data"]]
    for one in servers:
        assert one["BACKHAND_PROXY_ADDRESSES"] not in ("", "*")
        assert "FORWARDED_ALLOW_IPS" not in one


def test_settings_of_composed_servers_may_stand_in_a_file():
    for name, service in (("compose.yaml", "backhand"), ("compose.scale.yaml", "web")):
        assert composed(name)["services"][service]["env_file"] == [{"path": ".env", "required": False}]


def test_a_backup_has_a_program_that_fits_and_a_place_to_write_to():
    dockerfile = (DEPLOY.parent / "Dockerfile").read_text("utf-8")
    server = int(re.search(r"postgres:(\d+)", composed("compose.scale.yaml")["services"]["postgres"]["image"])[1])
    client = int(re.search(r"postgresql-client-(\d+)", dockerfile)[1])

    assert client >= server
    assert re.search(r"install -d -o backhand .* /backups$", dockerfile, re.MULTILINE)
    for name, service in (("compose.yaml", "backhand"), ("compose.scale.yaml", "backup")):
        assert "backups:/backups" in composed(name)["services"][service]["volumes"]
    (pod,) = (pod for name, pod in pods() if name == "backup")
    assert "/backups" in [one["mountPath"] for one in pod["containers"][0]["volumeMounts"]]


def test_passwords_of_the_broker_are_told_to_begin_with_a_letter():
    for file in ("nats.conf", "kubernetes/broker.yaml", "kubernetes/settings.yaml", "compose.scale.yaml"):
        assert re.search(r"begin\w* with a letter", (DEPLOY / file).read_text("utf-8")), file
