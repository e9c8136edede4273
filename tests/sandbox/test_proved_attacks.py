"""All attacks are tried once anything has changed that their end depends on; until then a twelfth of them."""

from pathlib import Path

import pytest
from proved_attacks import ROOT, are_proved, digest, keep, sources

from tests.quick import import_graph


def test_all_that_the_jail_imports_is_in_the_digest() -> None:
    imported = import_graph().find_upstream_modules("app.sandbox", as_package=True)
    files = {ROOT / f"{module.replace('.', '/')}.py" for module in imported} | {
        ROOT / module.replace(".", "/") / "__init__.py" for module in imported
    }
    code = {file for file in files if file.exists() and file.read_text("utf-8").strip()}

    assert code - set(sources()) == set()


def test_a_word_in_an_attack_or_in_the_jail_makes_it_another_digest(tmp_path: Path) -> None:
    (tmp_path / "jail").mkdir()
    digests = {digest([tmp_path])}
    for name in ("jail/gate.py", "attacks.md", "jail/gate.md"):
        for text in ("one", "another"):
            (tmp_path / name).write_text(text)
            digests.add(digest([tmp_path]))

    assert len(digests) == 7
    (tmp_path / "jail" / "gate.pyc").write_text("what was compiled says nothing")
    assert digest([tmp_path]) in digests


@pytest.mark.parametrize(
    ("what", "otherwise", "known"),
    [
        ("platform.release", "6.18.45-of-tomorrow", True),
        ("platform.release", "6.19.44", False),
        ("platform.machine", "aarch64", False),
        ("app.sandbox.landlock.abi", 1, False),
        ("app.sandbox.seccomp.missing_seccomp", OSError("no filters"), False),
        ("os.geteuid", 1000, False),
    ],
)
def test_what_was_tried_is_known_until_it_is_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, otherwise: object, *, known: bool
) -> None:
    for name, usual in (
        ("platform.release", "6.18.44"),
        ("platform.machine", "x86_64"),
        ("app.sandbox.landlock.abi", 7),
        ("app.sandbox.seccomp.missing_seccomp", None),
        ("os.geteuid", 0),
    ):
        monkeypatch.setattr(name, lambda usual=usual: usual)
    kept = tmp_path / "proved.txt"
    assert not are_proved(kept)

    keep(kept)
    assert are_proved(kept)

    monkeypatch.setattr(what, lambda: otherwise)
    assert are_proved(kept) is known
