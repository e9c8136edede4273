"""The list of names that a deployment trains on, read once per process."""

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from app.engine.run_setup import Setup
from app.grading.train.corpus import (
    PARTS,
    Examples,
    Names,
    NamesError,
    examples_of,
    least_loss,
    read_census,
    read_names,
    split_names,
    split_table,
)

CENSUS = ("dist.female.first", "dist.male.first")
CENSUS_SOURCE = "first names of the US census of 1990"
LARGEST_FILE = 20_000_000


@lru_cache(maxsize=4)
def load_names(path: Path | None = None) -> Names:
    """Load the names in the file at *path*, as they are there; without one, the census's.

    Raises:
        NamesError: The file cannot be read, or is no list of names.
    """
    if path is None:
        package = files("names")
        return read_census([(package / name).read_text("ascii") for name in CENSUS], CENSUS_SOURCE)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise NamesError(
                f"{path.name} is larger than {LARGEST_FILE:,} bytes; BACKHAND_NAMES wants a list of names."
            )
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise NamesError(f"BACKHAND_NAMES: {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise NamesError(f"BACKHAND_NAMES: {path} is not UTF-8 text; it wants one name a line.") from error
    return read_names(text, path.name)


@lru_cache(maxsize=4)
def load_parts(path: Path | None) -> dict[str, tuple[str, ...]]:
    """The names of each part: `train`, `validation`, `test`.

    Raises:
        NamesError: As `load_names`.
    """
    return split_names(load_names(path).names)


@lru_cache(maxsize=8)
def load_examples(path: Path | None, context: int) -> dict[str, Examples]:
    """Examples of each part.

    Raises:
        NamesError: As `load_names`.
    """
    parts = load_parts(path)
    return {part: examples_of(parts[part], context) for part in PARTS}


def examples_for(setup: Setup, path: Path | None) -> dict[str, Examples]:
    """Examples of each part of what *setup* trains on: a table of its lesson, or the names.

    Raises:
        NamesError: As `load_names`.
    """
    return load_examples(path, setup.width) if setup.table is None else split_table(setup.table)


def floor_of(setup: Setup, examples: Examples) -> float | None:
    """The least loss over *examples* of a model that sees one symbol of a name; None for every other model.

    With more symbols before it a context is soon one of its kind, and the least loss that of a list known by heart.
    """
    loss = f"{setup.forward.output} = F.cross_entropy({setup.logits}, {setup.target})"
    one_symbol = setup.table is None and setup.width == 1 and loss in setup.forward.source.splitlines()
    return least_loss(examples) if one_symbol else None
