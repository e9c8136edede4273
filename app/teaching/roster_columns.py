"""Columns of a roster: recognised by the heads that schools use, or assigned by the instructor."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from app.teaching.text_input import one_line, plain_letters

Field = Literal["name", "first", "last", "id", "label", ""]
"""What a column may hold; "" for one that is not read."""
FIELDS: tuple[Field, ...] = get_args(Field)
HEADS: Mapping[Field, tuple[str, ...]] = {
    "name": (
        *("name", "full name", "student", "student name", "learner", "display name"),
        *("vollstandiger name", "teilnehmer", "studierende", "studierender"),
        *("nom complet", "nom et prenom", "etudiant"),
        *("nombre completo", "nombre y apellidos", "apellidos y nombre", "estudiante", "alumno"),
    ),
    "first": ("first name", "firstname", "given name", "vorname", "vornamen", "rufname", "prenom", "nombre", "nombres"),
    "last": (
        *("last name", "lastname", "surname", "family name", "nachname", "familienname", "zuname"),
        *("nom", "nom de famille", "apellido", "apellidos", "apellido s", "primer apellido"),
    ),
    "id": (
        *("id", "external id", "username", "kennung", "nutzername", "benutzername", "sis user id", "id number"),
        *("student id", "student number", "matrikelnummer", "matrikelnr", "matrikel nr", "matrikel", "matr nr"),
        *("matnr", "mat nr", "mtknr", "mtk nr", "id nummer", "immatrikulationsnummer"),
        *("numero etudiant", "numero d etudiant", "n etudiant", "no etudiant", "num etudiant", "code etudiant"),
        *("numero d identification", "matricule"),
        *("numero de id", "numero de estudiante", "numero de alumno", "matricula", "dni", "nia", "expediente"),
    ),
    "label": (
        *("label", "section", "group", "groups", "gruppe", "gruppen", "ubungsgruppe", "tutorium"),
        *("groupe", "groupes", "groupe de td", "grupo", "grupos"),
    ),
}
"""What columns are called, here and where rosters come from, in letters without marks; of several, the last counts."""
NO_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class RosterColumn:
    """Column by its *head*, or by its first cell, and the *field* that is read from it."""

    head: str
    field: Field


def columns_of(cells: Sequence[str]) -> tuple[RosterColumn, ...]:
    """Columns named by the first line; none if it is a person already."""
    words = [_word(cell) for cell in cells]
    field_at = {words.index(word): field for field, known in HEADS.items() for word in known if word in words}
    # Of several columns for one field, the one that is named last in the table is read.
    used = {
        field: max((_rank(field, words[i]), i) for i, f in field_at.items() if f == field)[1]
        for field in field_at.values()
    }
    fields = {index: field for field, index in used.items()}
    if "name" in used and "first" in used and "last" not in used:
        fields[used["name"]] = "last"  # `Name;Vorname` is how a surname is called beside a first name
    if not {"name", "first", "last"} & set(fields.values()):
        return ()
    return tuple(RosterColumn(one_line(cell), fields.get(index, "")) for index, cell in enumerate(cells))


def _word(cell: str) -> str:
    return " ".join(NO_LETTERS.sub(" ", plain_letters(one_line(cell))).split())


def _rank(field: Field, word: str) -> int:
    return HEADS[field].index(word)


def assign_columns(cells: Sequence[str], fields: Sequence[str]) -> tuple[RosterColumn, ...]:
    """Columns as the instructor assigned them; an unknown field is not read, and of two for one field the first is."""
    roster_columns: list[RosterColumn] = []
    for index, cell in enumerate(cells):
        field: Field = next((name for name in FIELDS if index < len(fields) and name == fields[index]), "")
        if any(roster_column.field == field for roster_column in roster_columns):
            field = ""
        roster_columns.append(RosterColumn(one_line(cell), field))
    return tuple(roster_columns)
