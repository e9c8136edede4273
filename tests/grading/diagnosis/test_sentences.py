"""Sentences for what is seen while code runs have the same form as those for wrong tensors."""

import pytest

from app.grading.diagnosis import sentences

SAID = [
    sentences.not_a_tensor("dx", "float"),
    sentences.not_a_tensor("dx", "torch.return_types.max"),
    sentences.not_a_tensor("dx", "torch.return_types.linalg_eigh"),
    sentences.unfit_value("dx", "dtype torch.float16, shape (3,)"),
    sentences.unfit_value("dx", "too large: shape (1000000, 1000000)"),
    sentences.unfit_value("dx", "layout torch.strided on meta"),
    sentences.unfit_value("dx", "type Parameter"),
    sentences.wrong_dtype("dx", "int64", right=True),
    sentences.wrong_dtype("dx", "bool", right=False),
    sentences.aliased_memory("dlogits", "dnorm_logits", line=3),
    sentences.mutated_tensor("dlogits", "probs"),
    sentences.mutated_tensor("dlogits", "probs", line=7),
    sentences.stale_state("dW", 2),
    sentences.wrong_order("da", "db", 3, 5),
    sentences.overflowing_exponential("dz", "torch.exp(z)", "z"),
]


@pytest.mark.parametrize("said", SAID, ids=lambda said: said.code)
def test_a_sentence_is_calm_and_whole(said):
    assert said.code.count(":") == 1
    assert said.message[0].isupper() or said.message[0] == "`"
    assert said.message.endswith(".")
    assert "!" not in said.message
    assert said.message.count("`") % 2 == 0


def test_right_numbers_of_a_wrong_type_are_said_to_be_right():
    assert sentences.wrong_dtype("dx", "int64", right=True).message.startswith("The numbers are right")
