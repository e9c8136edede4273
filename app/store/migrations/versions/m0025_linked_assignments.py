"""Assignments know what the links of learning platforms to them lead to; a report of unreleased versions goes."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0011"


def upgrade() -> None:
    connection = op.get_bind()
    inspector = sa.inspect(connection)
    columns = {
        table: {column["name"] for column in inspector.get_columns(table)}
        for table in ("assignment", "item_report", "lti_line_item")
        if inspector.has_table(table)
    }
    if "class_id" not in columns.get("item_report", {"class_id"}):
        op.drop_table("item_report")
    if "resource_id" in columns["assignment"]:
        return
    op.add_column("assignment", sa.Column("resource_id", sa.Text))
    table = sa.table(
        "assignment", sa.column("id"), sa.column("lesson"), sa.column("exercises_json"), sa.column("resource_id")
    )
    linked = table.c.lesson.startswith("practice/sitting-")
    if "lti_line_item" in columns:
        item = sa.table("lti_line_item", sa.column("assignment_id"))
        linked |= table.c.id.in_(sa.select(item.c.assignment_id))
    for row in connection.execute(sa.select(table).where(linked)).all():
        chosen = json.loads(row.exercises_json or "[]")
        resource = f"{row.lesson}/{chosen[0]}" if len(chosen) == 1 else row.lesson
        connection.execute(sa.update(table).where(table.c.id == row.id).values(resource_id=resource))
