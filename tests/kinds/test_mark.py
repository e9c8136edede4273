"""Quiz answers: read generously, marked exactly, explained without giving the answer away."""

import json
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from app.content.blocks import Distractor, Forward, Lesson, Quiz, SourceLocation
from app.content.text.mathml import words_of
from app.course.parse import parse_lesson
from app.grading.quiz.feedback import Feedback
from app.grading.reading.shape_inference import infer_shapes
from app.kinds.axes.block import AxesQuestion
from app.kinds.axes.mark import Axis, axes_offered, sums_offered
from app.kinds.cells.block import CellsQuestion
from app.kinds.cells.mark import answer_of, right_values
from app.kinds.choice.block import ChoiceQuestion
from app.kinds.matmul.block import MatmulQuestion
from app.kinds.matmul.mark import operands_offered, right_products
from app.kinds.number.block import NumberQuestion, NumbersQuestion
from app.kinds.order.block import OrderQuestion
from app.kinds.order.mark import as_values
from app.kinds.registry import LONGEST_ANSWER, answer_key, mark_quiz
from app.kinds.shape.block import ShapeQuestion
from app.kinds.shape.mark import answer_disagreement, expected, with_commas
from tests.courses import LESSONS, course_in

FIXTURE = Path(__file__).parent / "quizzes.md"


def read(path: Path) -> Lesson:
    lesson, errors = parse_lesson(path.read_text(), f"01-{path.name}")
    assert lesson is not None, [str(error) for error in errors]
    return lesson


LESSON = read(FIXTURE)
QUIZZES = [one for one in LESSON.exercises if isinstance(one, Quiz)]


def answered(name: str, answer: str | list[str]) -> Feedback:
    quiz = LESSON.exercise(name)
    assert isinstance(quiz, Quiz)
    forward = program_of(quiz)
    return mark_quiz(quiz, answer, infer_shapes(forward) if forward else {}, forward)


def program_of(quiz: Quiz, lesson: Lesson = LESSON) -> Forward | None:
    name = getattr(quiz, "forward", None)
    return lesson.forward(name) if name else None


@pytest.mark.parametrize(
    "answer",
    [
        "27",
        "(27,)",
        "[27]",
        " 27 ",
        "(100, 27)",
        "100,27",
        "100x27",
        "100 × 27",
        "[100, 27]",
        "torch.Size([100, 27])",
        "H",
        "(D, H)",
        "d, h",
        "100 by 27",
        "(100 27)",
        "027",
    ],
)
def test_a_partly_given_shape_takes_what_is_missing_or_the_whole(answer):
    feedback = answered("partly", answer)

    assert feedback.correct
    assert feedback.echo.endswith("(100, 27)")


WHY = {
    "why-shape": ("(D, H)", "It stands beside W, so W - \\eta\\,dW works."),
    "why-number": ("3", "One for each of the copies."),
    "why-choice": ("0", "A copy adds up."),
    "why-plain": ("0", "A copy adds up."),
    "why-axes": ("0", "The batch is what was copied over."),
    "why-matmul": ("X.T @ dY", "The batch is summed away."),
}


@pytest.mark.parametrize("name", WHY)
def test_a_right_answer_of_every_kind_is_told_why_it_is_right(name):
    answer, why = WHY[name]

    feedback = answered(name, answer)

    assert feedback.correct
    assert words_of(feedback.message).endswith(why)


@pytest.mark.parametrize("name", WHY)
def test_a_wrong_answer_is_not_told_why_the_right_one_is(name):
    feedback = answered(name, ["X", "dY"] if name == "why-matmul" else "1")

    assert feedback.correct is not True
    assert WHY[name][1] not in feedback.message.striptags()


def test_a_reason_replaces_the_usual_word_after_what_is_derived():
    assert answered("why-number", "3").message == "<p>One for each of the copies.</p>"
    assert answered("why-plain", "0").message == "<p>A copy adds up.</p>"
    assert answered("why-choice", "0").message.striptags() == "Each copy counts. A copy adds up."
    assert answered("why-shape", "(D, H)").message.startswith("<code>dW</code> has the shape of <code>W</code>")


def test_what_is_kept_is_what_the_solution_reads_more_of_than_the_shape():
    quiz = LESSON.exercise("kept")

    assert isinstance(quiz, ChoiceQuestion)
    assert [option.html.striptags() for option in quiz.options] == ["u", "h", "p", "v"]
    assert [option.right for option in quiz.options] == [False, True, False, False]


def test_tensor_that_other_right_lines_read_counts_in_its_place():
    assert answered("kept-either", ["1"]).correct
    assert answered("kept-either", ["0"]).correct
    assert not answered("kept-either", ["2"]).correct


def test_both_of_an_exchange_are_one_too_many():
    quiz = replace(LESSON.exercise("kept"), instead={1: 0})

    assert quiz.usual_choice({0}) == quiz.usual_choice({1}) == {1}
    assert quiz.usual_choice({0, 1}) == {0, 1}


def test_what_is_kept_for_nothing_is_told_by_name():
    assert answered("kept", ["1"]).correct
    assert answered("kept", ["0"]).message.striptags() == "What came out of the tanh will do."
    assert answered("kept", ["3"]).message.striptags() == "No line of this backward pass reads it."


@pytest.mark.parametrize(
    "answer", ["(27,)", "27", "[27]", "(H,)", "h", "H", "27,", "“(H,)”", "'27'", "‘(27,)’", "`(27,)`", "27. ", "«H»"]
)
def test_a_whole_shape_is_read_in_every_notation(answer):
    assert answered("whole", answer).correct


@pytest.mark.parametrize("answer", ["100. 27", "(D. H)", "“100, 27”", "d , h ", "(100×27)"])
def test_what_a_phone_makes_of_a_shape_is_read(answer):
    assert answered("why-shape", answer).correct


@pytest.mark.parametrize("answer", ["()", "[]", "torch.Size([])", "( )", "(,)", "scalar", "0-d", "A scalar."])
def test_a_scalar_has_the_empty_shape(answer):
    assert answered("scalar", answer).correct


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "  ",
        "?",
        "(100, ?)",
        "abc",
        "(27",
        "27)",
        "1.5",
        "-3",
        "scalars",
        "shape",
        "27!",
        "Q",
        "1,2,3,4,5,6,7,8,9",
        "“”",
    ],
)
def test_what_is_no_shape_is_neither_right_nor_wrong(answer):
    feedback = answered("whole", answer)

    assert feedback.correct is None
    assert feedback.message


@pytest.mark.parametrize("answer", ["NxD", "nXd", "32xD", "Nx100"])
def test_an_x_parts_sizes_that_have_names(answer):
    assert answered("of-input", answer).correct is True


@pytest.mark.parametrize(
    ("answer", "parted"),
    [("xxx", "x, x"), ("Nx3", "N, 3"), ("NxxNxx2", "Nx, Nx, 2"), ("x" * 120 + "é", "x" * 120 + "é")],
)
def test_an_x_parts_sizes_whose_names_hold_one(answer, parted):
    assert with_commas(answer, dict.fromkeys(["N", "Nx", "x", "xxxx", "xxxxx"], 2)) == parted


@pytest.mark.parametrize("answer", ["shape (27,)", "db: (27,)", "db.shape = (27,)", "Shape: 27", "b.shape", "b.size()"])
def test_a_shape_is_read_behind_its_name_and_as_that_of_a_tensor(answer):
    assert answered("whole", answer).correct


def test_the_shape_of_another_tensor_is_echoed_and_judged():
    feedback = answered("of-tensor", "X.shape")

    assert (feedback.correct, feedback.echo) == (False, "X.shape = (32, 100)")


def test_the_tensor_that_is_asked_for_is_no_answer():
    assert answered("of-tensor", "Y.shape").correct is None
    assert "no tensor called <code>Q</code>" in answered("of-tensor", "Q.shape").message


def test_names_are_echoed_with_their_numbers():
    assert answered("partly", "(D, H)").echo == "(D, H) = (100, 27)"
    assert answered("partly", "32").echo == "(100, 32)"


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("partly", "32", "That is the batch axis."),
        ("partly", "(100, 32)", "That is the batch axis."),
        ("partly", "N", "That is the batch axis."),
        ("partly", "(27, 100)", "These are the right sizes in another order."),
        ("partly", "(32, 27)", "(100, ?) already gives the other numbers"),
        (
            "whole",
            "(32, 27)",
            "<code>db</code> has 1 axis; this has 2. A gradient has the shape of its tensor",
        ),
        ("whole", "32", "A gradient has the shape of its tensor: look at <code>b</code>."),
        ("of-input", "(32, 27)", "That is the shape of <code>Y</code>."),
        ("of-tensor", "(32, 7)", "The size of axis 1 is not right. Each axis is one of the named sizes."),
        ("of-tensor", "(7, 8)", "The size of axis 0 and axis 1 is not right. Each axis is one"),
        ("typed", "(6, 8)", "The size of axis 1 is not right."),
    ],
)
def test_a_wrong_shape_has_its_reason(name, answer, said):
    feedback = answered(name, answer)

    assert feedback.correct is False
    assert feedback.message.startswith(said)


def test_a_wrong_shape_does_not_tell_the_right_one():
    for answer in ("1", "(9, 9)", "(32, 100)", "(27, 32)", "100", "()"):
        assert "27" not in answered("whole", answer).message


def test_an_author_cannot_contradict_the_program():
    quiz = LESSON.exercise("whole")
    assert isinstance(quiz, ShapeQuestion)
    shapes = infer_shapes(LESSON.forward("linear"))

    assert answer_disagreement(quiz, shapes) == ""
    wrong = ShapeQuestion(place=quiz.place, name="x", forward="linear", of="db", answer="(32,)")
    assert answer_disagreement(wrong, shapes) == "':answer:' is (32,), but 'db' has the shape (27,)."
    partly = ShapeQuestion(place=quiz.place, name="x", forward="linear", of="dW", ask="(32, ?)")
    assert "does not fit" in answer_disagreement(partly, shapes)


def test_a_shape_that_is_not_known_is_nobodys_fault():
    quiz = LESSON.exercise("partly")
    assert isinstance(quiz, ShapeQuestion)

    assert mark_quiz(quiz, "27", {}).correct is None


@pytest.mark.parametrize(
    "answer",
    [
        "1/31",
        "0.0323",
        "0.03226",
        "3.23e-2",
        "0,0323",
        "1/(n-1)",
        "= 1/31",
        "factor = 1/31",
        "≈ 0.0323",
        "1 / 31",
        "1÷31",
        "+1/31",
        "0.032258064516",
        "32.3e-3",
        "2/62",
        ".0323",
        "1/31.",
        "3.226 %",
        "3,226%",
        "3.226 percent",
        r"\frac{1}{31}",
        r"$\tfrac{1}{31}$",
        "1/{31}",
        "31^-1",
        "31⁻¹",
        "np.exp(-ln(31))",
        "1 / exp(ln 31)",
        "(1)(1/31)",
    ],
)
def test_a_right_number_is_read_in_every_notation(answer):
    assert answered("bessel", answer).correct


@pytest.mark.parametrize("answer", ["3.2e-2", "0.03", "0,032"])
def test_rounding_too_far_is_its_own_message(answer):
    feedback = answered("bessel", answer)

    assert feedback.correct is None
    assert feedback.message.startswith("Right, but rounded too far")


@pytest.mark.parametrize("answer", ["1/32", "0.03125", "0.0312", "0.0313", "0,0313", "0.031"])
def test_a_tempting_number_is_known_by_its_value(answer):
    assert answered("bessel", answer).message == "That is 1/n."


@pytest.mark.parametrize("answer", ["-1/31", "−1/31", "–0.0323"])
def test_a_sign_is_told(answer):
    assert answered("bessel", answer).message == "The size is right, the sign is not."


@pytest.mark.parametrize(("answer", "correct"), [("0", True), ("1e-9", None), ("-3e-10", None), ("0.01", False)])
def test_what_rounding_leaves_of_a_zero_is_neither_right_nor_wrong(answer, correct):
    quiz = LESSON.exercise("weights")
    assert isinstance(quiz, NumberQuestion)

    assert mark_quiz(replace(quiz, answer="0"), [answer], {}, None).correct is correct


@pytest.mark.parametrize(
    "answer",
    ["49152", "49,152", "49 152", "49.152", "49'152", "49_152", "4.9152e4", "768*64", "49152.0", "49\u202f152"],
)
def test_thousands_may_be_grouped(answer):
    assert answered("weights", answer).correct


@pytest.mark.parametrize(("answer", "read_as"), [("48,128", "48128"), ("50,000", "50000"), ("49.5", "")])
def test_a_wrong_answer_is_echoed_as_it_was_judged(answer, read_as):
    quiz = LESSON.exercise("weights")
    assert isinstance(quiz, NumberQuestion)
    near = replace(quiz, tempting=(Distractor(place=quiz.place, value="48128", html=Markup("One row is missing.")),))

    assert mark_quiz(near, [answer], {}, None).echo == read_as


@pytest.mark.parametrize("answer", ["49151", "49153", "4.9151e4", "48*1024+1"])
def test_a_whole_number_is_asked_for_exactly(answer):
    assert answered("weights", answer).correct is False


@pytest.mark.parametrize("answer", ["49152.4", "49151.9"])
def test_a_number_beside_a_whole_one_is_neither_right_nor_wrong(answer):
    feedback = answered("weights", answer)

    assert feedback.correct is None
    assert feedback.message.startswith("Very near, but the answer is a whole number")


@pytest.mark.parametrize("answer", ["4.92e4", "4.915e4"])
def test_a_whole_number_that_was_rounded_is_asked_for_again(answer):
    assert answered("weights", answer).message.startswith("Right, but rounded too far")


@pytest.mark.parametrize("answer", ["exp(ln(49152))", "sqrt(49152**2)"])
def test_sums_of_floats_reach_a_whole_number(answer):
    assert answered("weights", answer).correct


@pytest.mark.parametrize("answer", ["49100", "49200"])
def test_a_tolerance_that_the_author_gave_holds_for_whole_numbers(answer):
    assert answered("about", answer).correct


@pytest.mark.parametrize("answer", ["25%%", "25 % %", "25 percent%", "25%%%"])
def test_two_percent_signs_are_asked_about(answer):
    for quiz in ("percentage", "bessel"):
        said = answered(quiz, answer)

        assert said.correct is None
        assert "There are two percent signs" in said.message


def test_a_part_of_one_where_percent_are_asked_for_is_told_so():
    said = answered("percentage", "0.25")

    assert said.correct is None
    assert "multiply by 100" in said.message


@pytest.mark.parametrize(("answer", "right"), [("25 %", True), ("25", True), ("0.25 %", False), ("0.24", False)])
def test_a_percentage_is_read_as_it_stands_where_one_is_asked_for(answer, right):
    assert answered("percentage", answer).correct is right


@pytest.mark.parametrize(
    "values",
    [
        ["3, 1/4", ""],
        ["(3, 1/4)", ""],
        ["3; 0,25", ""],
        ["3 and 0.25", ""],
        ["3 1/4", ""],
        ["", "3, 1/4"],
        ["3", "1/4"],
    ],
)
def test_a_list_in_one_of_several_fields_is_dealt_out(values):
    assert answered("both", values).correct


@pytest.mark.parametrize("values", [["3", ""], ["3,25", ""], ["1, 2, 3", ""]])
def test_a_field_that_is_empty_is_told_of_where_no_list_fits(values):
    assert answered("both", values).correct is None


@pytest.mark.parametrize(
    "answer", ["", " ", "x", "1/0", "9**9**9", "tree", "1 2 3", "(", "1e999", "∞", "nan", "inf", "0x10"]
)
def test_what_is_no_number_is_neither_right_nor_wrong(answer):
    assert answered("bessel", answer).correct is None


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("2x+1", "`x` stands for a number in the question: put that number in, and give what comes out."),
        ("7x", "`x` stands for a number in the question"),
        ("2*dy", "`dy` stands for a number in the question"),
        ("3 apples", "A number alone is asked for, without `apples`."),
        ("12k", "A number alone is asked for, without `k`."),
    ],
)
def test_what_to_do_with_a_letter_or_a_word_in_a_number_is_told(answer, said):
    feedback = answered("bessel", answer)

    assert feedback.correct is None
    assert words_of(feedback.message).startswith(f"{said.replace('`', '')}")


@pytest.mark.parametrize("answer", [".0323 units", "1/31 nats", "3.226 %"])
def test_what_is_counted_may_stand_behind_a_number(answer):
    assert answered("bessel", answer).correct


@pytest.mark.parametrize("answer", ["three", "Three", "3 units", "three units"])
def test_a_small_number_may_be_a_word(answer):
    assert answered("why-number", answer).correct


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        ("(5,7,9)", 3),
        ("(5, 7)", 2),
        ("(5,7)", 2),
        ("[5, 7, 9]", 3),
        ("5 7 9", 3),
        ("5; 7; 9", 3),
        ("5, 7 and 9", 3),
        ("5, 7", 2),
        ("db = (5, 7, 9)", 3),
        ("tensor([5., 7., 9.])", 3),
        ("torch.tensor([[1, 2], [3, 4]])", 4),
        ("(1/31, 1/32)", 2),
    ],
)
def test_several_numbers_are_counted_where_one_is_asked_for(answer, count):
    feedback = answered("bessel", answer)

    assert feedback.correct is None
    assert feedback.message == f"These are {count} numbers; the answer is a single one."


@pytest.mark.parametrize("answer", ["(1/31)", "[1/31]", "(0,0323)", "tensor(0.0323)", "[0.0323,]", "tensor([0.0323])"])
def test_a_single_number_is_read_in_brackets(answer):
    assert answered("bessel", answer).correct


@pytest.mark.parametrize(("answer", "said"), [("0.5", "smaller"), ("1/1000", "larger"), ("-7", "larger")])
def test_a_wrong_number_is_never_told_without_a_reason(answer, said):
    assert answered("bessel", answer).message == f"The answer is {said}."


@pytest.mark.parametrize("answer", ["(1+2)*(3+4)", "exp(2)/(1+2)"])
def test_a_sum_with_brackets_stays_a_sum(answer):
    assert answered("bessel", answer).correct is False


@pytest.mark.parametrize("answer", ["0", "0.0", "-0", "0,00", "1-1"])
def test_zero_is_a_number(answer):
    assert answered("zero", answer).correct


def test_three_right_digits_are_enough_for_the_usual_tolerance():
    assert answered("middle", "0.242").correct
    assert answered("middle", "0,242").correct
    assert answered("middle", "exp(1)/(exp(2)+exp(1)+exp(0.1))").correct
    assert answered("middle", "0.24").message.startswith("Right, but rounded too far")
    assert answered("middle", "-0.242").message == "The sign."
    assert answered("middle", "−0.76").message == "Only the right class."


def test_one_box_means_one_choice_and_several_mean_all():
    assert answered("one", ["1"]).correct
    assert answered("one", "1").correct
    assert answered("one", ["0"]).message == "<p>That copies.</p>"
    assert answered("one", ["2"]).message == "That does not hold."
    assert answered("one", []).correct is None
    assert answered("one", ["0", "1"]).correct is None
    assert answered("several", ["0", "2"]).correct
    assert answered("several", ["0"]).message == "What you chose holds, but 1 option that also holds is missing."
    assert answered("several", ["1"]).message == "<p>Not this.</p>"


def test_where_several_are_chosen_each_reason_stands_below_its_option():
    assert answered("several", ["0", "1", "2"]).message == '<div class="about">second</div>\n<p>Not this.</p>'


def test_axes_are_explained_in_words():
    assert answered("db-axes", ["0"]).correct
    assert answered("db-axes", ["0"]).message == (
        "Summing over axis 0 (<code>N</code>, 32 entries) leaves <code>(H,)</code> = <code>(27,)</code>: "
        "one number per <code>H</code>."
    )
    assert answered("db-axes", ["1"]).message == (
        "You summed over axis 1 (<code>H</code>, 27 entries). What is left is <code>(N,)</code> = <code>(32,)</code>: "
        "one number per <code>N</code>. <code>db</code> needs <code>(H,)</code> = <code>(27,)</code>: "
        "one number per <code>H</code>."
    )
    assert answered("db-axes", ["0", "1"]).correct is False
    assert "a single number" in answered("db-axes", ["0", "1"]).message


@pytest.mark.parametrize(
    ("name", "axes", "correct"),
    [
        ("db-axes", [], None),
        ("db-axes", ["7"], None),
        ("db-axes", ["-2"], True),
        ("db-axes", ["axis 0"], True),
        ("col-axes", ["1"], True),
        ("col-axes", ["0", "1"], False),
        ("four-axes", ["0", "1", "3"], True),
        ("four-axes", ["0, 1, 3"], True),
        ("four-axes", ["(0, 1, 3)"], True),
        ("four-axes", ["1", "3"], False),
        ("square-axes", ["0"], True),
        ("no-axes", [], True),
        ("no-axes", ["0"], False),
        ("ones-axes", ["0"], True),
        ("ones-axes", ["0", "1"], True),
    ],
)
def test_the_axes_that_were_copied_are_the_ones_to_sum(name, axes, correct):
    assert answered(name, axes).correct is correct


def test_an_axis_kept_as_one_is_mentioned():
    assert "<code>keepdim=True</code>" in answered("col-axes", ["1"]).message


def test_where_sizes_are_equal_the_shape_is_not_enough():
    feedback = answered("square-axes", ["1"])

    assert feedback.correct is False
    assert "The shape fits" in feedback.message


def test_tempting_axes_have_their_own_feedback():
    assert answered("col-axes", ["0"]).message == "That leaves one number per column."


def test_the_page_learns_what_it_may_offer():
    quiz, product = LESSON.exercise("db-axes"), LESSON.exercise("dw-product")
    assert isinstance(quiz, AxesQuestion)
    assert isinstance(product, MatmulQuestion)
    forward = LESSON.forward("linear")
    shapes = infer_shapes(forward)

    assert axes_offered(quiz, shapes) == (Axis(0, "N", 32), Axis(1, "H", 27))
    assert {one.axes: one.shape for one in sums_offered(quiz, shapes)} == {
        (): (32, 27),
        (0,): (27,),
        (1,): (32,),
        (0, 1): (),
    }
    offered = {one.name: (one.shape, one.transposed) for one in operands_offered(product, shapes, forward)}
    assert offered == {
        "dY": ((32, 27), (27, 32)),
        "X": ((32, 100), (100, 32)),
        "W": ((100, 27), (27, 100)),
    }


@pytest.mark.parametrize(
    ("name", "products"),
    [
        ("dw-product", ("X.T @ dY",)),
        ("dx-product", ("dY @ W.T",)),
        ("square-product", ("dP @ B.T",)),
        ("left-product", ("A.T @ dP",)),
        ("vector-product", ("du @ W.T", "W @ du")),
        ("transposed-product", ("dG @ S",)),
        ("batch-product", ("dO @ V.T",)),
    ],
)
def test_every_product_that_is_mathematically_right_is_accepted(name, products):
    quiz = LESSON.exercise(name)
    assert isinstance(quiz, MatmulQuestion)
    forward = program_of(quiz)
    assert forward is not None

    assert sorted(right_products(quiz, infer_shapes(forward), forward)) == sorted(products)
    for product in products:
        assert answered(name, product).correct


@pytest.mark.parametrize(
    "answer",
    [
        "X.T @ dY",
        "X.T@dY",
        ["X.T", "dY"],
        "X.mT @ dY",
        "X.t() @ dY",
        "X.transpose(0, 1) @ dY",
        "(X.T) @ dY",
        ["X.T @ dY"],
        "X.T.T.T @ dY",
    ],
)
def test_a_product_is_read_in_every_notation(answer):
    feedback = answered("dw-product", answer)

    assert feedback.correct
    assert feedback.echo == "X.T @ dY"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("X @ dY", "and 100 is not 32"),
        ("X @ dY", "the inner numbers must match"),
        (
            "dY.T @ X",
            '<code>dW</code> needs <code class="together">(D, H)</code> = <code class="together">(100, 27)</code>',
        ),
        ("X @ W", 'has the shape <code class="together">(N, H)</code> = <code class="together">(32, 27)</code>'),
        ("b @ dY", "<code>b</code> is <code>(27,)</code>"),
    ],
)
def test_a_wrong_product_has_its_reason(answer, said):
    feedback = answered("dw-product", answer)

    assert feedback.correct is False
    assert said in feedback.message


@pytest.mark.parametrize("answer", ["", "X", "X @ ", "X @ dY @ W", "foo @ dY", "X.U @ dY", "@", "X ** dY", ["X", "T"]])
def test_what_is_no_product_is_neither_right_nor_wrong(answer):
    assert answered("dw-product", answer).correct is None


@pytest.mark.parametrize("answer", ["dP @ B", "B @ dP", "A.T @ dP", "dP.T @ B"])
def test_a_square_product_that_only_fits_is_told_so(answer):
    feedback = answered("square-product", answer)

    assert feedback.correct is False
    assert "The shape fits, but" in feedback.message


@pytest.mark.parametrize(
    ("quiz", "answer", "correct", "said"),
    [
        ("moments", ["2.5", "9/4"], True, "Those are the numbers."),
        ("moments", ["(a+b)/2", "2.25"], True, "Those are the numbers."),
        ("moments", ["2.5", ""], None, "1 number is still empty."),
        ("moments", ["", "2.25"], None, "1 number is still empty."),
        ("moments", [], None, "2 numbers are still empty."),
        ("moments", ["2.5", "-9/4"], False, "1 of 2 is right."),
        ("moments", ["5", "1"], False, "That is their sum."),
        ("moments", ["2.5", "tow"], None, "cannot be read as a number"),
        ("largest-share", ["3"], True, "That holds."),
        ("largest-share", ["1"], False, "That is as small as its neighbour."),
        ("largest-share", ["2"], False, 'It is not <code class="together">dA[1, 0]</code>.'),
        ("largest-share", ["2", "3"], None, "Only one entry is asked for."),
        ("largest-share", ["7"], None, "Choose one of the entries."),
        ("this-entry", ["2"], True, "That holds."),
        ("this-entry", ["0"], False, 'It is not <code class="together">A[0, 0]</code>.'),
    ],
)
def test_several_numbers_and_an_entry_are_judged_each_by_itself(quiz, answer, correct, said):
    feedback = answered(quiz, answer)

    assert feedback.correct is correct
    assert said in feedback.message


@pytest.mark.parametrize(
    ("order", "correct", "said"),
    [
        ([0, 1, 2, 3, 4], True, "That holds."),
        ([0, 1, 3, 2, 4], True, "Other orders are right too."),
        ([1, 0, 2, 3, 4], False, "Step 1 comes too early.</p> <p>Forward reads the batch.</p>"),
        ([0, 1, 2, 4, 3], False, "Step 4 comes too early."),
    ],
)
def test_steps_in_words_are_right_as_they_are_numbered(order, correct, said):
    quiz = LESSON.exercise("step-by-step")
    assert isinstance(quiz, OrderQuestion)

    feedback = mark_quiz(quiz, as_values(quiz, order), {})

    assert feedback.correct is correct
    assert said in feedback.message


def test_an_order_of_many_lines_is_not_too_long_to_be_read():
    quiz = OrderQuestion(
        place=SourceLocation("a.md", 1), name="q", lines=tuple(f"a{at} = 1" for at in range(40)), shown=tuple(range(40))
    )

    assert mark_quiz(quiz, as_values(quiz, range(40)), {}).correct is True


ANSWERS = st.text(max_size=40) | st.text(alphabet="0123456789()[],.?xT@dWXYb -+*/eE×−'\"", max_size=40)


@given(st.sampled_from(QUIZZES), ANSWERS | st.lists(ANSWERS, max_size=6))
def test_any_answer_gets_feedback(quiz, answer):
    forward = program_of(quiz)

    for known in (True, False):
        feedback = mark_quiz(
            quiz, answer, infer_shapes(forward) if forward and known else {}, forward if known else None
        )
        assert isinstance(feedback, Feedback)
        assert feedback.message


CATEGORIES = [
    "Lu",
    "Ll",
    "Lt",
    "Lm",
    "Lo",
    "Mn",
    "Mc",
    "Me",
    "Nd",
    "Nl",
    "No",
    "Pc",
    "Pd",
    "Ps",
    "Pe",
    "Pi",
    "Pf",
    "Po",
]
CATEGORIES += ["Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"]
FORMS = ["{}", "5{}", "{}5", "(5, {})", "[{}, 27]", "{}*{}", "1/{}", "1e{}", "X.T @ {}", "axis {}", "N{}", "d{}, {}"]


@pytest.mark.in_turn(turns=4, places=("app/kinds",))
@pytest.mark.parametrize("category", CATEGORIES)
@given(st.data())
def test_a_character_of_any_category_gets_feedback(category, data):
    character = data.draw(st.characters(categories=[category]))
    quiz = data.draw(st.sampled_from(QUIZZES))
    text = data.draw(st.sampled_from(FORMS)).replace("{}", character)
    forward = program_of(quiz)

    for answer in (text, [text] * 4):
        assert mark_quiz(quiz, answer, infer_shapes(forward) if forward else {}, forward).message


NUMERALS = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.numeric(chr(code), None) is not None]


def test_each_numeral_of_unicode_gets_feedback():
    kinds = {type(quiz): quiz for quiz in QUIZZES}

    for quiz in kinds.values():
        forward = program_of(quiz)
        shapes = infer_shapes(forward) if forward else {}
        for numeral in NUMERALS:
            for answer in (numeral, f"5{numeral}", f"(5, {numeral})"):
                assert mark_quiz(quiz, answer, shapes, forward).message, (quiz.name, numeral)


def test_every_quiz_of_every_lesson_is_sound():
    for lesson in course_in(LESSONS).lessons:
        for quiz in (one for one in lesson.exercises if isinstance(one, Quiz)):
            forward = program_of(quiz, lesson)
            shapes = infer_shapes(forward) if forward else {}
            where = f"{lesson.path}: {quiz.name}"

            for one in getattr(quiz, "tempting", ()):
                feedback = mark_quiz(quiz, one.value, shapes, forward)
                assert (feedback.correct, feedback.message) == (False, one.html), f"{where}: {one.value}"
            assert right_answer(quiz, shapes, forward).correct, where


def right_answer(quiz: Quiz, shapes: dict[str, tuple[int, ...]], forward: Forward | None) -> Feedback:
    if isinstance(quiz, OrderQuestion):
        return mark_quiz(quiz, as_values(quiz, range(len(quiz.lines))), shapes, forward)
    if isinstance(quiz, ShapeQuestion):
        assert answer_disagreement(quiz, shapes) == ""
        return mark_quiz(quiz, str(tuple(expected(quiz, shapes) or ())), shapes, forward)
    if isinstance(quiz, NumberQuestion):
        return mark_quiz(quiz, quiz.answer, shapes, forward)
    if isinstance(quiz, NumbersQuestion):
        return mark_quiz(quiz, [part.answer for part in quiz.parts], shapes, forward)
    if isinstance(quiz, ChoiceQuestion):
        return mark_quiz(quiz, [str(number) for number, one in enumerate(quiz.options) if one.right], shapes, forward)
    if isinstance(quiz, MatmulQuestion):
        return mark_quiz(quiz, right_products(quiz, shapes, forward)[0], shapes, forward)
    if isinstance(quiz, CellsQuestion):
        answer = answer_of(quiz, forward)
        assert answer is not None
        return mark_quiz(quiz, right_values(quiz, answer), shapes, forward)
    marks = [mark_quiz(quiz, [str(axis) for axis in one.axes], shapes, forward) for one in sums_offered(quiz, shapes)]
    return next(feedback for feedback in marks if feedback.correct)


PIECES = [
    "1/",
    "1/3+1/7+",
    "(",
    "[]",
    "2**",
    "exp(1)*",
    "X.T",
    "@",
    "1,",
    "1'000",
    "and ",
    "axis 0 ",
    "tensor(",
    " ",
    "`",
]
MOST_CALLS = 8000
"""What is read in the event loop takes a millisecond at most, of a processor that makes millions of calls a second."""


@pytest.mark.in_turn(turns=4, places=("app/kinds",))
@pytest.mark.parametrize("quiz", QUIZZES, ids=lambda quiz: quiz.name)
@pytest.mark.parametrize("values", [1, 4, 64])
def test_no_answer_is_long_work(quiz: Quiz, values: int) -> None:
    forward = program_of(quiz)
    shapes = infer_shapes(forward) if forward else {}
    for piece in PIECES:
        for length in (LONGEST_ANSWER, 200 * values):
            text = (piece * length)[:length]
            parts = [text[at : at + length // values] for at in range(0, length, max(1, length // values))]

            assert calls(lambda parts=parts: mark_quiz(quiz, parts, shapes, forward)) < MOST_CALLS


def calls(work: Callable[[], object]) -> int:
    """How many functions *work* calls: what takes long on no machine in particular."""
    made = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return made


@pytest.mark.parametrize(
    ("spellings", "key"),
    [
        (["(3, 4)", "3,4", "[3,4]", "3x4", " 3 4 ", "(3,4,)"], '[0, "(3,4)"]'),
        (["5", "(5,)", "[ 5 ]"], '[0, "(5,)"]'),
        (["(H, 4)", " (H,4)"], '[0, "(H,4)"]'),
        (["()"], '[0, "()"]'),
    ],
)
def test_shapes_that_are_read_alike_have_one_key_that_is_read_as_they_are(spellings: list[str], key: str) -> None:
    quiz = LESSON.exercise("of-input")
    assert isinstance(quiz, Quiz)

    assert {answer_key(quiz, 0, [given]) for given in spellings} == {key}
    plain = json.loads(key)[1]
    assert {answered("of-input", given) for given in spellings} == {answered("of-input", plain)}
    assert {answer_key(quiz, 0, [plain])} == {key}
