import pytest

from tests.grading.boxes.load import BOXES, NETWORK
from tests.grading.diagnosis.tape import Bed


@pytest.fixture(scope="session")
def beds():
    """By name of a box, its tapes; drawn once for all tests."""
    boxes = {box.name: box for box in (*BOXES, NETWORK)}
    drawn = {}

    def bed(name):
        if name not in drawn:
            drawn[name] = Bed(boxes[name])
        return drawn[name]

    return bed
