"""`backhand lti courses` and `course`: which class a course of a platform leads to."""

from sqlalchemy.ext.asyncio import AsyncSession

from app.cli.classes import Facts, find_class, print_facts, run_transaction
from app.cli.refuse import refuse
from app.lti.claims import parse_id
from app.lti.courses import list_courses, set_class
from app.store import lti_platforms

NO_COURSE = "No course has a class yet: the first launch by an instructor makes one."


def list_(*, as_json: bool) -> None:
    async def work(db: AsyncSession) -> list[Facts]:
        return [
            {
                "platform": context.platform_id,
                "id": context.context_id,
                "title": context.title,
                "class": group.id,
                "class_name": group.name,
            }
            for context, group in await list_courses(db)
        ]

    courses = run_transaction(work)
    lines = [
        f"platform {row['platform']}  course {row['id']}  {row['title'] or '-'}  "
        f"class {row['class']}  {row['class_name']}"
        for row in courses
    ]
    print_facts({"courses": courses}, lines or [NO_COURSE], as_json=as_json)


def tie(number: int, course: str, class_number: int, *, as_json: bool) -> None:
    if parse_id(course) is None:
        refuse(f"{course[:80]!r} is no id of a course. `backhand lti courses` has those that were seen.")

    async def work(db: AsyncSession) -> Facts:
        platform = await lti_platforms.get_platform(db, number)
        group = await find_class(db, class_number)
        before = await set_class(db, platform, course, group)
        facts = {"platform": number, "id": course, "class": group.id, "class_name": group.name, "before": before}
        return {**facts, "platform_name": platform.name}

    facts = run_transaction(work)
    lines = [f"The course {course} of {facts['platform_name']} leads to class {facts['class']}, {facts['class_name']}."]
    if facts["before"] is not None:
        lines.append(f"What is in class {facts['before']}, where it led before, stays there.")
    print_facts(facts, lines, as_json=as_json)
