"""Rules of operations as lines of torch."""

import pytest

from app.practice.rule_text import rule_in_torch


def test_an_unknown_word_of_a_rule_names_the_tables_that_lack_it() -> None:
    with pytest.raises(KeyError, match=r"nose.*ALONG.*reading.rules"):
        rule_in_torch("g * nose(x)", {"g": "dy", "x": "x"}, {"x": 2}, None)
