"""Where names come from: the census by default, a file by setting; and the figures of the well-known list."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from app.content.blocks import Train
from app.course.course import load_lesson
from app.engine.run_setup import setup_of
from app.engine.train.corpus_file import floor_of, load_examples, load_names, load_parts
from app.grading.train.corpus import NamesError, examples_of, least_loss
from app.installation import ROOT
from tests.engine.train.load import SETUP, long_list


def test_the_default_is_the_first_names_of_the_census():
    names = load_names()

    assert len(names.names) == 5163
    assert names.names[:3] == ("aaron", "abbey", "abbie")
    assert len(set(names.names)) == len(names.names)
    assert {part: len(some) for part, some in load_examples(None, 3).items()} == {
        "train": 28892, "validation": 3640, "test": 3590,
    }  # fmt: skip


def test_a_long_list_is_divided_as_everybody_divides_it(tmp_path):
    path = long_list(tmp_path)
    names = load_names(path)
    shuffled = path.read_text("utf-8").split()
    random.Random(42).shuffle(shuffled)
    parts = {"train": shuffled[:25626], "validation": shuffled[25626:28829], "test": shuffled[28829:]}

    assert (len(names.names), names.longest) == (32033, 15)
    assert {part: list(some) for part, some in load_parts(path).items()} == parts
    assert {part: len(some) for part, some in load_examples(path, 3).items()} == {
        part: sum(len(name) + 1 for name in some) for part, some in parts.items()
    }


def test_the_network_of_the_course_has_4137_or_12297_parameters():
    lesson = load_lesson(ROOT / "lessons" / "5-train" / "01-training.md")
    train = next(one for one in lesson.exercises if isinstance(one, Train))
    forward = lesson.forward(train.forward)

    setups = [setup_of(train, forward, preset) for preset in train.presets]

    assert [(preset.steps, setup.numbers) for preset, setup in zip(train.presets, setups, strict=True)] == [
        (2_000, 4137), (20_000, 12297), (200_000, 12297),
    ]  # fmt: skip
    scales = {one.name: one.scale for one in setups[0].parameters}
    assert math.isclose(scales["W1"], 5 / 3 / math.sqrt(30))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ("folder", "cannot be read: Is a directory"),
        (b"", "holds 0 names"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"\x89PNG\r\n", "is not UTF-8 text"),
    ],
)
def test_a_file_that_holds_no_names_is_named_with_the_reason(tmp_path, content, said):
    path = tmp_path / "names.txt"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)

    with pytest.raises(NamesError, match=said) as caught:
        load_names(path)

    assert "names.txt" in str(caught.value)


def first_setup():
    lesson = load_lesson(ROOT / "lessons/0-start/01-ten-minutes.md")
    train = next(one for one in lesson.exercises if isinstance(one, Train))
    return setup_of(train, lesson.forward(train.forward), train.presets[0])


def test_the_floor_of_the_first_model_is_the_loss_of_its_table_of_counts():
    examples = load_examples(None, 1)["train"]
    counts = np.zeros((27, 27))
    np.add.at(counts, (examples.contexts[:, 0], examples.targets), 1)
    table = counts / counts.sum(1, keepdims=True)

    floor = floor_of(first_setup(), examples)

    assert floor == pytest.approx(-np.log(table[examples.contexts[:, 0], examples.targets]).mean())
    assert 2.32 < floor < 2.34


def test_the_loss_floor_of_two_equal_symbols_is_their_logarithm():
    assert least_loss(examples_of(["ab", "ac"] * 50, 1)) == pytest.approx(math.log(2) / 3)


def test_a_model_of_several_symbols_or_another_loss_has_no_floor():
    setup = first_setup()
    halved = replace(setup.forward, source=setup.forward.source.replace("Yb)", "Yb) / 2"))

    assert floor_of(SETUP, load_examples(None, 3)["train"]) is None
    assert floor_of(replace(setup, forward=halved), load_examples(None, 1)["train"]) is None
