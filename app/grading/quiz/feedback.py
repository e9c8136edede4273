"""What a learner is told about a quiz answer."""

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """The reply to one quiz answer.

    Args:
        correct: None where the answer could not be read or was empty: neither right nor wrong.
        echo: How the answer was read, such as `(27,)`; empty where there is nothing to say.
        message: The reason, rendered.
    """

    correct: bool | None
    message: Markup
    echo: str = ""
