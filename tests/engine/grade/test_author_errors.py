import pytest

from app.engine.grade.author_errors import AuthorError, FailureExplainer
from app.engine.grade.jail_runs import JailFailedError
from app.engine.grade.outcomes import exercise_fault_verdict
from app.grading.forward.statements import read_program
from app.sandbox.wire import Ending, Reply
from tests.grading.boxes.load import make_forward

FORWARD = make_forward("double", "N: 3", "x: [N]", "y", "y = x * 2")
BLAME = FailureExplainer(FORWARD, read_program(FORWARD.source, ["x"], FORWARD.dims, "y"))


def failed(ending: Ending) -> JailFailedError:
    return JailFailedError(Reply(ending=ending, arrays={}, texts={}, wall_ms=0.0))


def test_a_run_that_came_to_its_end_and_gave_nothing_is_not_differentiable() -> None:
    assert "torch cannot differentiate it" in str(BLAME.unfinished(failed("done"), {}))


def test_a_run_that_took_too_much_names_the_largest_tensor() -> None:
    found = BLAME.unfinished(failed("memory"), {"a": {"N": 3}})

    assert isinstance(found, AuthorError)
    assert "N = 3" in str(found)


def test_a_fault_of_ours_stays_one() -> None:
    error = failed("fault")

    assert BLAME.unfinished(error, {}) is error


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("y = torch.nn.Embedding(5, 3)(i)", "such as `E: [V, D]`, and write `E[i]`."),
        ("y = torch.nn.LSTM(3, 4)(x)[0]", "Take them as inputs, and write the step with functions of `torch` and `F`."),
        ("y = torch.nn.Dropout(0.5)(x)", "an input such as `noise: [N, D]` is drawn once for everybody."),
    ],
)
def test_an_author_of_a_layer_is_told_what_to_write_instead(line: str, told: str) -> None:
    blame = FailureExplainer(FORWARD, read_program(line + "\n", ["x", "i"], FORWARD.dims, "y"))

    with pytest.raises(AuthorError) as refused:
        blame.refuse({"message": "draws random numbers", "failed": 0, "why": "draws"}, {})

    assert refused.value.message.startswith(f"`{line}` ")
    assert refused.value.message.endswith(told)


def test_a_broken_exercise_is_told_with_one_full_stop_after_each_sentence() -> None:
    message = exercise_fault_verdict(
        AuthorError("an input such as `noise: [N, D]` is drawn once for everybody.", 0)
    ).message

    assert message == (
        "This exercise is broken: an input such as `noise: [N, D]` is drawn once for everybody. Our fault, not yours."
    )
