"""Write a check that tells right gradients from wrong ones."""

from app.content.blocks import Checker
from app.kinds.block_kind import CodeKind
from app.kinds.checker.export import checker_cells
from app.kinds.checker.prove import prove_checker

KINDS = (
    CodeKind(
        name="checker",
        block=Checker,
        prove=prove_checker,
        heading=lambda box: f"**Code**: `{box.function}({', '.join(box.arguments)})`",
        cells=checker_cells,
    ),
)
