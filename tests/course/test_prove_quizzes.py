import pytest

from app.content.blocks import Forward, Quiz
from app.course.parse import parse_lesson
from app.course.prove_quizzes import prove_inference, prove_quiz
from app.grading.forward.facts import Facts
from app.grading.reading.shape_inference import infer_shapes
from tests.kinds.test_wanted_tensors import RAN, attention

LESSON = """---
title: Quizzes
id: quizzes
estimate: 1 min
---

```{{forward}} layer
:dims: {{N: 32, D: 100, H: 27}}
:inputs: {{X: [N, D], W: [D, H], b: [H]}}
:output: Y
Y = X @ W + b
```

{block}
"""


def findings(block: str) -> list[str]:
    lesson, errors = parse_lesson(LESSON.format(block=block), "quizzes.md")
    assert lesson is not None, errors
    forwards = [one for one in lesson.blocks if isinstance(one, Forward)]
    facts = {one.name: Facts(shapes=infer_shapes(one), gradable=()) for one in forwards}
    return [found.code for one in lesson.exercises if isinstance(one, Quiz) for found in prove_quiz(lesson, one, facts)]


def quiz(kind: str, options: str, items: str = "") -> str:
    return f":::{{{kind}}} q\n{options}\n\nWhich?\n\n{items}\n:::\n"


@pytest.mark.parametrize(
    "block",
    [
        quiz("shape", ":forward: layer\n:of: dW\n:ask: (100, ?)", "- `32`: That is the batch axis.\n"),
        quiz("number", ":answer: 1/(n-1)\n:with: {n: 32}", "- `1/32`: That is 1/n.\n"),
        quiz("axes", ":forward: layer\n:of: db\n:from: dY"),
        quiz("matmul", ":forward: layer\n:of: dW"),
        quiz("choice", "", "- [ ] one\n- [x] two\n- [x] three\n"),
        quiz("shape", ":forward: layer\n:of: dW\n:vary: {N: 30..45, D: 50..90}\n:ask: ({{D}}, ?)", "- `{{N}}`: No.\n"),
        quiz("number", ":answer: 1/(n-1)\n:vary: {n: 4..40}", "- `1/n`: That is 1/n.\n"),
        quiz("axes", ":forward: layer\n:of: db\n:from: dY\n:vary: {N: 2..9}"),
        quiz("matmul", ":forward: layer\n:of: dW\n:vary: {N: 2..9}"),
        quiz("choice", ":vary: {n: 3..9}", "- [ ] {{n + 1}}\n- [x] {{2 * n}}\n"),
    ],
    ids=[f"{one}{drawn}" for drawn in ("", "-drawn") for one in ("shape", "number", "axes", "matmul", "choice")],
)
def test_a_sound_quiz_of_every_kind_has_no_findings(block: str) -> None:
    assert findings(block) == []


def test_the_rows_of_a_sheet_are_proved_like_questions_of_their_own() -> None:
    rows = ":::{shape} one\n:of: W\n\nOne.\n\n- `(D, H)`: No.\n:::\n\n:::{number} two\n:answer: 3\n\nTwo.\n:::\n"

    assert findings(f"::::{{sheet}} both\n:forward: layer\n\nWhich?\n\n{rows}::::\n") == ["tempting-right"]


def test_several_numbers_of_a_draw_are_proved() -> None:
    several = ":answer: {sum: n + 1, square: n * n}\n:vary: {n: 4..9}"

    assert findings(quiz("number", several, "- `sum = n`: One is missing.\n")) == []


@pytest.mark.parametrize(
    ("block", "code"),
    [
        # Right where N and D come to be equal; unheard where N and H do.
        (quiz("shape", ":forward: layer\n:of: dX\n:ask: (?, {{D}})\n:vary: {N: 2..9, D: 5..7}", "- `{{D}}`: No.\n"),
         "tempting-right"),
        (quiz("number", ":answer: n * m\n:vary: {n: 3..5, m: 6..9}", "- `n + m`: No.\n- `m + 4`: A sum, too.\n"),
         "tempting-unheard"),
    ],
)  # fmt: skip
def test_a_distractor_is_found_in_the_draw_where_it_is_right_or_unheard(block: str, code: str) -> None:
    assert findings(block) == [code]


def test_a_tempting_value_that_is_right_is_found() -> None:
    assert findings(quiz("shape", ":forward: layer\n:of: dW", "- `(100, 27)`: No.\n")) == ["tempting-right"]


def test_a_tempting_value_that_another_one_hides_is_found() -> None:
    assert findings(quiz("number", ":answer: 3/4", "- `0.5`: Half.\n- `1/2`: A half.\n")) == ["tempting-unheard"]


def test_a_tempting_value_that_nobody_can_type_is_found() -> None:
    assert findings(quiz("shape", ":forward: layer\n:of: dW", "- `wide`: No.\n")) == ["unreadable"]


def test_a_shape_that_torch_gives_otherwise_is_found() -> None:
    lesson, _ = parse_lesson(LESSON.format(block=""), "quizzes.md")
    assert lesson is not None
    forward = lesson.forward("layer")
    assert forward is not None

    found = prove_inference(forward, Facts(shapes={**infer_shapes(forward), "Y": (27, 32)}, gradable=()))

    assert [one.code for one in found] == ["shape-misread"]
    assert "`Y` has the shape (27, 32), but was read from the source as (32, 27)" in found[0].message


def test_a_wrong_answer_key_is_found() -> None:
    block = quiz("axes", ":forward: layer\n:of: dX\n:from: dY")

    assert findings(block) == ["no-right-answer"]


def test_an_answer_that_the_program_contradicts_is_found() -> None:
    assert findings(quiz("shape", ":forward: layer\n:of: dW\n:answer: (27, 100)")) == ["wrong-answer-key"]


@pytest.mark.parametrize("mask", ["-(10.0 ** 17)", 'float("-inf")'])
def test_a_product_is_proved_on_every_operand_that_its_page_offers(mask: str) -> None:
    lesson, product, _ = attention(mask)

    assert prove_quiz(lesson, product, {"head": Facts(shapes=RAN, gradable=())}) == []


def test_a_product_of_a_program_not_run_is_proved_from_its_source() -> None:
    lesson, product, _ = attention('float("-inf")')

    assert prove_quiz(lesson, product, {}) == []


def test_a_product_whose_operand_cannot_be_offered_has_no_right_answer() -> None:
    lesson, product, _ = attention("torch.finfo(torch.float32).min")
    told = {name: shape for name, shape in RAN.items() if name != "P"}

    assert [one.code for one in prove_quiz(lesson, product, {"head": Facts(shapes=told, gradable=())})] == [
        "no-right-answer"
    ]
