"""A training run in words: what it came to, beside the best that there is for its kind, and beside autograd's run."""

import re
from dataclasses import replace

import pytest

from app.content.blocks import Preset
from app.engine.train.snapshot import GradientComparison, SampledNames, Snapshot, SplitLoss
from app.web.views.run_view import TrainingRunView

FINISHED = Snapshot(
    phase="finished",
    steps=2000,
    step=2000,
    gap=1e-6,
    sampled=(SampledNames(step=0, names=("xqvkzj",)), SampledNames(step=2000, names=("maria",))),
    judged=(SplitLoss(part="train", rows=100, own=2.3512, reference=2.3512),),
)


def seen(**changes):
    return TrainingRunView(replace(FINISHED, **changes), Preset(name="short", steps=2000), (0.1, 0.01))


def test_the_loss_stands_beside_the_best_that_its_kind_of_model_can_have():
    assert seen(floor=2.3347).reached == (
        "A model that calls all symbols equally likely has a loss of 3.296. On these names the best possible loss of a "
        "model that sees one symbol is 2.335. Yours has 2.351. That is 98 % of what one symbol can tell about the next."
    )


@pytest.mark.parametrize(("own", "said"), [(3.4, "3.400"), (float("nan"), "nan"), (float("inf"), "inf")])
def test_a_loss_above_equal_chances_has_learned_no_part(own, said):
    judged = (SplitLoss(part="train", rows=100, own=own, reference=own),)

    assert seen(floor=2.3347, judged=judged).reached.endswith(f"Yours has {said}.")


def test_a_run_without_a_floor_or_without_its_loss_promises_nothing():
    assert seen(floor=None).reached == ""
    assert seen(floor=2.3347, judged=()).reached == ""


def test_the_first_column_of_names_is_of_the_model_before_its_first_step():
    drawn = seen().sampled

    assert drawn.index("before step 1") < drawn.index("after 2,000 steps")
    assert "after 0 steps" not in drawn


def test_three_columns_of_names_are_as_wide_as_a_phone_has_room():
    names = (*FINISHED.sampled, SampledNames(step=20_000, names=("christophersonianly",)))
    drawn = seen(sampled=names).sampled

    assert float(re.search(r'viewBox="0 0 ([\d.]+) ', drawn)[1]) <= 352
    assert "christophersonian…" in re.sub("</?tspan[^>]*>", "", drawn)


def close(approx):
    return GradientComparison(name="W", shape=(2, 2), exact=False, approx=approx, maxdiff=1e-8)


def test_losses_that_part_while_the_gradients_agree_are_no_fault_of_theirs():
    parted = seen(gap=0.02, compared=(close(True),))

    assert "in the trained model your gradients are still those of autograd" in parted.said
    assert "not the same" not in parted.said
    assert parted.right is None


def test_gradients_are_called_wrong_where_they_were_seen_to_differ():
    assert seen(gap=0.02, compared=(close(False),)).said.endswith("by up to 0.02: these gradients are not the same.")
    assert seen(gap=0.02, compared=(close(False),)).right is False
    assert seen(gap=0.02).said == "The losses differ from those of autograd's run by up to 0.02."
    assert seen(gap=1e-6, compared=(close(True),)).right is True
