import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app, doctor
from app.engine.grade.seeds import seeds_in
from app.sandbox import canaries
from app.sandbox.protection import Layer

runner = CliRunner()


def test_a_sound_machine_passes_with_every_attack_stopped() -> None:
    result = runner.invoke(app, ["doctor"])

    assert result.exit_code == 0, result.output
    assert "22 of 22 test attacks were stopped." in result.output
    assert "Code runs in the jail." in result.output


def test_the_folder_of_work_is_named_and_what_is_left_elsewhere(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(doctor, "misplaced_databases", lambda _: [Path("/old/var/backhand.db")])
    monkeypatch.setattr(doctor, "_attack", lambda _: None)

    output = CliRunner().invoke(app, ["doctor"]).output

    assert f"work is kept in {tmp_path}\n" in output
    assert "/old/var/backhand.db: A database of an earlier version, which is not used." in output


def test_an_attack_that_succeeds_is_named_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canaries, "run_canaries", lambda _: ("read a file",))

    result = runner.invoke(app, ["doctor"])

    assert result.exit_code == 1
    assert "these test attacks succeeded: read a file" in result.output


def test_a_list_of_names_that_cannot_be_read_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BACKHAND_NAMES", str(tmp_path / "none.txt"))

    result = runner.invoke(app, ["doctor"])

    assert result.exit_code == 1
    assert "Training is refused" in result.output


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ((3, 11, 9), "mended in 3.11.10"),
        ((3, 12, 5), "mended in 3.12.6"),
        ((3, 11, 10), ""),
        ((3, 12, 6), ""),
        ((3, 13, 0), ""),
    ],
)
def test_doctor_names_a_python_that_is_slow_over_quoted_cookies(version: tuple[int, int, int], told: str) -> None:
    line = doctor._python(*version)

    assert told in line
    assert ("Backhand lets no quoted cookie" in line) is bool(told)


def test_a_missing_layer_is_shown_with_its_reason_and_remedy() -> None:
    layer = Layer(name="landlock", on=False, weight="strong", reason="ENOSYS (38)", remedy="Use Linux 5.13 or newer.")

    assert doctor._line(layer) == "missing   landlock: ENOSYS (38). Use Linux 5.13 or newer."


def test_servers_of_one_database_can_compare_their_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "_attack", lambda _: None)
    marks = []
    for name in ("one", "other"):
        monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path / name))
        seeds = seeds_in(tmp_path / name)
        output = runner.invoke(app, ["doctor"]).output
        marks.append(re.findall(r"secret of hidden numbers: (\w+)", output))
        assert seeds.secret.hex() not in output

    assert [len(one) for one in marks] == [1, 1]
    assert marks[0] != marks[1]
