"""Errors between this server and a learning platform."""


class LaunchError(Exception):
    """A message of a platform that is not believed; the text says what was seen and what to do about it.

    *trouble* is what families of platforms may know more about; "" for nothing.
    """

    def __init__(self, message: str, *, trouble: str = "") -> None:
        super().__init__(message)
        self.trouble = trouble


class PlatformError(Exception):
    """A platform that does not answer, or answers otherwise than it should.

    *status* is that of its answer, None where there was none; *answer* is what it said.
    """

    def __init__(self, message: str, *, status: int | None = None, answer: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.answer = answer
