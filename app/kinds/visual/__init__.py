"""Show a picture of a program or of given numbers."""

from app.content.blocks import Visual
from app.content.directives.directive_reader import DirectiveReader
from app.kinds.block_kind import BlockKind
from app.kinds.visual.prove import prove_picture
from app.kinds.visual.read import OPTIONS, read_visual

VISUAL = BlockKind(
    name="visual",
    block=Visual,
    readers=(DirectiveReader(name="visual", options=OPTIONS, read=read_visual),),
    prove=prove_picture,
)
