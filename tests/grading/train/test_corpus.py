"""Lists of names: what is read, what is refused, how it is divided and cut into examples."""

import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.grading.train.corpus import FEWEST, NamesError, examples_of, read_census, read_names, spell_name, split_names

MANY = "\n".join(f"{a}{b}" for a in "abcdefghijklm" for b in "nopqrstuvwxyz")
names = st.lists(st.text(st.sampled_from("abcxyz"), min_size=1, max_size=9), min_size=1, max_size=20)


def test_a_name_gives_one_example_for_each_letter_and_one_for_its_end():
    examples = examples_of(["emma"])

    assert ["".join(".abcdefghijklmnopqrstuvwxyz"[one] for one in row) for row in examples.contexts] == [
        "...", "..e", ".em", "emm", "mma",
    ]  # fmt: skip
    assert examples.targets.tolist() == [5, 13, 13, 1, 0]


@given(names, st.integers(1, 5))
def test_examples_are_those_of_a_plain_loop(names, context):
    contexts, targets = [], []
    for name in names:
        window = [0] * context
        for symbol in [*(ord(letter) - 96 for letter in name), 0]:
            contexts.append(window)
            targets.append(symbol)
            window = [*window[1:], symbol]

    examples = examples_of(names, context)

    assert examples.contexts.tolist() == contexts
    assert examples.targets.tolist() == targets
    assert examples.contexts.dtype == examples.targets.dtype == np.uint8


def test_names_are_shuffled_with_seed_42_and_divided_by_name():
    names = read_names(MANY, "a list").names
    shuffled = list(names)
    random.seed(42)
    random.shuffle(shuffled)

    parts = split_names(names)

    assert [*parts["train"], *parts["validation"], *parts["test"]] == shuffled
    assert [len(parts[part]) for part in ("train", "validation", "test")] == [135, 17, 17]


def test_of_a_line_that_is_no_name_forty_letters_are_shown():
    with pytest.raises(NamesError, match=f"a list, line 2: '{'a' * 39}-' holds more"):
        read_names(f"emma\n{'a' * 39}-{'b' * 9}", "a list")


def test_a_list_keeps_its_order_and_its_repetitions():
    names = read_names("﻿Emma\r\n\r\n  olivia \nemma\n" + MANY, "a list").names

    assert names[:3] == ("emma", "olivia", "emma")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", f"a list holds 0 names; a training run needs at least {FEWEST}"),
        ("emma\nolivia", "a list holds 2 names"),
        (MANY + "\njosé", "a list, line 170: 'josé' holds more than the letters a to z."),
        (MANY + "\nmary ann", "line 170: 'mary ann'"),
        ("name,count\n" + MANY, "line 1: 'name,count'"),
        ("x" * 41 + "\n" + MANY, "line 1: a name of 41 letters; the longest is 40."),
        ("\0\x01\x02", "line 1:"),
    ],
)
def test_what_is_no_list_of_names_is_refused_with_its_line(text, said):
    with pytest.raises(NamesError, match=re.escape(said)):
        read_names(text, "a list")


def test_census_tables_give_each_first_name_once_in_order():
    table = "".join(f"{name.upper()} 1.0 2.0 3\n" for name in MANY.split())

    names = read_census([table, table + "ZOE 0.1 0.2 4\n"], "the census").names

    assert names == (*sorted(MANY.split()), "zoe")


def test_a_row_of_symbols_spells_a_name_up_to_its_end():
    assert spell_name([5, 13, 13, 1, 0, 7]) == "emma"
    assert spell_name([0]) == ""
