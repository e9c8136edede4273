"""Show a picture of a program or of given numbers."""

from app.content.blocks import Visual
from app.kinds.block_kind import BlockKind
from app.kinds.visual.prove import prove_picture

KINDS = (
    BlockKind(
        name="visual",
        block=Visual,
        prove=prove_picture,
    ),
)
