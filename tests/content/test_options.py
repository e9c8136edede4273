"""What an author is told of a value that cannot be read: their words, not those of a parser."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.content.blocks import SourceLocation
from app.content.text.errors import ErrorCollector
from app.content.text.options import Value, node_of

OF_A_PARSER = re.compile(r"scalar|stream|token|node|block|flow|alias|scan|document|expected|YAML", re.IGNORECASE)


def told(text: str, column: int = 9) -> list[str]:
    faults = ErrorCollector("a.md")
    node_of(Value(text, SourceLocation("a.md", 7, column)), faults)
    return [str(one) for one in faults.found]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("{X: [8] positive}", "7:17", 'No comma parts this from what is before it. Write the comma, or put what'),
        ("{N: 32, D: 100", "7:9", "What begins here has no end."),
        ("N: 32, D: 100: 3", "7:17", "A second colon with a space behind it stands in this line. Write it in braces"),
        ("{N: [3}", "7:15", "This bracket closes none that is open."),
        ("[a] b", "7:13", "The value has ended before this. Put what belongs together in quotes"),
        ("`x`", "7:9", "No value begins with this sign."),
        ("{a:\tb}", "7:12", "A tab stands here."),
        ("*x", "7:11", "No value begins with `*`."),
        (r'"\d"', "7:11", "In double quotes a backslash begins a sign, and this is none."),
        ("[" * 13 + "]" * 13, "7:35", "Brackets stand in brackets more than 12 deep."),
        ("\x01", "7:9", "This value holds a sign that no text has."),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_read_is_told_in_the_words_of_an_author(text: str, place: str, message: str) -> None:
    (found,) = told(text)

    assert found.startswith(f"a.md:{place}: not-yaml {message}")


@given(st.text(alphabet="ab1:,[]{}'\"\\ \n\t#&*!|>%@`-?", max_size=24), st.sampled_from([1, 9]))
def test_no_word_of_a_parser_is_told_of_any_value(text: str, column: int) -> None:
    assert [one for one in told(text, column) if OF_A_PARSER.search(one.replace("not-yaml", ""))] == []
