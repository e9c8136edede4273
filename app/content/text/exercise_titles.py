"""Titles of exercises for the board, the projector and lists to choose from."""

from functools import lru_cache

from markupsafe import Markup

from app.content.blocks.code_exercises import Grad
from app.content.blocks.exercises import Exercise
from app.content.text.mathml import words_of

MAX_TITLE_CHARACTERS = 60
ENDS = ("? ", ". ", ": ")


def exercise_title(exercise: Exercise) -> str:
    """The first words of its question; of a box without one, what is to be written."""
    quiz = exercise.draws[0] if exercise.draws else exercise
    words = _first_words(words_of(Markup(str(quiz.prompt).replace("</p>", "</p> "))))
    if words:
        return words
    if isinstance(exercise, Grad):
        return _first_words(f"Write {', '.join(exercise.require)}")
    return exercise.name.replace("-", " ")


@lru_cache(maxsize=4096)
def _first_words(text: str) -> str:
    """The first sentence of *text*, or as many whole words of it as a title has."""
    line = " ".join(text.split())
    end = min((position + 1 for name in ENDS if (position := line.find(name)) > 0), default=len(line))
    first = line[:end].removesuffix(".").removesuffix(":")
    if len(first) <= MAX_TITLE_CHARACTERS:
        return first
    return f"{first[:MAX_TITLE_CHARACTERS].rpartition(' ')[0] or first[:MAX_TITLE_CHARACTERS]} …"
