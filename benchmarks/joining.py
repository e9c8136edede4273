"""A lecture joins a class within a minute, behind one address, and some of it types badly.

python -m benchmarks joining                     # 500
BACKHAND_JOINING=1000 python -m benchmarks joining
"""

import asyncio
import os
import random
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from app.store import classes, learners
from app.store.database import Database
from app.store.migrate import migrate
from app.teaching.codes import shown_code
from benchmarks.load import Tally
from benchmarks.serving import Learner, server

LECTURE = int(os.environ.get("BACKHAND_JOINING", "500"))
WITHIN_SECONDS, MISTYPED = 60.0, 0.1


def main() -> None:
    """Print how long joining took, who was put off, and what a guesser was told meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        code = asyncio.run(_class_in(Path(folder)))
        with server(graders=1, data=Path(folder)) as port:
            _join(port, code)


async def _class_in(folder: Path) -> str:
    url = f"sqlite+aiosqlite:///{folder / 'backhand.db'}"
    await migrate(url)
    database = Database(url)
    async with database.write() as db:
        learner, _ = await learners.begin_session(db)
        group = await classes.create_class(db, "A lecture", "UTC", learner, "Ada")
        code = group.join_code
    await database.close()
    assert code is not None
    return shown_code(code)


def _join(port: int, code: str) -> None:
    joined, mistyped = Tally(), Tally()

    def come(seed: int) -> None:
        dice = random.Random(seed)
        time.sleep(dice.uniform(0, WITHIN_SECONDS))
        learner = Learner(port)
        if dice.random() < MISTYPED:
            mistyped.timed(lambda: _said(learner.get(f"/join/{seed:09d}"), 404))
        joined.timed(lambda: _said(learner.get(f"/join/{code}"), 200))
        joined.timed(lambda: _said(learner.post(f"/join/{code}", {"name": f"Student {seed}"}), 303))

    threading.stack_size(256 * 1024)
    with ThreadPoolExecutor(LECTURE) as pool:
        list(pool.map(come, range(LECTURE)))
    print(f"{LECTURE} join within {WITHIN_SECONDS:.0f} s behind one address: {joined}")
    print(f"  wrong codes of theirs: {mistyped}")
    guessed = [Learner(port).get(f"/join/9{number:08d}")[0] for number in range(300)]
    print(f"  300 guesses behind the same address: {guessed.count(404)} looked at, {guessed.count(429)} put off")


def _said(answer: tuple[int, str], wanted: int) -> str:
    return "" if answer[0] == wanted else f"{answer[0]}: {answer[1][:200]}"


if __name__ == "__main__":
    main()
