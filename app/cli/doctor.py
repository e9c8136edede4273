"""`backhand doctor`: what protects the machine that runs learners' code, and what is missing."""

import sys
from typing import NoReturn

import typer

from app.engine.names import load_names
from app.grading.names import NamesError
from app.sandbox.canaries import CANARIES, canaries
from app.sandbox.protection import Layer
from app.sandbox.runner import Jail
from app.settings import Settings

WORDS = {"required": "MISSING", "strong": "missing", "extra": "not used"}


def doctor() -> None:
    """Print every layer of the jail and attack it; exit non-zero when code or training would be refused."""
    settings = Settings()
    try:
        names = load_names(settings.names)
        typer.echo(f"{'on':<9} names: {len(names.names):,} of {names.source}")
    except NamesError as error:
        _fail(f"Training is refused: {error}")
    jail = Jail(require_landlock=settings.require_landlock, unsafe=settings.unsafe_no_sandbox)
    try:
        for layer in jail.facts:
            typer.echo(_line(layer))
        if jail.refusal:
            _fail(f"Code is refused: {jail.refusal}")
        if not all(layer.on for layer in jail.facts if layer.name == "seccomp"):
            _fail("Code runs WITHOUT a jail, because BACKHAND_UNSAFE_NO_SANDBOX is set.")
        succeeded = canaries(jail)
        typer.echo(f"{len(CANARIES) - len(succeeded)} of {len(CANARIES)} test attacks were stopped.")
        if succeeded:
            _fail(f"Code is refused: these test attacks succeeded: {', '.join(succeeded)}.")
        typer.echo("Code runs in the jail.")
    finally:
        jail.close()


def _line(layer: Layer) -> str:
    if layer.on:
        return f"{'on':<9} {layer.name}"
    return f"{WORDS[layer.weight]:<9} {layer.name}: {layer.reason} {layer.remedy}".rstrip()


def _fail(message: str) -> NoReturn:
    typer.echo(message, err=True)
    sys.exit(1)
