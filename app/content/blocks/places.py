"""Places in lesson files, and the lines that they are found in."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """Location in a lesson file; lines and columns count from 1, and line 0 is a whole file or folder."""

    path: str
    line: int = 0
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The lines of a lesson file, for columns."""

    path: str
    lines: Sequence[str]

    def place(self, line: int, snippet: str = "") -> SourceLocation:
        """Location of *snippet* on *line*, or of the line's first character that is not a space."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        offset = text.find(snippet) if snippet else -1
        column = offset if offset >= 0 else len(text) - len(text.lstrip())
        return SourceLocation(self.path, max(line, 1), column + 1)
