"""The hint that is offered is about the gradient at fault and about its kind of mistake."""

import importlib
import pkgutil
from importlib.resources import files

import pytest

from app.grading import diagnosis
from app.grading.judge.hint_choice import KINDS, fitting_hint, row_of

HINTS = (
    "Write down the shape that you want, then place the operands.",
    "Along which axis was <code>b</code> copied?",
    "<code>X</code> feeds two lines; each sends back a share.",
    "Every local derivative meets the upstream of its line.",
    '<code class="together">dW = X.___ @ dY</code>',
    '<code class="together">db = dY.sum(___)</code>',
)


@pytest.mark.parametrize(
    ("name", "code", "fits"),
    [
        ("dW", "dW:transposed", 0),
        ("dX", "dX:transposed", 0),
        ("dX", "dX:error:matmul", 0),
        ("db", "db:wrong-axis", 5),
        ("dX", "dX:share-missing:Z", 2),
        ("dX", "dX:upstream-missing", 3),
        ("dX", "dX:through:dZ:upstream-missing", 3),
        ("dW", "dW:unrecognised", 4),
        ("dX", "dX:declared-1", 2),
        ("dQ", "dQ:unrecognised", None),
    ],
)
def test_a_hint_fits_the_name_and_the_kind_of_mistake(name, code, fits):
    assert fitting_hint(HINTS, name, code, ("dX", "dW", "db")) == fits


def test_of_hints_that_fit_alike_the_first_tells_least():
    hints = ("<code>dW</code> has the shape of <code>W</code>.", "Turn <code>X</code> for <code>dW</code>.")

    assert fitting_hint(hints, "dW", "dW:transposed") == 0


def test_a_hint_about_another_gradient_does_not_fit():
    assert fitting_hint(("<code>db</code> is a sum along an axis.",), "dW", "dW:wrong-axis", ("dW", "db")) is None


def test_without_hints_there_is_none():
    assert fitting_hint((), "dW", "dW:mean") is None


ROWS = {
    "db:mean": "mean",
    "dW:factor:N": "factor",
    "db:wrong-axis+sign": "wrong-axis",
    "dX:through:db:mean": "mean",
}


@pytest.mark.parametrize(("code", "row"), ROWS.items())
def test_a_code_has_a_row(code, row):
    assert row_of(code) == row


def test_every_kind_is_a_row_of_a_table():
    names = [one.name for one in pkgutil.iter_modules(diagnosis.__path__)]
    modules = [importlib.import_module(f"{diagnosis.__name__}.{name}") for name in names]
    documented = " ".join(module.__doc__ or "" for module in modules)
    said = files(diagnosis.__name__).joinpath("phrases.toml").read_text(encoding="utf-8")

    assert [row for row in KINDS if f"`{row}" not in documented and f'["{row}' not in said] == []
