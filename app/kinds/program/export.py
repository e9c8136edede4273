"""A function or class as code to take away."""

import textwrap

from app.bindings import assigned_names
from app.content.blocks import FunctionBox, FunctionCase, Lesson
from app.content.export.notebook import NotebookCell, Work
from app.content.export.python_code import indent_code, plain_text
from app.content.export.unfit import INDENT
from app.content.program.programs import sound_tree


def function_cells(_: Lesson, box: FunctionBox, work: Work) -> list[NotebookCell]:
    """A function or class, and what it gives on each case."""
    text = plain_text(work.codes.get(box.name, box.starter.source)).strip("\n")
    whole = text if not work.unfit(text) else "\n".join(f"# {line}".rstrip() for line in text.splitlines())
    call = f"result = {box.function}({', '.join(box.arguments)})"
    cases = "\n\n".join(_case_code(function_case, number, call) for number, function_case in enumerate(box.cases, 1))
    return [
        NotebookCell(text=whole or "pass", code=True, name=box.name, plain=text),
        NotebookCell(text=cases, code=True, name=f"{box.name}-cases"),
    ]


def _case_code(case: FunctionCase, number: int, call: str) -> str:
    """One case that prints what came of it; an error in it does not end the notebook."""
    source = case.code.source.strip()
    body = source if "result" in assigned_names(sound_tree(source)) else f"{source}\n{call}"
    report = (
        f'print("case {number}:", expect(result), result)' if case.predicate else f'print("case {number}:", result)'
    )
    stopped = f'except Exception as error:\n{INDENT}print("case {number} stopped:", repr(error))'
    message = "\n".join(f"# {line}" for line in textwrap.wrap(case.message, 100))
    return f"{message}\ntry:\n{indent_code(body + chr(10) + report)}\n{stopped}"
