"""The kinds of exercise, a folder each: there is no list of them, and a folder that is added is found."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def modules_called(name: str) -> list[ModuleType]:
    """The module *name* of each kind's folder."""
    return [import_module(f"{__name__}.{folder.name}.{name}") for folder in iter_modules(__path__) if folder.ispkg]
