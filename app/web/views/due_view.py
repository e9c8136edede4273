"""Notes on due work for a member of a class: on the index, and above a lesson."""

from dataclasses import dataclass

from app.content.blocks import Lesson
from app.store.assignments import DueWork, solutions_open_at, tasks_of
from app.store.database import now
from app.teaching.dates import format_moment
from app.web.middleware.visitor import Visitor
from app.web.site import Site

CLOSED = "{name} keeps this solution closed until {until}."


@dataclass(frozen=True, slots=True)
class DueNote:
    """*words* say of one lesson in one class what is due when, *title* which; *over* when nothing counts any more."""

    group: int
    name: str
    words: str
    title: str
    address: str
    over: bool


async def due_notes(site: Site, visitor: Visitor, lesson: Lesson | None = None) -> tuple[DueNote, ...]:
    """Notes for a *lesson*, or for all; past due dates are not on the index. Empty for a learner in no class."""
    learner = await visitor.learner()
    if learner is None or not visitor.in_class:
        return ()
    async with site.database.read() as db:
        tasks = await tasks_of(db, learner, lesson.name if lesson else None)
    if visitor.seen is not None:  # what is due in other classes is no affair of the instructor's
        tasks = [task for task in tasks if task.group.id == visitor.seen.class_id]
    notes = [note for task in tasks if (note := _note(task, site.assigned_as(task.assignment))) is not None]
    return tuple(note for note in notes if lesson is not None or not note.over)


def _note(task: DueWork, lesson: Lesson | None) -> DueNote | None:
    opens = task.assignment.opens_at
    waiting = opens is not None and opens > now()
    if lesson is None and not waiting:
        return None
    due, late = task.deadline.due, task.deadline.late_until
    return DueNote(
        group=task.group.id,
        name=task.group.name,
        words=_words(task),
        title=lesson.title if lesson else "Something new",
        address=lesson.address if lesson else "",
        over=due is not None and now() > max(due, late or due),
    )


def _words(task: DueWork) -> str:
    zone, opens, (due, late) = task.group.timezone, task.assignment.opens_at, task.deadline
    if opens is not None and opens > now():
        return f"opens {format_moment(opens, zone)}"
    if due is None:
        return "without a date"
    if now() <= due:
        return f"due {format_moment(due, zone)}"
    if late is not None and now() <= late:
        counts = f"counts {task.assignment.late_share:.0%} until {format_moment(late, zone)}"
        return f"was due {format_moment(due, zone)}; {counts}"
    return f"was due {format_moment(due, zone)}"


async def closed_until(site: Site, visitor: Visitor, lesson: Lesson, exercise: str) -> str:
    """Say why the solution of *exercise* stays closed for now; "" if no class keeps it closed."""
    learner = await visitor.learner()
    if learner is None or not visitor.in_class:
        return ""
    async with site.database.read() as db:
        task = solutions_open_at(await tasks_of(db, learner, lesson.name), exercise)
    if task is None or task.assignment.solutions_at is None:
        return ""
    return CLOSED.format(name=task.group.name, until=format_moment(task.assignment.solutions_at, task.group.timezone))
