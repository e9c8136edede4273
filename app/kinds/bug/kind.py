"""Find the one wrong line of a backward pass, and mend it."""

from app.content.blocks import Bug
from app.content.export.python_code import gradient_cells
from app.kinds.block_kind import CodeKind
from app.kinds.bug.prove import prove_bug

KINDS = (
    CodeKind(
        name="bug",
        block=Bug,
        decides=lambda bug: [bug.starter.source],
        prove=prove_bug,
        heading=lambda bug: f"**One wrong line**: {', '.join(f'`{name}`' for name in bug.require)}",
        cells=lambda _, bug, work: gradient_cells(bug, "", work),
    ),
)
