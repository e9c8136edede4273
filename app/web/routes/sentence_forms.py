"""Forms for sentences of instructors: for a mistake that nothing names, or in two wordings of which one helps."""

from typing import Annotated

from pydantic import BaseModel, Field

from app.store.written_sentences import LONGEST_SENTENCE
from app.teaching.text_input import one_line

EMPTY = "Write the sentence. It is shown to everybody who makes this mistake."
EMPTY_WORDING = "Write both sentences."
SAME = "The two sentences are the same, so there is nothing to compare."
TOO_LONG = f"A sentence has at most {LONGEST_SENTENCE} characters; this one has {{count}}."
Named = Annotated[str, Field(max_length=200)]


class PlaceFields(BaseModel):
    """Place of a sentence: an exercise of a lesson."""

    lesson: Named = ""
    exercise: Named = ""


class MistakeFields(PlaceFields):
    """A mistake that nothing names, by its key."""

    mistake: Named = ""


class SentenceFields(MistakeFields):
    """A sentence for it, and a text that makes it."""

    said: str = ""
    example: str = ""

    @property
    def problem(self) -> str:
        """Reason why no such sentence is kept; "" for none."""
        return length_problem(one_line(self.said)) or ("" if one_line(self.said) else EMPTY)


class AboutFields(PlaceFields):
    """A mistake, by its code, or a hint, which two wordings are about."""

    about: Named = ""


class WordingFields(AboutFields):
    """The two wordings."""

    first: str = ""
    second: str = ""

    @property
    def said(self) -> tuple[str, str]:
        return one_line(self.first), one_line(self.second)

    @property
    def problem(self) -> str:
        """Reason why these are not compared; "" for none."""
        if not all(self.said):
            return EMPTY_WORDING
        return SAME if self.said[0] == self.said[1] else length_problem(max(self.said, key=len))


def length_problem(sentence: str) -> str:
    return TOO_LONG.format(count=len(sentence)) if len(sentence) > LONGEST_SENTENCE else ""
