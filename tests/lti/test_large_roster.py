"""The list of people of a very large course: 60 s and 200 MB at most."""

import os
from pathlib import Path

import pytest
from sqlalchemy import update

from app.store.tables import LtiContext, Membership
from tests.lti.platform import Platform
from tests.lti.world import World
from tests.waiting import until

pytestmark = pytest.mark.prove

PEOPLE, A_PAGE = 10_000, 250
MOST_SECONDS, MOST_MIB = 60.0, 200.0


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mib(pid: int) -> float:
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def test_ten_thousand_people_are_read_within_a_minute_and_200_mb(tmp_path: Path) -> None:
    platform = Platform()
    platform.page = A_PAGE
    world = World(tmp_path, platform, "", 0)
    for number in range(PEOPLE):
        platform.person(f"person-{number}", f"Learner {number}")
    server = world.server()
    try:
        world.write(lambda db: db.execute(update(LtiContext).values(roster_read_at=None)))
        until(lambda: server.poll() is not None or world.count(Membership) == PEOPLE)
        seconds, mib = processor_seconds(server.pid), peak_mib(server.pid)
    finally:
        server.kill()
        server.wait()
        platform.close()

    print(f"{PEOPLE:,} people: {seconds:.1f} s of processor, {mib:.0f} MiB at most, with the start of the server")
    assert seconds <= MOST_SECONDS
    assert mib <= MOST_MIB
