"""The pool whose graders are killed: one for this room, since each start takes seconds of processor time."""

from collections.abc import Iterator

import pytest

from tests.graders import SharedGraders, shared_graders


@pytest.fixture(scope="session")
def lone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedGraders]:
    """A pool of one grader, for claims that leave it as good as it was."""
    with shared_graders(tmp_path_factory.mktemp("lone"), 1) as found:
        yield found


@pytest.fixture(scope="session")
def graders(lone: SharedGraders) -> SharedGraders:
    """The same: what is killed in it has begun again before its test ends."""
    return lone
