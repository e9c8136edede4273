"""Settings and texts that hold for all lessons of a course."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CoursePage:
    """TeX *macros* by name, without the backslash, and the language of the prose."""

    macros: Mapping[str, str] = field(default_factory=dict)
    lang: str = ""


NO_PAGE = CoursePage()
