"""What is told of accounts, what stays of who left a class, and a week's notice for what was to be forgotten sooner."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

from app.store.migrations.columns import MOMENT, NAME, of_learner

revision = "0008"
down_revision = "0007"

NOTICE_DAYS = 8


def of_class(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["class_id"], ["class.id"], name=f"fk_{table}_class_id", ondelete="CASCADE")


def upgrade() -> None:
    op.create_table(
        "former_member",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("class_id", sa.Integer(), nullable=False),
        sa.Column("learner_id", sa.Integer()),
        sa.Column("name", NAME, nullable=False),
        sa.Column("external_id", NAME),
        sa.Column("label", NAME),
        sa.Column("left_at", MOMENT, nullable=False),
        sa.Column("reason", sa.String(10), nullable=False),
        sa.Column("solved", sa.Text(), nullable=False),
        sa.Column("overrides", sa.Text(), nullable=False),
        of_class("former_member"),
        sa.ForeignKeyConstraint(
            ["learner_id"], ["learner.id"], name="fk_former_member_learner_id", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_former_member"),
    )
    op.create_index("ix_former_member_class_id", "former_member", ["class_id"])
    op.create_index("ix_former_member_learner_id", "former_member", ["learner_id"])
    op.create_table(
        "given_unit",
        sa.Column("class_id", sa.Integer(), nullable=False),
        sa.Column("unit", NAME, nullable=False),
        of_class("given_unit"),
        sa.PrimaryKeyConstraint("class_id", "unit", name="pk_given_unit"),
    )
    op.create_table(
        "notice",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("learner_id", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("read_at", MOMENT),
        of_learner("notice"),
        sa.PrimaryKeyConstraint("id", name="pk_notice"),
    )
    op.create_index("ix_notice_learner_id", "notice", ["learner_id"])
    op.create_table(
        "clock",
        sa.Column("job", sa.String(20), nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.Column("doubted_until", MOMENT),
        sa.PrimaryKeyConstraint("job", name="pk_clock"),
    )
    op.add_column("membership", sa.Column("seated_by", sa.String(10)))
    op.add_column("credential", sa.Column("roster_id", NAME))
    soon = (datetime.now(UTC) + timedelta(days=NOTICE_DAYS)).date()
    group = sa.table("class", sa.column("keep_until", sa.Date()))
    op.execute(group.update().where(group.c.keep_until < soon).values(keep_until=soon))


def downgrade() -> None:
    op.drop_column("credential", "roster_id")
    op.drop_column("membership", "seated_by")
    for table in ("clock", "notice", "given_unit", "former_member"):
        op.drop_table(table)
