"""Difference of two shares of success, with an interval that may be looked at any time and as often as one likes.

The ratio of the likelihood of all differences, mixed by a normal density of width `USUAL` around none, to that of one
difference is a martingale if that one is the true one, and reaches 1/ERROR ever with a probability of at most ERROR
(Ville's inequality). The interval holds every difference for which it has not. The variance is that of the shares so
far, each with one try more that was right and one that was not, so that few tries of one kind are no certainty.

Source: R. Johari, P. Koomen, L. Pekelis and D. Walsh, Always valid inference: continuous monitoring of A/B tests,
Operations Research 70, 2022, section 4 (a mixture sequential probability ratio test), after H. Robbins, Statistical
methods related to the law of the iterated logarithm, Annals of Mathematical Statistics 41, 1970.
"""

from dataclasses import dataclass
from math import log, sqrt

ERROR = 0.05
USUAL = 0.2
"""By how much two sentences usually differ, if they do: where the interval is narrowest."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Counts of the next tries with one of two sentences, and of the *right* ones among them."""

    tries: int = 0
    right: int = 0

    @property
    def share(self) -> float:
        return self.right / self.tries if self.tries else 0.0

    @property
    def variance(self) -> float:
        """Variance of the share."""
        careful = (self.right + 1) / (self.tries + 2)
        return careful * (1 - careful) / max(self.tries, 1)


@dataclass(frozen=True, slots=True)
class Difference:
    """Share of the second arm minus that of the first: the interval from *low* to *high*."""

    low: float
    high: float

    @property
    def winner(self) -> int | None:
        """0 for the first, 1 for the second; None while either may be as good."""
        return 1 if self.low > 0 else 0 if self.high < 0 else None


def difference(first: Arm, second: Arm) -> Difference:
    """The interval for the share of *second* minus that of *first*; all there is where one has no tries yet."""
    if not first.tries or not second.tries:
        return Difference(-1.0, 1.0)
    return interval_around(second.share - first.share, first.variance + second.variance)


def interval_around(seen: float, variance: float) -> Difference:
    """The interval for a difference that is *seen* with this *variance*; both are of shares."""
    usual = USUAL**2
    wider = variance + usual
    reach = sqrt(2 * variance * wider / usual * log(sqrt(wider / variance) / ERROR))
    return Difference(max(-1.0, seen - reach), min(1.0, seen + reach))
