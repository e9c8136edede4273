"""What families of operations and slips are called on the pages of practice."""

from collections.abc import Mapping

FAMILIES: Mapping[str, str] = {
    "matmul": "Matrix products",
    "broadcast": "Copies along an axis",
    "activation": "Activations",
    "exponential": "Exponentials and logarithms",
    "power": "Powers",
    "reduction": "Sums and averages",
    "softmax": "Softmax",
    "layout": "Transposes and reshapes",
    "fork": "Tensors that are read twice",
    "index": "Looked-up rows",
    "gate": "Gates",
    "norm": "Norms",
    "attention": "Attention scores",
    "convolution": "Convolution",
}
"""What families of operations are called."""

SLIPS: Mapping[str, str] = {
    "mean": "an average where a sum belongs",
    "mean-missing": "a sum where an average belongs",
    "mean-for-sum": "an average where a sum belongs",
    "wrong-axis": "a sum along the wrong axis",
    "term-axis": "a sum along the wrong axis",
    "summed-all": "everything summed into one number",
    "keepdim-lost": "an axis of size 1 lost",
    "keepdim-added": "an axis of size 1 too many",
    "transposed": "the transpose of the right answer",
    "matmul-order": "the factors of a product in the wrong order",
    "own-factor": "the own factor where the other one belongs",
    "other-factor": "the other factor where the own one belongs",
    "overwritten": "a share that replaces an earlier one",
    "share-missing": "a share left out",
    "scatter-overwrite": "repeated rows that replace each other",
    "input-for-output": "the input where the output belongs",
    "output-for-input": "the output where the input belongs",
    "local-missing": "a local derivative left out",
    "upstream-missing": "the upstream gradient left out",
    "average-missing": "softmax without its average",
    "diagonal": "softmax without the other scores",
    "power-raised": "the wrong power",
    "power-kept": "a power that was not lowered",
    "gate-flipped": "a gate the wrong way round",
    "gate-value": "a value where a gate belongs",
    "sign": "the wrong sign",
    "factor": "a factor too many, or one too few",
    "factor-missing": "a factor left out",
    "factor-extra": "a factor too many",
}
"""What slips are called; others by their code."""


def family_words(family: str) -> str:
    return FAMILIES.get(family, family.replace("-", " ").capitalize())


def slip_words(slip: str) -> str:
    return SLIPS.get(slip, slip.replace("-", " "))
