"""Facts are kept, bounded, and never needed: whatever happens to the files, the answer is the same."""

import contextlib
import json
import os

import numpy as np
import pytest

from app.content.text.arithmetic import integer_of
from app.engine.grade.engine import Engine
from app.engine.grade.facts_cache import CacheEntry, FactsCache
from app.engine.grade.forward_references import ForwardReferences
from tests.grading.boxes.load import BOXES, NETWORK, OpenJail, make_forward


def entry(size=10):
    return CacheEntry(
        arrays={"a/x": np.arange(size, dtype=np.float64), "b/y": np.zeros((0, 3))}, texts={"report": "{}"}
    )


def asked(cache, question, value):
    calls = []

    def answer():
        calls.append(question)
        return value

    return cache.get(question, answer), len(calls)


def test_an_answer_is_asked_for_once(tmp_path):
    cache = FactsCache(tmp_path)

    assert asked(cache, ["q"], entry())[1] == 1
    assert asked(cache, ["q"], entry())[1] == 0


def test_an_answer_outlives_the_process(tmp_path):
    asked(FactsCache(tmp_path), ["q"], entry())

    found, calls = asked(FactsCache(tmp_path), ["q"], None)

    assert calls == 0
    assert (found.arrays["a/x"] == entry().arrays["a/x"]).all()
    assert found.arrays["b/y"].shape == (0, 3)
    assert dict(found.texts) == {"report": "{}"}


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"garbage" * 100, None])
def test_a_damaged_file_is_a_miss(tmp_path, damage):
    asked(FactsCache(tmp_path), ["q"], entry())
    (file,) = tmp_path.glob("*.npz")
    file.write_bytes(file.read_bytes()[:-30] if damage is None else damage)

    found, calls = asked(FactsCache(tmp_path), ["q"], entry())

    assert calls == 1
    assert found is not None


def test_a_file_with_pickled_objects_is_not_read(tmp_path):
    asked(FactsCache(tmp_path), ["q"], entry())
    (file,) = tmp_path.glob("*.npz")
    np.savez(file, texts=np.array([{"report": "x"}], dtype=object))

    assert asked(FactsCache(tmp_path), ["q"], entry())[1] == 1


def test_a_file_that_is_read_is_younger_than_one_that_is_not(tmp_path):
    asked(FactsCache(tmp_path), ["q"], entry())
    (file,) = tmp_path.iterdir()
    os.utime(file, (0, 0))

    asked(FactsCache(tmp_path), ["q"], entry())

    assert file.stat().st_mtime > 0


def test_memory_and_disk_are_bounded(tmp_path):
    cache = FactsCache(tmp_path, memory_bytes=5000, disk_bytes=5000)
    for index in range(20):
        asked(cache, [index], entry(100))

    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 5000
    assert asked(cache, [19], entry())[1] == 0
    assert asked(cache, [0], entry())[1] == 1


@pytest.mark.parametrize("error", [OSError("the disk is full"), MemoryError()])
def test_what_could_not_be_written_leaves_nothing_behind(tmp_path, monkeypatch, error):
    def half(file, **_):
        file.write(b"half")
        raise error

    monkeypatch.setattr(np, "savez", half)
    with contextlib.suppress(MemoryError):
        asked(FactsCache(tmp_path), ["q"], entry())

    assert not list(tmp_path.iterdir())


def test_what_a_killed_grader_was_writing_is_taken_away_and_nobody_elses(tmp_path):
    old, new = tmp_path / "old.part", tmp_path / "new.part"
    for part in (old, new):
        part.write_bytes(b"half")
    os.utime(old, (0, 0))

    asked(FactsCache(tmp_path), ["q"], entry())

    assert not old.exists()
    assert new.exists()


def test_a_folder_that_cannot_be_written_does_not_matter(tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")

    assert asked(FactsCache(file / "facts"), ["q"], entry())[0] is not None


def test_a_second_engine_asks_the_tape_nothing(tmp_path):
    box = BOXES[0]
    Engine(OpenJail(), tmp_path).check(box.task(), box.solution)
    jail = OpenJail()

    verdict = Engine(jail, tmp_path).check(box.task(), box.solution)

    assert verdict.passed
    assert [job.driver for job in jail.jobs] == ["attempt"]


def test_no_reference_ever_enters_the_jail():
    """An attempt is given forward tensors and upstreams; a required gradient under true upstreams is not among them."""
    jail = OpenJail()
    fresh = Engine(jail, None)
    fresh.check(NETWORK.task(), NETWORK.solution)
    job = next(job for job in jail.jobs if job.driver == "attempt")
    bench = next(iter(fresh._benches._values.values()))

    for run, references in bench.references.items():
        for tensor, reference in references.items():
            if tensor == "loss":
                continue
            same = [key for key, one in job.arrays.items() if one.size > 1 and np.array_equal(one, reference.gradient)]
            assert not same, (run, tensor, same)


def test_facts_tell_shapes_and_order(engine):
    facts = engine.facts(make_forward("f", "N: 6, D: 4", "X: [N, D]; b: [D]", "Y", "U = X + b\nY = U * X\n"))

    assert facts.error == ""
    assert dict(facts.shapes) == {"X": (6, 4), "b": (4,), "U": (6, 4), "Y": (6, 4)}
    assert facts.gradable == ("Y", "U", "X", "b")


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("Y = X @ X", "did not run"),
        ("Y = X.log()", "NaN"),
        ("Y = X +", "not Python"),
        ("for i in X:\n    Y = i", "a loop"),
        ("Y = X.argmax(1)", "does not depend"),
        ("Y = (X * 2).tolist()", "does not depend"),
        ("Y = X.detach() * 2", "does not depend"),
        ("Y = X // 2", "`Y = X // 2` cannot be differentiated (derivative for aten::floor_divide"),
        ("H = X * 2\nY = H + X.sum() // 3", "`Y = H + X.sum() // 3` cannot be differentiated"),
        ("H = X.chunk(2, 1)\nY = H[0] * 2", "`H = X.chunk(2, 1)` leaves a tuple and no tensor"),
        ("H = torch.fft.fft(X)\nY = H.abs()", "`H = torch.fft.fft(X)` leaves complex numbers"),
        ("H = X.to(torch.float16)\nY = H * 2", "`H = X.to(torch.float16)` leaves numbers of torch.float16"),
        ("H = X * 2\nY = F.leaky_relu(H, 0.1, True)", "writes in place"),
        ("E = torch.exp(1000 * X)\nY = E * 2", "`E = torch.exp(1000 * X)` makes gradients that are not finite"),
        ("H = X - X\nY = H.norm(dim=1) * H.abs().sum(1).sqrt()", "makes gradients that are not finite"),
    ],
)
def test_a_broken_forward_program_is_the_authors_fault(engine, source, part):
    forward = make_forward("f", "N: 6, D: 4", "X: [N, D]", "Y", source + "\n")

    assert part in engine.facts(forward).error


def test_a_box_that_requires_no_gradient_is_not_the_learners_fault(engine):
    box = BOXES[0]
    verdict = engine.check(box.task(require=("dnothing",)), box.solution)

    assert verdict.outcome == "fault"
    assert "not yours" in verdict.message


def test_literal_sizes_pin_the_hidden_data_to_the_visible_sizes(engine):
    box = next(one for one in BOXES if one.name == "L26.c1")
    jail = OpenJail()
    study = ForwardReferences(box.forward, jail, FactsCache(None))

    assert study.pinned
    assert engine.check(box.task(), box.solution).hidden_sizes == 0


def test_a_program_with_numbers_of_its_own_is_studied(engine):
    forward = make_forward("f", "N: 6, D: 4", "X: [N, D]", "Y", "n = X.shape[0]\nY = X * n\n")
    facts = engine.facts(forward)

    assert facts.error == ""
    assert facts.gradable == ("Y", "X")
    json.dumps(list(facts.gradable))


@pytest.mark.parametrize("size", ["D**2", "D^2", "D × D", "2*D + 4", "N/2", "N//2", "sqrt(N)", "20 - N"])
def test_a_size_that_the_parser_reads_is_one_that_programs_run_on(engine, size):
    forward = make_forward("f", "N: 16, D: 4", f"X: [N, {size}]", "Y", "Y = X * 2\n")

    facts = engine.facts(forward)

    assert facts.error == ""
    assert facts.shapes["X"] == (16, integer_of(size, {"N": 16, "D": 4}))


def test_a_width_of_heads_times_head_size_stays_it_on_hidden_sizes():
    source = "h = x.view(S, T, nh, hs).transpose(1, 2)\ny = h * 2\n"
    forward = make_forward("f", "S: 2, T: 5, C: 12, nh: 3, hs: 4", "x: [S, T, C]", "y", source)
    study = ForwardReferences(forward, OpenJail(), FactsCache(None))

    assert not study.pinned
    for name in ("a", "b"):
        dims = study.sets[name].dims
        assert dims["C"] == dims["nh"] * dims["hs"] != 12
