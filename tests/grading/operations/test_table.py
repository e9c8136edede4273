"""One table: whatever names an operation of torch's names a row, and a row brings what its form asks for."""

import re
import tomllib
from collections import Counter
from pathlib import Path

from app.grading.diagnosis import claims, factors, rule_slips
from app.grading.diagnosis.phrases import normalised_text
from app.grading.judge import call_errors, torch_errors
from app.grading.operations import arithmetic, curves, gates, moves, picks, reductions, values
from app.grading.operations.table import EXERCISES, FAMILIES, NAMES, OPERATIONS, RULES
from app.grading.reading.calls import CALLS
from app.grading.reading.rules import terms_of
from app.practice.named_programs import NAMED

PHRASES = Path(__file__).parents[3] / "app/grading/diagnosis/phrases.toml"
ROWS = (
    *arithmetic.ARITHMETIC, *curves.CURVES, *gates.GATES, *reductions.REDUCTIONS, *moves.MOVES, *picks.PICKING,
    *values.VALUES,
)  # fmt: skip
OWN_FORMS = frozenset({"curve", "binary", "power", "move", "value", "several"})
OF_TENSORS = frozenset({"size", "tensor", "number", "index"})
"""What is no operation: a size, and what an operation reads."""
NOT_READ = frozenset({"take"})
"""Functions that only their names are known of."""


def named_elsewhere() -> dict[str, set[str]]:
    """By table: the operations that it names."""
    slips = tomllib.loads(PHRASES.read_text("utf-8"))["SLIPS"]
    return {
        "phrases": {re.sub(r"\d$", "", op) if op not in RULES else op for op in slips},
        "twins and rivals": {*rule_slips.TWINS, *rule_slips.TWINS.values(), *rule_slips.RIVALS},
        "slips without edits": set(rule_slips.UNEDITED),
        "factors": {*factors.UNSCALED, *factors.EXPONENTS},
        "claims": {name.rstrip("_") for name in claims.GATES | claims.PARTS},
        "how calls are written": {name.rstrip("_") for name in call_errors.WRITTEN},
        "bare names": set(torch_errors.FUNCTIONS_OF_TORCH | torch_errors.FUNCTIONS_OF_F),
    }


def test_every_operation_that_is_named_anywhere_is_a_row():
    unknown = {table: names - NAMES.keys() - OF_TENSORS - NOT_READ for table, names in named_elsewhere().items()}

    assert not {table: names for table, names in unknown.items() if names}


def test_no_name_of_torch_belongs_to_two_rows():
    names = Counter(name for row in ROWS for name in (row.name, *row.also.split()))

    assert [name for name, count in names.items() if count > 1] == []


def test_every_form_of_a_call_has_its_reader():
    assert {row.form for row in ROWS} == OWN_FORMS | CALLS.keys()


def test_a_row_with_named_terms_has_as_many_in_its_rule():
    named = [row for row in ROWS if row.terms]

    assert named
    assert all(terms_of(row.name, row.back[0]).keys() == {*row.terms.split()} for row in named)


def test_other_forms_of_a_rule_are_no_twins_of_it():
    assert not [row.name for row in ROWS if {*map(normalised_text, row.alike)} & {*map(normalised_text, row.back)}]


def test_every_exercise_has_a_rule_a_family_and_a_name_of_its_own():
    assert len({exercise.name for exercise in EXERCISES}) == len(EXERCISES)
    assert all(exercise.back and exercise.family in FAMILIES for exercise in EXERCISES)
    assert {exercise.family for exercise in EXERCISES} == FAMILIES.keys()
    assert {name for program in NAMED for name in program.operations} <= {exercise.name for exercise in EXERCISES}


def test_going_back_needs_a_rule_or_none_at_all():
    assert all(row.back for row in OPERATIONS.values() if row.form in {"curve", "binary", "power"})
    assert not any(row.back for row in OPERATIONS.values() if row.form in {"move", "value", "several"})
