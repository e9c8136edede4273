"""Roster as its page shows it: members, narrowed by a search, and the actions on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel

from app.store import classes, roster_lists, rosters
from app.store.classes import ClassMember
from app.store.former_members import former_members
from app.store.roster_lists import LastList
from app.store.tables import FormerMember, Membership
from app.teaching.text_input import plain_letters
from app.web.site import Site
from app.web.views.sections import is_in_section

Sort = Literal["name", "id", "label", "seen"]
LONG_AGO = datetime.min.replace(tzinfo=UTC)


class RosterFilter(BaseModel):
    """Whom a page of the roster shows: who has *q* in name or id, and a *label* (`-` for none)."""

    q: str = ""
    label: str = ""
    sort: Sort = "name"

    def shows(self, person: Membership) -> bool:
        wanted = plain_letters(self.q)
        texts = (person.name, person.external_id or "")
        return is_in_section(person, self.label) and any(wanted in plain_letters(text) for text in texts)


@dataclass(frozen=True, slots=True)
class RosterView:
    """*shown* are those of the *listed* whom the filter lets through; *suggests* that only the roster comes in."""

    listed: Sequence[Membership]
    shown: Sequence[Membership]
    labels: tuple[str, ...]
    seen: Mapping[int, datetime]
    days: Mapping[int, int]
    blocked: Sequence[Membership]
    former: Sequence[FormerMember]
    last_list: LastList | None
    suggests: bool

    @property
    def joined(self) -> int:
        return sum(membership.joined_at is not None for membership in self.listed)

    @property
    def expected(self) -> int:
        return len(self.listed) - self.joined


async def roster_view(site: Site, within: ClassMember, only: RosterFilter) -> RosterView:
    group = within.group
    async with site.database.read() as db:
        listed = await classes.list_members(db, group.id)
        seen = await rosters.last_seen(db, group.id)
        days = await rosters.extra_days(db, group.id)
        blocked = await rosters.list_blocked(db, group.id)
        former = await former_members(db, group.id)
        last = await roster_lists.last_list(db, group.id)
    # Names come sorted, and a sort keeps them so where its own key is the same.
    keys: dict[Sort, Callable[[Membership], Any]] = {
        "id": lambda membership: (membership.external_id is None, membership.external_id),
        "label": lambda membership: (membership.label is None, membership.label),
        "seen": lambda membership: seen.get(membership.learner_id, LONG_AGO),
    }
    shown = [membership for membership in listed if only.shows(membership)]
    has_ids = any(membership.external_id and membership.role == "learner" for membership in listed)
    return RosterView(
        listed=listed,
        shown=sorted(shown, key=keys[only.sort]) if only.sort in keys else shown,
        labels=tuple(sorted({membership.label for membership in listed if membership.label})),
        seen=seen,
        days=days,
        blocked=blocked,
        former=former,
        last_list=last,
        suggests=has_ids and group.joining == "open" and group.archived_at is None,
    )
