"""A roster is read however it was pasted, and what is odd about a line is told with its number."""

import csv
import io
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.store.tables import Membership
from app.teaching import text_input
from app.teaching.roster import RosterEntry, distinct_names, read_days, read_roster
from app.teaching.roster_columns import HEADS, columns_of
from app.teaching.sheets import MOST_ROWS, as_sheet, guard_cell, rows_of, text_of
from app.teaching.text_input import LONG_NAME, name_fault, one_line


def named(text: str) -> list[tuple[str, str, str]]:
    return [(one.name, one.external_id, one.label) for one in read_roster(text).entries]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Ada\nBob", [("Ada", "", ""), ("Bob", "", "")]),
        ("Ada Lovelace,4711,Group A", [("Ada Lovelace", "4711", "Group A")]),
        ("Ada Lovelace;4711;Group A", [("Ada Lovelace", "4711", "Group A")]),
        ("Ada Lovelace\t4711", [("Ada Lovelace", "4711", "")]),
        ("Lovelace, Ada", [("Lovelace, Ada", "", "")]),
        ("Lovelace, Ada, s4711, A", [("Lovelace, Ada", "s4711", "A")]),
        ('"Lovelace, Ada",4711', [("Lovelace, Ada", "4711", "")]),
        ("\ufeffname;id;label\r\nAda;1;A\r\n\r\nBob;2;\r\n", [("Ada", "1", "A"), ("Bob", "2", "")]),
        ("Nachname;Vorname;Matrikelnummer\nLovelace;Ada;0042", [("Ada Lovelace", "0042", "")]),
        ("Student,ID,SIS User ID,Section\nAda,9,4711,B", [("Ada", "4711", "B")]),
        ("  Ada   Lovelace  ,  7 ", [("Ada Lovelace", "7", "")]),
        ("\u202eAda\u200f", [("Ada\u200f", "", "")]),
        ("=HYPERLINK(1)", [("=HYPERLINK(1)", "", "")]),
        ("Ada Lovelace|4711|A", [("Ada Lovelace", "4711", "A")]),
        ("77,Ada Lovelace", [("Ada Lovelace", "77", "")]),
        ("s77;Ada;B", [("Ada", "s77", "B")]),
        ("Anna7 Muller7,77", [("Anna7 Muller7", "77", "")]),
        ("sep=;\nname;id\nAda;7", [("Ada", "7", "")]),
        ('"sep=,"\nLovelace, Ada, 7', [("Lovelace, Ada", "7", "")]),
    ],
)
def test_a_list_is_read_as_it_was_meant(text: str, people: list[tuple[str, str, str]]) -> None:
    assert named(text) == people
    assert read_roster(text).faults == ()


ADA = [("Ada Lovelace", "0042", "B")]


@pytest.mark.parametrize(
    "head",
    [
        "Nachname;Vorname;Matrikelnr.;Gruppe",
        "Name;Vorname;MtkNr;Übungsgruppe",
        "Familienname;Rufname;Mtk.-Nr.;Gruppen",
        "Nachname;Vorname;ID-Nummer;Gruppe",
        "Nom;Prénom;Numéro étudiant;Groupe",
        "NOM;PRENOM;N° étudiant;Groupes",
        "Nom de famille;Prénom;Numéro d’identification;Groupe",
        "Apellidos;Nombre;DNI;Grupo",
        "Apellido(s);Nombre;Número de ID;Grupos",
        "Last name;First name;ID number;Groups",
    ],
)
def test_heads_of_schools_of_four_languages_are_read(head: str) -> None:
    listing = read_roster(f"{head}\nLovelace;Ada;0042;B")

    assert [(one.name, one.external_id, one.label) for one in listing.entries] == ADA
    assert listing.unread == ()


@pytest.mark.parametrize(("field", "words"), HEADS.items())
def test_every_head_that_is_known_is_found(field: str, words: tuple[str, ...]) -> None:
    beside = "first name" if field == "last" else "last name"
    for word in words:
        columns = columns_of([beside, word.title()])
        assert columns[1].field == ("last" if field == "name" and beside == "first name" else field), word


def test_columns_that_were_not_read_are_named() -> None:
    listing = read_roster("Name;Studiengang;Matrikelnr.;E-Mail\nAda;BSc;7;ada@example.org")

    assert listing.unread == ("Studiengang", "E-Mail")


def test_columns_are_read_as_somebody_says() -> None:
    text = "Kandidat;Zahl;Kurs\nAda;7;A\nBob;8;B"

    named = read_roster(text, ["name", "id", "label"])
    unnamed = read_roster(text.partition("\n")[2], ["name", "id", "id", "made up"], named=False)

    assert [(one.name, one.external_id, one.label) for one in named.entries] == [("Ada", "7", "A"), ("Bob", "8", "B")]
    assert [(one.name, one.external_id, one.label) for one in unnamed.entries] == [("Ada", "7", ""), ("Bob", "8", "")]


def test_the_gradebook_of_canvas_is_a_roster() -> None:
    listing = read_roster(
        "Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (7)\n,,,,,Manual Posting\n    Points Possible,,,,,10\n"
        '"Lovelace, Ada",9,4711,ada,B,8\n"Student, Test",,,,B,'
    )

    assert [(one.name, one.external_id, one.label) for one in listing.entries] == [("Lovelace, Ada", "4711", "B")]
    assert listing.faults == ()
    assert [one.line for one in listing.notes] == [2, 3, 5]
    assert listing.unread == ("ID", "SIS Login ID", "Week 1 (7)")


def test_two_of_one_name_without_ids_are_told() -> None:
    listing = read_roster("Lena Vogt\nBob\nlena vogt\nLena Vogt,7")

    assert len(listing.entries) == 4
    assert [(one.line, "in line 1" in one.message) for one in listing.notes] == [(3, True)]


@given(st.text(max_size=80), st.lists(st.text(max_size=8), max_size=5) | st.none(), st.booleans())
def test_any_text_is_read_as_a_list(text: str, fields: list[str] | None, named: bool) -> None:
    listing = read_roster(text, fields, named=named)

    assert all(one.name for one in listing.entries)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("Ada,1\nBob,1", 2, "stands in line 1"),
        ("name,id\nAda,1\n,2", 3, "no name"),
        ("Ada\nB\0b", 2, "character"),
        ("Ada\nB\ufffdb", 2, "character"),
        ("name;id\nAda;2.00E+06", 2, "was shortened"),
        ("Ada;4,71E+12", 1, "was shortened"),
        ("A" * 81, 1, "at most 80"),
        ("Ada," + "1" * 300, 1, "at most 200"),
        ('Ada,1\n"Bob,2\nEve,3', 2, "quotation mark"),
        ("\n".join(f"Somebody,{n}" for n in range(5003)), 5002, "More than 5,000"),
    ],
)
def test_an_odd_line_is_told_with_its_number(text: str, line: int, words: str) -> None:
    fault = read_roster(text).faults[0]

    assert words in fault.message
    assert fault.line == line


def test_five_thousand_rows_are_read() -> None:
    listing = read_roster("name;id\n" + "\n".join(f"Person {n};{n}" for n in range(5000)))

    assert len(listing.entries) == 5000
    assert listing.entries[-1] == RosterEntry(5001, "Person 4999", "4999")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_file_is_read_in_the_letters_that_programs_write(encoding: str) -> None:
    assert named(text_of("Zoë;1".encode(encoding))) == [("Zoë", "1", "")]


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_what_a_program_for_tables_would_run_is_guarded(cell: str) -> None:
    assert guard_cell(cell) == f"'{cell}"
    assert rows_of(as_sheet([[cell.strip(), "x"]]))[0][1][0].startswith(("'", "x"))


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("Eve;=1+1", "Eve;'=1+1"),
        ("Eve; @SUM(A1);+1", "Eve;' @SUM(A1);'+1"),
        ("Eve\n=1", "Eve\n'=1"),
        (" =1", "' =1"),
        ("＝1", "'＝1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠SUM(A1)", "'＠SUM(A1)"),
        ('a;"=1+1', "a;'\"=1+1"),
        ('a; " "@x', 'a;\' " "@x'),
        ("Lovelace, Ada - 1; a=b", "Lovelace, Ada - 1; a=b"),
    ],
)
def test_no_cell_begins_a_formula_whatever_separates_cells(cell: str, shown: str) -> None:
    assert guard_cell(cell) == shown


FORMULAS = "=+-@＝＋－＠"


@given(
    st.lists(st.text(st.sampled_from(FORMULAS + ";,\t\r\n\" 'a1"), max_size=12), min_size=1, max_size=3),
    st.sampled_from(";,\t"),
)
@example(["Ann", 'a;"=1+1', "z"], ";")
def test_no_cell_of_a_list_begins_a_formula_in_any_program(cells: list[str], separator: str) -> None:
    text = as_sheet([["Ann", *cells]]).removeprefix("\ufeff")

    for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
        assert not [cell for cell in row if cell.lstrip(" ").startswith(tuple(FORMULAS))]


def test_a_number_stays_one() -> None:
    assert guard_cell(-1.5) == "-1.5"


@dataclass(frozen=True)
class Somebody:
    name: str
    external_id: str | None = None


def test_namesakes_are_told_apart_and_nobody_else() -> None:
    rows = [("Ada", None, None), ("Eve", "7", "A"), ("eve", None, "B"), ("Éve", None, None), ("Max", None, "A")]
    people = [Membership(learner_id=n, name=a, external_id=b, label=c) for n, (a, b, c) in enumerate(rows)]
    twins = [Membership(learner_id=n, name="Tom", external_id=None, label="A") for n in (8, 9)]

    assert list(distinct_names([*people, *twins]).values()) == [
        "Ada", "Eve (7)", "eve (B)", "Éve (no. 3)", "Max", "Tom (A no. 8)", "Tom (A no. 9)"
    ]  # fmt: skip


def test_lines_of_days_mean_somebody_by_id_or_name() -> None:
    ada, bob, eve, other = Somebody("Ada"), Somebody("Bob", "4711"), Somebody("Eve"), Somebody("Eve", "4712")

    found, faults = read_days(
        "Ada, +3\n4711;2 days\n\nEve, 1\nada,9\nMax,1\nAda\nEve\t0\n4712,400", [ada, bob, eve, other]
    )

    assert found == [(ada, 3), (bob, 2)]
    assert [one.line for one in faults] == [4, 5, 6, 7, 8, 9]
    assert "2 people are called Eve" in faults[0].message
    assert "Nobody in this class" in faults[2].message


class Watched:
    """Somebody whose name is looked at, and how often that is of all of them."""

    looks = 0
    external_id = None

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        Watched.looks += 1
        return self._name


def test_many_lines_of_days_look_at_each_person_a_few_times() -> None:
    people = [Watched(f"person {at}") for at in range(200)]
    Watched.looks = 0

    found, faults = read_days("\n".join(f"person {at % 400}, +1" for at in range(MOST_ROWS)), people)

    assert len(found) == 200
    assert len(faults) == MOST_ROWS - 200
    assert Watched.looks < 4 * MOST_ROWS


def test_more_lines_of_days_than_a_class_has_people_are_refused_whole() -> None:
    found, faults = read_days("Ada, +3\n" * (MOST_ROWS + 1), [Somebody("Ada")])

    assert found == []
    assert [one.message for one in faults] == ["More than 5,000 lines. Send them in parts."]


def test_of_a_name_without_end_a_part_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    letters: list[str] = []

    def watched(letter: str) -> str:
        letters.append(letter)
        return "Lu"

    monkeypatch.setattr(text_input, "category", watched)

    assert name_fault(one_line("A" * 250_000)) == LONG_NAME
    assert len(letters) < 10_000


@given(st.text(max_size=30), st.sampled_from(["{}", "Ada, {}", "Ada, +{}", "{},3", "{};{}"]))
@example("²", "Ada, {}")
@example("٣", "Ada, +{}")
def test_any_line_of_days_is_read_or_refused(typed: str, form: str) -> None:
    found, faults = read_days(form.replace("{}", typed), [Somebody("Ada")])

    assert all(1 <= days <= 366 for _, days in found)
    assert all(one.message for one in faults)
