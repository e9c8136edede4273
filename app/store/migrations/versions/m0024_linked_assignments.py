"""Assignments know what the links of learning platforms to them lead to."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.add_column("assignment", sa.Column("resource_id", sa.Text))
    table = sa.table(
        "assignment", sa.column("id"), sa.column("lesson"), sa.column("exercises_json"), sa.column("resource_id")
    )
    item = sa.table("lti_line_item", sa.column("assignment_id"))
    connection = op.get_bind()
    linked = table.c.id.in_(sa.select(item.c.assignment_id)) | table.c.lesson.startswith("practice/sitting-")
    for row in connection.execute(sa.select(table).where(linked)).all():
        chosen = json.loads(row.exercises_json or "[]")
        resource = f"{row.lesson}/{chosen[0]}" if len(chosen) == 1 else row.lesson
        connection.execute(sa.update(table).where(table.c.id == row.id).values(resource_id=resource))
