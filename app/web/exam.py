"""What counts as an exam: a large box of gradients without a hint. Passing it gives a badge."""

from app.content.blocks import Exercise, Grad

FEWEST = 10


def is_exam(exercise: Exercise) -> bool:
    """Whether passing *exercise* gives a badge."""
    return isinstance(exercise, Grad) and not exercise.hints and len(exercise.require) >= FEWEST
