"""Train a forward program with the gradients of the learner's own code."""

from app.content.blocks import Train
from app.kinds.block_kind import CodeKind
from app.kinds.train.export import training_cells
from app.kinds.train.prove import prove_training

KINDS = (
    CodeKind(
        name="train",
        block=Train,
        called="training",
        prove=prove_training,
        heading=lambda _: "**A training run**",
        cells=training_cells,
    ),
)
