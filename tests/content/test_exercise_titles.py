"""An exercise is called by the first words of its question."""

import pytest
from markupsafe import Markup

from app.content.blocks.exercises import Exercise, SourceLocation
from app.content.text.exercise_titles import MAX_TITLE_CHARACTERS, exercise_title


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("<p>What is <code>dz</code> at this point?</p>", "What is dz at this point?"),
        ("<p>A product has two knobs. Turn <em>one</em>.</p>", "A product has two knobs"),
        ("<p>Is 1.5 right? Say so.</p>", "Is 1.5 right?"),
        ("<p>Look closely:</p><pre>x</pre>", "Look closely"),
        ("", "first line"),
    ],
)
def test_the_first_sentence_is_the_title(prompt: str, title: str) -> None:
    assert exercise_title(Exercise(place=SourceLocation("a.md", 1), name="first-line", prompt=Markup(prompt))) == title


def test_a_long_title_ends_after_a_word() -> None:
    prompt = Markup("<p>{}</p>").format("word " * 40)

    title = exercise_title(Exercise(place=SourceLocation("a.md", 1), name="long", prompt=prompt))

    assert title.endswith("word …")
    assert len(title) <= MAX_TITLE_CHARACTERS + 2
