"""The shapes behind a page: read from the source, and asked of a grader for what the source does not tell."""

import asyncio

from app.grading.forward.facts import Facts
from app.web.site import ShapeLookup
from tests.kinds.test_wanted_tensors import RAN, attention
from tests.web.conftest import FakeGrader

UNREADABLE = "torch.finfo(torch.float32).min"


class RunningGrader(FakeGrader):
    def __init__(self):
        super().__init__()
        self.asked = []

    async def facts(self, forward):
        self.asked.append(forward)
        return Facts(shapes=RAN, gradable=())


def test_the_page_of_a_product_asks_a_grader_for_every_operand_once():
    lesson, quiz, _ = attention(UNREADABLE)
    shapes = ShapeLookup(grader := RunningGrader())

    about = [asyncio.run(shapes.about(lesson, quiz)) for _ in range(2)]

    assert about[0].keys() == RAN.keys()
    assert about[0] == about[1]
    assert len(grader.asked) == 1


def test_a_picture_has_the_shapes_of_every_line():
    _, _, forward = attention(UNREADABLE)

    assert asyncio.run(ShapeLookup(RunningGrader()).of(forward)).keys() == RAN.keys()


def test_a_program_that_can_be_read_asks_no_grader():
    lesson, quiz, _ = attention('float("-inf")')
    shapes = ShapeLookup(grader := RunningGrader())

    asyncio.run(shapes.about(lesson, quiz))

    assert grader.asked == []
