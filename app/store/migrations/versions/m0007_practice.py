"""Practice."""

import sqlalchemy as sa
from alembic import op

from app.store.migrations.columns import MOMENT, NAME, of_learner

revision = "0007"
down_revision = "0006"


def of_item(table: str, ondelete: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["item_id"], ["practice_item.id"], name=f"fk_{table}_item_id", ondelete=ondelete)


def upgrade() -> None:
    op.create_table(
        "practice_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("wanted", NAME, nullable=False),
        sa.Column("within", sa.Text(), nullable=False),
        sa.Column("form", sa.String(20), nullable=False),
        sa.Column("fragment", sa.Text(), nullable=False),
        sa.Column("forward", sa.Text(), nullable=False),
        sa.Column("solution", sa.Text(), nullable=False),
        sa.Column("operations", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("proved_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_practice_item"),
        sa.UniqueConstraint(
            "version",
            "level",
            "seed",
            "wanted",
            "within",
            "form",
            name="uq_practice_item_version_level_seed_wanted_within_form",
        ),
    )
    op.create_index("ix_practice_item_level_wanted", "practice_item", ["level", "wanted"])
    op.create_table(
        "practice_attempt",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("learner_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("family", sa.String(40), nullable=False),
        sa.Column("slip", NAME, nullable=False),
        sa.Column("given_at", MOMENT, nullable=False),
        sa.Column("done_at", MOMENT),
        sa.Column("left_at", MOMENT),
        sa.Column("code", NAME),
        sa.Column("seconds", sa.Integer()),
        sa.Column("hints", sa.Integer(), nullable=False),
        of_item("practice_attempt", "CASCADE"),
        of_learner("practice_attempt"),
        sa.PrimaryKeyConstraint("id", name="pk_practice_attempt"),
        sa.UniqueConstraint("learner_id", "item_id", name="uq_practice_attempt_learner_id_item_id"),
    )
    op.create_index("ix_practice_attempt_item_id", "practice_attempt", ["item_id"])
    op.create_index("ix_practice_attempt_learner_id_given_at", "practice_attempt", ["learner_id", "given_at"])
    op.create_table(
        "card",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("learner_id", sa.Integer(), nullable=False),
        sa.Column("family", sa.String(40), nullable=False),
        sa.Column("slip", NAME, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("met", sa.Integer(), nullable=False),
        sa.Column("due_at", MOMENT, nullable=False),
        sa.Column("opened_at", MOMENT, nullable=False),
        of_learner("card"),
        sa.PrimaryKeyConstraint("id", name="pk_card"),
        sa.UniqueConstraint("learner_id", "family", "slip", name="uq_card_learner_id_family_slip"),
    )
    op.create_table(
        "review",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("card_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer()),
        sa.Column("rating", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["card_id"], ["card.id"], name="fk_review_card_id", ondelete="CASCADE"),
        of_item("review", "SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_review"),
    )
    op.create_index("ix_review_card_id", "review", ["card_id"])
    op.create_index("ix_review_item_id", "review", ["item_id"])
    op.create_table(
        "sitting",
        sa.Column("learner_id", sa.Integer(), nullable=False),
        sa.Column("began_at", MOMENT, nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("seen_attempt", sa.Integer(), nullable=False),
        of_learner("sitting"),
        sa.PrimaryKeyConstraint("learner_id", name="pk_sitting"),
    )
    op.create_table(
        "drill",
        sa.Column("learner_id", sa.Integer(), nullable=False),
        sa.Column("family", sa.String(40), nullable=False),
        sa.Column("best", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        of_learner("drill"),
        sa.PrimaryKeyConstraint("learner_id", "family", name="pk_drill"),
    )


def downgrade() -> None:
    for table in ("drill", "sitting", "review", "card", "practice_attempt", "practice_item"):
        op.drop_table(table)
