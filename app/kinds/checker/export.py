"""A checker as code to take away."""

from app.content.blocks import Checker, Lesson
from app.content.export.notebook import NotebookCell, Work
from app.content.export.python_code import indent_code, own_cell


def checker_cells(_: Lesson, box: Checker, work: Work) -> list[NotebookCell]:
    """A function that tells right from wrong, and the cases that it is tried on."""
    text = work.codes.get(box.name, box.starter.source)
    call = f"said = {box.function}({', '.join(box.arguments)})"
    cases = [
        f"with backhand.case({item.right}, {item.message!r}):\n{indent_code(item.code.source.strip() + chr(10) + call)}"
        for item in box.cases
    ]
    opening = f'with backhand.function("{box.function}"):'
    return [
        own_cell(opening, text, box.name, work),
        NotebookCell(text="\n\n".join(cases), code=True, name=f"{box.name}-cases"),
        NotebookCell(text="backhand.verdicts()", code=True, name=f"{box.name}-compared"),
    ]
