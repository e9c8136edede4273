import stat

import pytest

from app.engine.grade.engine import Engine
from app.engine.grade.facts_cache import FactsCache
from app.engine.grade.forward_references import ForwardReferences
from app.engine.grade.hidden_draws import HIDDEN
from app.engine.grade.seeds import FILE, SecretError, Seeds, seeds_in
from tests.grading.boxes.load import OpenJail, load

ONE, OTHER = Seeds(b"one" * 10), Seeds(b"other" * 6)


def boxes():
    return load("boxes.toml")[:4]


def study(box, seeds, cache=None):
    return ForwardReferences(box.forward, OpenJail(), cache or FactsCache(None), seeds=seeds)


def test_hidden_numbers_differ_between_servers_and_shown_ones_do_not():
    box = boxes()[0]
    one, other = study(box, ONE), study(box, OTHER)

    for name in one.sets["v"].tensors:
        assert (one.sets["v"].tensors[name] == other.sets["v"].tensors[name]).all()
        assert all((one.sets[run].tensors[name] != other.sets[run].tensors[name]).any() for run in HIDDEN)
    (step,) = one.program.statements[0].outputs
    assert (one.forced("a", step) != other.forced("a", step)).any()


def test_without_a_secret_everybody_draws_the_same():
    box = boxes()[0]

    assert study(box, Seeds()).sets["a"].tensors.keys() == study(box, Seeds()).sets["a"].tensors.keys()
    assert Seeds().of(["x"], "a", hidden=True) == Seeds().of(["x"], "a", hidden=True)
    assert Seeds().mark == ""


def test_an_answer_that_was_kept_for_one_secret_is_not_found_under_another(tmp_path):
    box = boxes()[0]
    one = study(box, ONE, FactsCache(tmp_path))
    other = study(box, OTHER, FactsCache(tmp_path))

    again = {name: array.tolist() for name, array in study(box, OTHER).sets["a"].tensors.items()}

    assert {name: array.tolist() for name, array in other.sets["a"].tensors.items()} == again
    assert one.sets["a"].tensors.keys() == other.sets["a"].tensors.keys()


@pytest.mark.parametrize("seeds", [ONE, OTHER])
def test_solutions_are_right_under_any_secret(seeds):
    for box in boxes():
        assert Engine(OpenJail(), None, seeds).check(box.task(), box.solution).passed


def test_the_secret_is_made_once_and_is_its_owners_alone(tmp_path):
    folder = tmp_path / "var"
    found = {seeds_in(folder).secret for _ in range(3)}

    assert len(found) == 1
    assert len(found.pop()) == 32
    assert stat.S_IMODE((folder / FILE).stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_the_mark_does_not_tell_the_secret():
    assert ONE.mark != OTHER.mark
    assert ONE.secret.hex() not in ONE.mark


@pytest.mark.parametrize("held", [b"", b"short", b"x" * 31])
def test_an_emptied_secret_is_refused_with_a_sentence(tmp_path, held):
    (tmp_path / FILE).write_bytes(held)

    with pytest.raises(SecretError, match=f"has {len(held)} bytes; it should have 32. Restore it from a backup"):
        seeds_in(tmp_path)
