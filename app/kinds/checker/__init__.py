"""Write a check that tells right gradients from wrong ones."""

from app.content.blocks import Checker
from app.content.directives.directive_reader import DirectiveReader
from app.kinds.block_kind import CodeKind
from app.kinds.checker.export import checker_cells
from app.kinds.checker.prove import prove_checker
from app.kinds.checker.read import OPTIONS, read_checker

CHECKER = CodeKind(
    name="checker",
    block=Checker,
    readers=(DirectiveReader(name="checker", options=OPTIONS, read=read_checker),),
    prove=prove_checker,
    heading=lambda box: f"**Code**: `{box.function}({', '.join(box.arguments)})`",
    cells=checker_cells,
)
