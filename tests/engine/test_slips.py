"""Slips of the pen that Python does not mind, or minds further down: the message names the line that caused it."""

import pytest

from tests.grading.boxes.load import Box, make_forward

SOLUTION = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)"


def layer(sizes: str, weights: str) -> Box:
    forward = make_forward("layer", sizes, f"X: [N, D]; W: {weights}; b: [{weights[4]}]", "Y", "Y = X @ W + b")
    return Box("layer", forward, ("dX", "dW", "db"), SOLUTION)


LAYER = layer("N: 4, D: 3, H: 5", "[D, H]")
SQUARE = layer("N: 4, D: 3", "[D, D]")


@pytest.mark.parametrize(
    ("code", "line", "name"),
    [
        (SOLUTION.replace("dX =", "dX =="), 1, "dX"),
        (SOLUTION.replace("db =", "db =="), 3, "db"),
        (SOLUTION.replace("dX =", "if N:\n    dX =="), 2, "dX"),
    ],
)
def test_a_comparison_in_place_of_an_assignment_is_named_at_its_line(engine, code, line, name):
    verdict = engine.check(LAYER.task(), code)

    assert (verdict.outcome, verdict.line) == ("error", line)
    assert verdict.message == f"`==` compares, and `{name}` does not exist yet. One `=` assigns: `{name} = …`."
    (missing,) = (one for one in verdict.names if one.name == name)
    assert missing.verdict == "not-yet"
    assert missing.message == f"Line {line} compares `{name}`, with `==`; one `=` assigns it."
