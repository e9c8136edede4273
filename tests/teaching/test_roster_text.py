"""A roster is read however it was pasted, and what is odd about a line is told with its number."""

from dataclasses import dataclass

import pytest

from app.teaching.roster import Entry, read_days, read_roster
from app.teaching.sheets import as_sheet, guarded, rows_of, text_of


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
    ],
)
def test_a_list_is_read_as_it_was_meant(text: str, people: list[tuple[str, str, str]]) -> None:
    assert named(text) == people
    assert read_roster(text).faults == ()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("Ada,1\nBob,1", 2, "stands in line 1"),
        ("name,id\nAda,1\n,2", 3, "no name"),
        ("Ada\nB\0b", 2, "character"),
        ("Ada\nB\ufffdb", 2, "character"),
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
    assert listing.entries[-1] == Entry(5001, "Person 4999", "4999")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_file_is_read_in_the_letters_that_programs_write(encoding: str) -> None:
    assert named(text_of("Zoë;1".encode(encoding))) == [("Zoë", "1", "")]


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_what_a_program_for_tables_would_run_is_guarded(cell: str) -> None:
    assert guarded(cell) == f"'{cell}"
    assert rows_of(as_sheet([[cell.strip(), "x"]]))[0][1][0].startswith(("'", "x"))


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("Eve;=1+1", "Eve;'=1+1"),
        ("Eve; @SUM(A1);+1", "Eve;' @SUM(A1);'+1"),
        ("Eve\n=1", "Eve\n'=1"),
        (" =1", "' =1"),
        ("＝1", "'＝1"),
        ("Lovelace, Ada - 1; a=b", "Lovelace, Ada - 1; a=b"),
    ],
)
def test_no_cell_begins_a_formula_whatever_separates_cells(cell: str, shown: str) -> None:
    assert guarded(cell) == shown


def test_a_number_stays_one() -> None:
    assert guarded(-1.5) == "-1.5"


@dataclass(frozen=True)
class Somebody:
    name: str
    external_id: str | None = None


def test_lines_of_days_mean_somebody_by_id_or_name() -> None:
    ada, bob, eve, other = Somebody("Ada"), Somebody("Bob", "4711"), Somebody("Eve"), Somebody("Eve", "4712")

    found, faults = read_days(
        "Ada, +3\n4711;2 days\n\nEve, 1\nada,9\nMax,1\nAda\nEve\t0\n4712,400", [ada, bob, eve, other]
    )

    assert found == [(ada, 3), (bob, 2)]
    assert [one.line for one in faults] == [4, 5, 6, 7, 8, 9]
    assert "2 people are called Eve" in faults[0].message
    assert "Nobody in this class" in faults[2].message
