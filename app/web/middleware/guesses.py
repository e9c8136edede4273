"""Rate limits for guessing codes: by browser, by network, and, for ids at the school, by class.

A lecture joins behind one address within a minute, and some of it types badly: so a network has many more than a
browser, and a wrong code that came from it a moment ago tells nothing new and costs nothing. With 45 bits in a code and
ten thousand codes that open something, a network that never rests finds one in fifty years.
"""

import time
from collections.abc import Callable

from app.web.middleware.visitor import MINUTE, RateLimit, RetryLaterError

OF_BROWSER, OF_NETWORK, OF_CLASS = 10, 120, 30
BY_BROWSER = "More than {limit} wrong codes came from your browser within a minute. Try again in {seconds} s."
BY_NETWORK = "More than {limit} wrong codes came from your network within a minute. Try again in {seconds} s."
BY_CLASS = "More than {limit} wrong ids came to this class within a minute. Try again in {seconds} s."
MOST_WRONG = 4096


class Guesses:
    """Counters, charged before any look-up, so that its time shows nothing; a right guess is refunded.

    Args:
        share: Makes of a limit for all servers that of this one.
    """

    def __init__(self, share: Callable[[int], int], clock: Callable[[], float] = time.monotonic) -> None:
        self._browsers = RateLimit(share(OF_BROWSER), clock, said=BY_BROWSER)
        self._networks = RateLimit(share(OF_NETWORK), clock, said=BY_NETWORK)
        self._classes = RateLimit(share(OF_CLASS), clock, said=BY_CLASS)
        self._clock = clock
        self._wrong: dict[tuple[str, str], float] = {}

    def spend(self, network: str, browser: str, code: str) -> None:
        """Count a guess at a code; *browser* is "" for one that sent no cookie.

        Raises:
            RetryLaterError: There were too many.
        """
        if self._wrong.get((network, code), 0.0) > self._clock():
            return
        self._spend_both(self._networks, network, browser)

    def settle(self, network: str, browser: str, code: str, *, right: bool) -> None:
        """Say how the guess went that was counted."""
        if right:
            self._networks.charge(network, -1)
            self._browsers.charge(browser, -1)
            return
        if len(self._wrong) >= MOST_WRONG:
            self._wrong.clear()
        self._wrong[network, code] = self._clock() + MINUTE

    def spend_id(self, code: str, browser: str) -> None:
        """Count an id that is tried at the class of *code*.

        Raises:
            RetryLaterError: There were too many.
        """
        self._spend_both(self._classes, code, browser)

    def settle_id(self, code: str, browser: str) -> None:
        """Say that the id was right."""
        self._classes.charge(code, -1)
        self._browsers.charge(browser, -1)

    def _spend_both(self, allowance: RateLimit, key: str, browser: str) -> None:
        allowance.consume(key)
        try:
            if browser:
                self._browsers.consume(browser)
        except RetryLaterError:
            allowance.charge(key, -1)
            raise
