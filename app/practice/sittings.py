"""Items of a quiet sitting: programs of one family, level and difficulty for all, with sizes of their own for each.

For each item the server draws several programs that are as hard as each other, and proves them before a learner begins.
Which of them a learner has, and in which sizes, follows from the secret of the sitting.
"""

import asyncio
import hmac
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import product

from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncSession

from app.cache import LruCache
from app.content.blocks import Grad, Lesson
from app.content.text.sentences import render_sentence
from app.practice.derived_hints import explain_lines
from app.practice.draw import NothingFitsError, generate_item
from app.practice.item import GeneratedItem, format_code_block, format_directive
from app.practice.pool import ItemSpec
from app.practice.sitting_names import SittingName, item_name, sitting_named
from app.store.sitting_results import list_programs, programs_of
from app.store.sittings import OwnSitting

PROMPT = "Write the backward pass."
VARIANTS = 8
"""Programs that each item is drawn from: neighbours seldom have the same one, and never in the same sizes."""
SPARE = 4
"""More are drawn, of which some may not be proved."""
MAX_SEEDS = 4_000
MAX_ITEMS = 20
MAX_PARSED = 512
"""Learners whose items are kept at hand."""
BAND = 1
"""By how many points, and by how many lines to write, the programs of an item may differ."""
SIZES = range(2, 8)
SEEDS = 2**31


@dataclass(frozen=True, slots=True)
class SittingSlot:
    """Request that is drawn *count* times: exercises of a *level* with an operation of *family*, or of any ("")."""

    family: str
    level: int
    count: int


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """Draw of one learner for an item: the row of the program, and the size of each dim."""

    program: int
    sizes: dict[str, int]


SLOTS = TypeAdapter(tuple[SittingSlot, ...])
PROGRAM = TypeAdapter(GeneratedItem)
DRAW = TypeAdapter(tuple[DrawnItem, ...])


def slot_of_item(slots: Sequence[SittingSlot]) -> tuple[SittingSlot, ...]:
    """The slot of each item, in order."""
    return tuple(slot for slot in slots for _ in range(slot.count))


def program_candidates(slot: SittingSlot, item: int, secret: str, within: Sequence[str]) -> list[GeneratedItem]:
    """Programs for one item, all about as hard: enough for the draw, or as many as can be found.

    Args:
        within: The operations that they may use.
    """
    kind = ItemSpec(slot.level, within=tuple(sorted(within)), family=slot.family)
    bands: dict[tuple[int, int], list[GeneratedItem]] = {}
    best: list[GeneratedItem] = []
    texts = set()
    for program in _draw_programs(kind, item, secret):
        if program.forward in texts:
            continue
        texts.add(program.forward)
        for band in product(_lows(program.points), _lows(len(program.lines))):
            bands.setdefault(band, []).append(program)
            best = max(best, bands[band], key=len)
        if len(best) >= VARIANTS + SPARE:
            break
    return best


def _lows(number: int) -> range:
    """Beginnings of the bands that *number* is in."""
    return range(number - BAND, number + 1)


def _draw_programs(kind: ItemSpec, item: int, secret: str) -> Iterator[GeneratedItem]:
    for attempt in range(MAX_SEEDS):
        try:
            program = generate_item(kind.level, _number(secret, item, attempt) % SEEDS, "", kind.drawn_from)
        except NothingFitsError:
            return
        if kind.fits(program.needs):
            yield program


def draw_items(programs: Sequence[Sequence[tuple[int, GeneratedItem]]], learner: int, secret: str) -> list[DrawnItem]:
    """Draw each item for *learner* from its *programs*, with their rows; a second time the same."""
    return [_draw(rows, random.Random(_number(secret, item, learner))) for item, rows in enumerate(programs, start=1)]


def _draw(rows: Sequence[tuple[int, GeneratedItem]], chance: random.Random) -> DrawnItem:
    row, program = chance.choice(rows)
    dims = list(program.program.dims)
    return DrawnItem(row, dict(zip(dims, chance.sample(SIZES, len(dims)), strict=True)))


def _number(secret: str, *about: int) -> int:
    text = "/".join(map(str, about))
    return int.from_bytes(hmac.digest(secret.encode(), text.encode(), sha256)[:8])


def resized(program: GeneratedItem, sizes: dict[str, int]) -> GeneratedItem:
    """*program* with its dims in these *sizes*."""
    dims = ", ".join(f"{name}: {size}" for name, size in sizes.items())
    lines = program.forward.split("\n")
    sized = [f":dims: {{{dims}}}" if line.startswith(":dims:") else line for line in lines]
    return replace(program, forward="\n".join(sized))


def sitting_item(program: GeneratedItem, name: SittingName, item: int, learner: int) -> Lesson:
    """One item of a learner as a lesson of its own, without hints, so that pages and graders treat it as any."""
    body = f"{program.arrives} {PROMPT}\n\n{format_code_block('solution', program.solution)}"
    box_text = format_directive(f"grad {item_name(item)}", {**program.asked, "grade": "rule"}, body)
    lesson = program.lesson_of(program.program_text + box_text)
    said = tuple(map(render_sentence, explain_lines(program.lines, program.by)))
    blocks = tuple(replace(block, explained=said) if isinstance(block, Grad) else block for block in lesson.blocks)
    return replace(
        lesson, blocks=blocks, name=f"{name}/{learner}", slug=f"{name}-{item}", title=f"Item {item}",
        address=name.address, drawn=True,
    )  # fmt: skip


class SittingItems:
    """Cache of the items of learners, so that a block is the same object while a learner works at it."""

    def __init__(self) -> None:
        self._lessons = LruCache[tuple[int, int, str], tuple[Lesson, ...]](MAX_PARSED)

    async def of(self, db: AsyncSession, own: OwnSitting) -> tuple[Lesson, ...]:
        """The items of a learner who has begun, in order."""
        record = own.record
        assert record is not None, "they have begun"
        assert record.draw_json is not None, "they have begun"
        key = (record.assignment_id, record.learner_id, record.draw_json)
        if (lessons := self._lessons.get(key)) is None:
            draw = DRAW.validate_json(record.draw_json)
            rows = {row.id: row for row in await list_programs(db, [drawn.program for drawn in draw])}
            programs = [resized(PROGRAM.validate_json(rows[drawn.program].program_json), drawn.sizes) for drawn in draw]
            lessons = self._lessons.put(key, await asyncio.to_thread(self._parsed, own, programs))
        return lessons

    def _parsed(self, own: OwnSitting, programs: Sequence[GeneratedItem]) -> tuple[Lesson, ...]:
        name = sitting_named(own.assignment.lesson)
        assert name is not None, "a sitting has such a name"
        assert own.record is not None, "they have begun"
        learner = own.record.learner_id
        return tuple(sitting_item(program, name, item, learner) for item, program in enumerate(programs, start=1))


async def draw_for(db: AsyncSession, own: OwnSitting, learner: int) -> str:
    """Draw of *learner*, as JSON; the same whenever it is asked for."""
    rows = await programs_of(db, own.assignment.id)
    programs = [[(row.id, PROGRAM.validate_json(row.program_json)) for row in rows[item]] for item in sorted(rows)]
    return DRAW.dump_json(tuple(draw_items(programs, learner, own.sitting.secret))).decode()
