"""Groups of commands whose modules are loaded when one of them is called: `--help` needs none of what they import."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group


def group_of(*modules: str, about: str, name: str = "commands") -> typer.Typer:
    """The commands that *modules* have under *name*, as one group; its help says what they are *about*."""

    class LazyGroup(TyperGroup):
        def _load(self) -> None:
            for module in () if self.commands else modules:
                self.commands.update(get_group(getattr(import_module(module), name)).commands)

        def list_commands(self, ctx: Any) -> list[str]:
            self._load()
            return super().list_commands(ctx)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            self._load()
            return super().get_command(ctx, cmd_name)

    return typer.Typer(cls=LazyGroup, help=about, no_args_is_help=True)
