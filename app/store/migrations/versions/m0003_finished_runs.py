"""The last training run that went to its end, beside the last one."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("training", sa.Column("finished", sa.Text()))
    # How a run is written has no spaces; what a learner wrote stands in it with its quotes escaped.
    op.execute(
        sa.text("UPDATE training SET finished = run WHERE run LIKE :phase").bindparams(phase='{"phase":"finished",%')
    )


def downgrade() -> None:
    op.drop_column("training", "finished")
