from app.content.blocks import Forward, Input, SourceLocation


def test_the_sizes_of_a_program_stand_in_the_order_of_its_axes() -> None:
    inputs = (Input(name="ix", sizes=("B", "T")), Input(name="w", sizes=("T*C", "5")), Input(name="b", sizes=("C",)))
    forward = Forward(
        place=SourceLocation("lesson.md", 1),
        name="lookup",
        dims={"V": 27, "C": 10, "T": 3, "B": 32},
        inputs=inputs,
        output="y",
        source="y = w",
        source_line=1,
    )

    assert forward.sizes == (("B", 32), ("T", 3), ("C", 10), ("V", 27))
