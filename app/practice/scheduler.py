"""Scheduler of spaced repetition: cards for an operation family and a slip in it, and the items of the next session.

Pure: every function is handed its moment. A card is *due* from a moment on and never lost; what is not met stays due.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import fsrs

from app.grading.judge.verdict import OTHER_ROAD

SCHEDULER = fsrs.Scheduler(
    desired_retention=0.9, learning_steps=(), relearning_steps=(), maximum_interval=120, enable_fuzzing=True
)
AGAIN, HARD, GOOD = int(fsrs.Rating.Again), int(fsrs.Rating.Hard), int(fsrs.Rating.Good)

MOST_ITEMS = 6
MAX_SESSION_TIME = timedelta(minutes=10)
DRILL = timedelta(minutes=3)
FADING_BELOW = 0.95
"""Above it a card is as good as just met; it is due where 0.9 is reached."""

Strength = Literal["fresh", "fading", "due"]

NOT_COMPARED = frozenset({"error", "missing", "not-a-tensor", "dtype", "shape", "not-finite", "float32", "nearly"})
UNNAMED = NOT_COMPARED | {
    OTHER_ROAD,
    "unrecognised",
    "zeros",
    "size-hard-coded",
    "here-only",
    "part-missing",
    "part-wrong",
    "several",
}
"""What a diagnosis says where it found no slip: it opens no card."""

SIBLINGS: tuple[frozenset[str], ...] = (
    frozenset({"mean", "mean-missing", "mean-for-sum", "sum-missing", "local-missing", "factor"}),
    frozenset({"wrong-axis", "term-axis", "summed-all", "keepdim-lost", "keepdim-added"}),
    frozenset({"transposed", "matmul-order", "transpose-missing", "transpose-extra"}),
    frozenset({"own-factor", "other-factor", "wrong-operand", "factor-missing"}),
    frozenset({"overwritten", "share-missing", "scatter-overwrite"}),
    frozenset({"input-for-output", "output-for-input"}),
    frozenset({"power-raised", "power-kept", "power-changed", "power-sign"}),
    frozenset({"gate-flipped", "gate-value"}),
    frozenset({"average-missing", "diagonal", "unnormalised"}),
)
"""Slips that are taken for each other: they stand next to each other in a practice session."""


SHARES = frozenset({"share-doubled", "share-factor", "share-sign"})
"""Slips in one of several shares, which belong to the operation that it comes back through."""

About = tuple[str, str]
"""A family of operations and a slip at it; the slip is empty for the family as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardState:
    """State of one card; *state* is JSON of `fsrs`."""

    family: str
    slip: str
    state: str
    due_at: datetime

    @property
    def about(self) -> About:
        return self.family, self.slip


def new_card(family: str, slip: str, now: datetime) -> CardState:
    """A new card, due at once."""
    card = fsrs.Card(card_id=1, due=now)
    return CardState(family=family, slip=slip, state=card.to_json(), due_at=now)


def review_card(memory: CardState, rating: int, now: datetime) -> CardState:
    """*memory* after it was met at *now*. A clock that was set back counts from where it had been."""
    card = fsrs.Card.from_json(memory.state)
    at = max(now, card.last_review or now).astimezone(UTC)
    card, _ = SCHEDULER.review_card(card, fsrs.Rating(rating), at)
    return replace(memory, state=card.to_json(), due_at=card.due)


def memory_strength(memory: CardState, now: datetime) -> Strength:
    """Describe in a word how well the card is remembered."""
    if memory.due_at <= now:
        return "due"
    recalled = SCHEDULER.get_card_retrievability(fsrs.Card.from_json(memory.state), now)
    return "fresh" if recalled >= FADING_BELOW else "fading"


def slip_of(code: str) -> str:
    """The row of a diagnosis code: `mean` of `db:mean`, `share-missing` of `dx:share-missing:y`; else empty."""
    return _parts_of(code)[0]


def share_of(code: str) -> str:
    """The result through which a share is wrong: `y` of `dx:share-doubled:y`; empty for any other slip."""
    slip, name = _parts_of(code)
    return name if slip in SHARES else ""


def gradient_of(code: str) -> str:
    """The gradient at which a diagnosis is: `db` of `dX:through:db:mean`."""
    inner = code.rpartition(":through:")[2]
    return (inner if ":" in inner else code).partition(":")[0]


def _parts_of(code: str) -> tuple[str, str]:
    _, through, inner = code.partition("+")[0].rpartition(":through:")
    slip, name, *_ = (*inner.split(":")[0 if through and ":" not in inner else 1 :], "", "")
    return slip, name


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOutcome:
    """Outcome of one item, for the cards.

    Args:
        cards: The card that it was given for, and others that a solution of it stands for.
        slips: Those that were recognised, each as family and slip; *failed* tells that anything was wrong at all.
        helped: Whether a hint was open; *told* whether the solution was: then nothing was recalled.
    """

    cards: frozenset[About] = frozenset()
    slips: frozenset[About] = frozenset()
    failed: bool = False
    solved: bool = False
    helped: bool = False
    told: bool = False


def card_ratings(met: ReviewOutcome) -> dict[About, int]:
    """Ratings that an item gives to cards. A slip rates its own card; an unrecognised error rates none."""
    ratings = dict.fromkeys(met.slips, AGAIN)
    if met.solved:
        eased = HARD if met.helped or met.failed else GOOD
        ratings = dict.fromkeys(met.cards, AGAIN if met.told else eased) | ratings
    return ratings


def in_order(due: Iterable[CardState]) -> list[CardState]:
    """Due cards as they are met: slips before whole families, the longest due first, siblings behind each other."""
    left = sorted(due, key=lambda card_state: (not card_state.slip, card_state.due_at, card_state.about))
    card_states: list[CardState] = []
    while left:
        first = left.pop(0)
        near = [card_state for card_state in left if siblings(first.slip, card_state.slip)]
        card_states += [first, *near]
        left = [card_state for card_state in left if card_state not in near]
    return card_states


def siblings(first: str, other: str) -> bool:
    return first == other != "" or any({first, other} <= group for group in SIBLINGS)


def is_over(
    began: datetime, now: datetime, items: int, most: int = MOST_ITEMS, longest: timedelta = MAX_SESSION_TIME
) -> bool:
    """True if a practice session has had its *items* or its time."""
    return items >= most or now - began >= longest


ITEM_FORMS: tuple[str, ...] = ("worked", "fade", "write")
"""How a family is met for the first time, the second, the third."""
ROUND: tuple[str, ...] = ("write", "bug", "shapes", "which", "order", "fade")
"""And after that: every form once in every round, in an order that each session draws."""


SHAPELY = frozenset({"order", "shapes", "fade"})
"""Forms in which few slips can be made, or which give too much away: solving them says nothing of a slip."""


def form_at(met: int) -> str:
    """Form in which a family is asked that was *met* this many times before; the third time it is written."""
    return ITEM_FORMS[min(met, len(ITEM_FORMS) - 1)]


def form_in_round(turn: int, session: str) -> str:
    """Form for the exercise at place *turn* of a *session*, from 0, on a family that was met before."""
    number, place = divmod(turn, len(ROUND))
    chance = random.Random(f"{session} {number}")
    telling, shapely = (
        chance.sample(forms, len(forms)) for forms in ([form for form in ROUND if form not in SHAPELY], sorted(SHAPELY))
    )
    # A slip that is due comes first, and in every second exercise.
    return (shapely if place % 2 else telling)[place // 2]


def level_at(solved: int) -> int:
    """Level of a learner who has *solved* this many items."""
    return 1 + (solved >= 4) + (solved >= 16)


def weeks_practised(days: Iterable[datetime], now: datetime, weeks: int = 4) -> int:
    """In how many of the last *weeks* there was practice; a week is seven days that end today."""
    ago = ((now - day) // timedelta(days=7) for day in days)
    return len({max(week, 0) for week in ago if week < weeks})


def rhythm_text(practised: int, weeks: int = 4) -> str:
    """The rhythm in words, from the second week on; a week without practice takes nothing away."""
    return f"Practised in {practised} of the last {weeks} weeks." if practised > 1 else ""


Ratings = Sequence[tuple[datetime, int]]


def newly_able(history: Mapping[About, Ratings], now: datetime) -> list[About]:
    """Cards that went wrong when they were met a month ago or earlier, and went right when they were met last."""
    month = timedelta(days=28)
    able = []
    for about, ratings in history.items():
        ordered = sorted(ratings)
        if ordered and now - ordered[0][0] >= month and ordered[0][1] == AGAIN and ordered[-1][1] == GOOD:
            able.append(about)
    return able
