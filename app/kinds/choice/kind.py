"""Choose one of some options, or all that hold."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from app.kinds.choice.block import ChoiceQuestion
from app.kinds.choice.export import export_choice
from app.kinds.choice.mark import mark_choice
from app.kinds.quiz_kind import QuizKind


def _words(quiz: ChoiceQuestion, given: Sequence[str]) -> Markup:
    places = (int(name) for name in given if name.isdecimal() and len(name) < 4)
    chosen = [quiz.options[place].html for place in places if place < len(quiz.options)]
    return Markup("; ").join(chosen) or Markup("nothing chosen")


def _key(quiz: ChoiceQuestion) -> Iterator[tuple[str, Markup]]:
    for option in quiz.options:
        said = Markup(": ").join(markup for markup in (option.html, option.feedback) if markup)
        yield "Right" if option.right else "Wrong", said


KINDS = (
    QuizKind(
        name="choice",
        block=ChoiceQuestion,
        mark=mark_choice,
        answers=lambda quiz, *_: [[str(number) for number, option in enumerate(quiz.options) if option.right]],
        called="a choice",
        by_option=True,
        words=_words,
        decides=lambda quiz: [(option.html, option.right) for option in quiz.options],
        key=_key,
        export=export_choice,
    ),
)
