"""The codes and sentences of `phrases.toml`, which says how it is to be read."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from app.syntax import without_style

Phrase = tuple[str, str]
"""A code and a sentence, both with fields to fill in."""


class SlipPhrase(NamedTuple):
    """A phrase of a slip, with what else the learner's lines have to show before it is said."""

    code: str
    say: str
    shows: str = ""


@cache
def normalised_text(text: str) -> str:
    """*text* as it is written for comparison."""
    return without_style(text)


_TABLES = tomllib.loads(files("app.grading.diagnosis").joinpath("phrases.toml").read_text(encoding="utf-8"))
RULE: Mapping[str, Phrase] = {kind: (code, say) for kind, (code, say) in _TABLES["RULE"].items()}
LINE: Mapping[str, Phrase] = {kind: (code, say) for kind, (code, say) in _TABLES["LINE"].items()}


def sentences_of(module: str) -> Mapping[str, str]:
    """The sentences of the family *module*."""
    says: Mapping[str, str] = _TABLES["SAY"][module]
    return says


@cache
def slips_of(op: str, position: int) -> Mapping[str, SlipPhrase]:
    """The slips at one operand of an operation that have a sentence of their own, by the rule that they make of it."""
    slips = _TABLES["SLIPS"]
    rows = {**slips.get(op, {}), **slips.get(f"{op}{position}", {})}
    return {normalised_text(text): SlipPhrase(*row) for text, row in rows.items()}


def format_code(pattern: str, fields: Mapping[str, str]) -> str:
    """The code of *pattern*; with its detail where that is a name, such as `factor-extra:bnvar`."""
    row, _, detail = pattern.partition(":")
    detail = detail.format(**fields)
    name = detail.replace("+", "").replace("-", "_" if row.startswith("term-") else "-")
    return f"{row}:{detail}" if name.isidentifier() else row


_ALONE = re.compile(r"‹([^‹›|]*)(?:\|([^‹›|]*))?›")


def without_others(sentence: str) -> str:
    """*sentence* where nothing else is off."""
    return _ALONE.sub(r"\1", sentence)


def beside_others(sentence: str) -> str:
    """*sentence* where something else is off as well."""
    rest = _ALONE.sub(r"\2", sentence)
    return rest[:1].upper() + rest[1:]
