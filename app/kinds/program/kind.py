"""Write a function or a class that is judged by its values."""

from app.content.blocks import FunctionBox
from app.kinds.block_kind import CodeKind
from app.kinds.program.export import function_cells
from app.kinds.program.prove import prove_function

KINDS = (
    CodeKind(
        name="program",
        block=FunctionBox,
        decides=lambda box: [function_case.code.source for function_case in box.cases],
        prove=prove_function,
        heading=lambda box: f"**Code**: `{box.function}({', '.join(box.arguments)})`",
        cells=function_cells,
    ),
)
