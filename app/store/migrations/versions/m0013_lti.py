"""Learning platforms, the courses and people that come from them, and grades on their way back."""

import sqlalchemy as sa
from alembic import op

from app.store.database import UtcDateTime

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("session", sa.Column("embedded", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_table(
        "lti_platform",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("issuer", sa.Text, nullable=False),
        sa.Column("client_id", sa.Text, nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("auth_url", sa.Text, nullable=False),
        sa.Column("token_url", sa.Text, nullable=False),
        sa.Column("jwks_url", sa.Text, nullable=False),
        sa.Column("audience", sa.Text),
        sa.Column("origins", sa.Text, nullable=False, server_default=""),
        sa.Column("private", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("added_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_lti_platform"),
        sa.UniqueConstraint("issuer", "client_id", name="uq_lti_platform_issuer_client_id"),
    )
    op.create_table(
        "lti_deployment",
        sa.Column("platform_id", sa.Integer, nullable=False),
        sa.Column("deployment_id", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("platform_id", "deployment_id", name="pk_lti_deployment"),
        _belongs("lti_deployment", "platform_id", "lti_platform"),
    )
    op.create_table(
        "lti_key",
        sa.Column("kid", sa.String(64), nullable=False),
        sa.Column("private", sa.Text, nullable=False),
        sa.Column("public_json", sa.Text, nullable=False),
        sa.Column("made_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("kid", name="pk_lti_key"),
    )
    op.create_table(
        "lti_context",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("platform_id", sa.Integer, nullable=False),
        sa.Column("context_id", sa.Text, nullable=False),
        sa.Column("class_id", sa.Integer, nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("lineitems_url", sa.Text),
        sa.Column("memberships_url", sa.Text),
        sa.Column("launched_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_lti_context"),
        sa.UniqueConstraint("platform_id", "context_id", name="uq_lti_context_platform_id_context_id"),
        _belongs("lti_context", "platform_id", "lti_platform"),
        _belongs("lti_context", "class_id", "class"),
    )
    op.create_index("ix_lti_context_class_id", "lti_context", ["class_id"])
    op.create_table(
        "lti_member",
        sa.Column("lti_context_id", sa.Integer, nullable=False),
        sa.Column("learner_id", sa.Integer, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("role", sa.String(10), nullable=False),
        sa.Column("launched_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("lti_context_id", "learner_id", name="pk_lti_member"),
        _belongs("lti_member", "lti_context_id", "lti_context"),
        _belongs("lti_member", "learner_id", "learner"),
    )
    op.create_index("ix_lti_member_learner_id", "lti_member", ["learner_id"])
    op.create_table(
        "lti_line_item",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("lti_context_id", sa.Integer, nullable=False),
        sa.Column("assignment_id", sa.Integer, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_lti_line_item"),
        sa.UniqueConstraint("lti_context_id", "assignment_id", name="uq_lti_line_item_lti_context_id_assignment_id"),
        _belongs("lti_line_item", "lti_context_id", "lti_context"),
        _belongs("lti_line_item", "assignment_id", "assignment"),
    )
    op.create_index("ix_lti_line_item_assignment_id", "lti_line_item", ["assignment_id"])
    op.create_table(
        "lti_score",
        sa.Column("line_item_id", sa.Integer, nullable=False),
        sa.Column("learner_id", sa.Integer, nullable=False),
        sa.Column("began_at", UtcDateTime, nullable=False),
        sa.Column("changed_at", UtcDateTime, nullable=False),
        sa.Column("due_at", UtcDateTime, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
        sa.Column("failing_since", UtcDateTime),
        sa.Column("leased_until", UtcDateTime),
        sa.Column("refused_at", UtcDateTime),
        sa.Column("answer", sa.Text),
        sa.PrimaryKeyConstraint("line_item_id", "learner_id", name="pk_lti_score"),
        _belongs("lti_score", "line_item_id", "lti_line_item"),
        _belongs("lti_score", "learner_id", "learner"),
    )
    op.create_index("ix_lti_score_learner_id", "lti_score", ["learner_id"])
    op.create_index("ix_lti_score_due_at", "lti_score", ["due_at"])


def _belongs(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{to}.id"], name=f"fk_{table}_{column}", ondelete="CASCADE")
