"""Look for the slips in a learner's function or class: undo one at a time, and see in the jail whether its cases hold.

What is told has been tried: with these slips undone every case holds, or at least the first that failed.
"""

from collections.abc import Callable
from itertools import islice

from app.grading.judge.slips.alignment import WHOLE, TreeEdit, edits_between, slip_of
from app.grading.judge.slips.habits import habits_in
from app.grading.judge.slips.slip import PHRASES, VAGUE, Slip
from app.syntax import Program, parse_code, source_text, syntax_key

MAX_SEARCHED_CHARS = 20_000
"""Characters of a text that is looked through."""
MOST_HABITS = 40
MOST_RUNS = 24
MOST_LATE = 2
"""Tries that were stopped for their time; each costs all of what a try may take."""
MOST_SLIPS = 3

Holding = frozenset[str]
"""The names of the cases that hold."""
Try = Callable[[str], Holding | None]
"""Runs a text; None where it came to no end."""


class SlipSearch:
    """One search. *holds* runs a text on *cases*, in file order; *right* are those that hold for the learner's own."""

    def __init__(self, holds: Try, cases: tuple[str, ...], right: Holding) -> None:
        self._holds = holds
        self._cases = cases
        self._right = right
        self._runs = self._late = 0

    def slips_in(self, code: str, solution: str) -> tuple[Slip, ...]:
        """The slips of *code*, in the order of its lines; empty where none is sure."""
        if len(code) > MAX_SEARCHED_CHARS:
            return ()
        try:
            return self._slips_of(parse_code(code), parse_code(solution))
        except (SyntaxError, ValueError, RecursionError):
            return ()

    def _slips_of(self, tree: Program, right: Program) -> tuple[Slip, ...]:
        slips_so_far: list[Slip] = []
        holding = self._right
        while len(slips_so_far) < MOST_SLIPS:
            slips, complete = self._next(tree, right, holding)
            slips_so_far += slips
            if complete or not slips:
                break
            tree = slips[-1].tree
            holding = self._try_tree(tree) or holding
        return tuple(sorted(slips_so_far, key=lambda slip: slip.line))

    def _next(self, tree: Program, right: Program, holding: Holding) -> tuple[list[Slip], bool]:
        """The slips that make *tree* hold, or one with which more holds, and whether everything does then."""
        habits = [slip for slip in islice(habits_in(tree), MOST_HABITS) if syntax_key(slip.tree) != syntax_key(tree)]
        for slip in habits:
            if edits_between(slip.tree, right) == []:
                return [slip], True
        edits = edits_between(tree, right) or []
        if len(edits) == 1 and edits[0].kind not in {VAGUE, WHOLE}:
            return _sayable([slip_of(tree, edits)]), True
        better: tuple[int, Slip] | None = None
        for slip in habits:
            held = self._try_tree(slip.tree)
            if held is None:
                continue
            if len(held) == len(self._cases):
                return [slip], True
            if held > holding and self._first(holding) in held and (better is None or len(held) > better[0]):
                better = len(held), slip
        if slips := self._needed_edits(tree, edits):
            return slips, True
        return ([better[1]] if better else []), False

    def _needed_edits(self, tree: Program, edits: list[TreeEdit]) -> list[Slip]:
        """The fewest of *edits* that make *tree* hold; none where they are many, or one of them cannot be said."""
        needed = list(edits)
        for edit in edits:
            fewer = [other for other in needed if other is not edit]
            if fewer and self._try_tree(slip_of(tree, fewer).tree) == frozenset(self._cases):
                needed = fewer
        kinds = {edit.kind for edit in needed}
        if not needed or (len(needed) > 2 and len(kinds) > 1):
            return []
        slips = [slip_of(tree, [edit]) for edit in needed]
        if len(slips) > 1 and any(slip.is_only for slip in slips):
            return []
        return _sayable(slips[:1] if len(kinds) == 1 else slips)

    def _first(self, holding: Holding) -> str:
        return next((case for case in self._cases if case not in holding), "")

    def _try_tree(self, tree: Program) -> Holding | None:
        if self._runs >= MOST_RUNS or self._late >= MOST_LATE:
            return None
        self._runs += 1
        held = self._holds(source_text(tree))
        self._late += held is None
        return held


def _sayable(slips: list[Slip]) -> list[Slip]:
    return slips if all(slip.kind in PHRASES for slip in slips) else []
