"""Forward programs and texts of code boxes as Python that runs below the preamble."""

import re
import textwrap
from collections.abc import Callable, Mapping

from app.content.blocks import Bug, Forward, Grad, Input
from app.content.export.notebook import NotebookCell, Work
from app.content.export.unfit import INDENT, block_problem
from app.content.text.arithmetic import integer_of
from app.syntax import plain_lines

DRAWN = {"bool": "truths", "sorted": "ascending", "unique": "distinct"}
"""What draws a distribution in an export, where it is called otherwise there."""
PYTHON_SIZE = re.compile(r"[\w\s()+*-]+|[\w\s]+//[\w\s]+")


def program_cell(forward: Forward) -> NotebookCell:
    """A forward program with the inputs that it starts from."""
    dims = ", ".join(f"{name}={size}" for name, size in forward.dims.items())
    inputs = "\n".join(
        f"{tensor_input.name} = backhand.{_draw_code(tensor_input, forward.dims)}" for tensor_input in forward.inputs
    )
    opening = f'with backhand.program("{forward.name}", "{" ".join(forward.outputs)}"{", " + dims if dims else ""}):'
    body = "\n\n".join(part for part in (inputs, forward.source.strip("\n")) if part)
    shapes = "\n".join(f"# {name.name}: ({', '.join(name.sizes)}){_kind(name)}" for name in forward.inputs)
    sizes = f"# {', '.join(f'{name} = {size}' for name, size in forward.sizes)}\n" if dims else ""
    plain = f"{sizes}{shapes}\n{forward.source.strip()}"
    return NotebookCell(text=f"{opening}\n{indent_code(body)}", code=True, name=forward.name, plain=plain)


def own_cell(opening: str, text: str, name: str, work: Work) -> NotebookCell:
    """Cell of a `with` statement around *text*, the author's or the learner's."""
    body = as_block_body(text, work.unfit)
    return NotebookCell(text=f"{opening}\n{body}", code=True, name=name, plain=plain_text(text).strip("\n"))


def gradient_cells(box: Grad | Bug, given_names: str, work: Work) -> list[NotebookCell]:
    """A box of gradients, and the comparison of what it leaves with what autograd says."""
    text = work.codes.get(box.name, box.starter.source)
    given = f", given={given_names!r}" if given_names else ""
    opening = f'with backhand.box("{box.forward}", "{" ".join(box.require)}"{given}):'
    return [
        own_cell(opening.replace("'", '"'), text, box.name, work),
        NotebookCell(text="backhand.compare()", code=True, name=f"{box.name}-compared"),
    ]


def as_block_body(text: str, unfit: Callable[[str], str] = block_problem) -> str:
    """*text* as the body of a `with`; what is *unfit* for that becomes a comment, so that the rest can run."""
    text = plain_text(text).strip("\n").rstrip()
    if not _acts(text):
        return f"{indent_code(text)}\n{INDENT}pass".lstrip("\n")
    reason = unfit(text)
    if not reason:
        return indent_code(text)
    lines = [f"{INDENT}# This is not Python yet: {reason}.", *(f"{INDENT}# {line}" for line in text.splitlines())]
    return "\n".join([*(line.rstrip() for line in lines), f"{INDENT}pass"])


def plain_text(text: str) -> str:
    """*text* with line ends, tabs and letters that every file can hold."""
    return plain_lines(text.encode("utf-8", "replace").decode()).expandtabs(4)


def _acts(text: str) -> bool:
    """True if *text* holds more than comments; blanks are those of Python, which knows fewer than `str.strip`."""
    return any(line.strip(" \t\f") and not line.lstrip(" \t\f").startswith("#") for line in text.split("\n"))


def _draw_code(input_: Input, dims: Mapping[str, int]) -> str:
    sizes = (input_.bound, *input_.sizes) if input_.bound else input_.sizes
    arguments = [*(f"{number:g}" for number in input_.parameters), *(python_size(size, dims) for size in sizes)]
    return f"{DRAWN.get(input_.distribution, input_.distribution)}({', '.join(arguments)})"


def python_size(size: str, dims: Mapping[str, int]) -> str:
    """A size as Python; its value where Python would read it in another way, as in `C/H`, `N^2` or `sqrt(N)`."""
    words = re.findall(r"[^\W\d]\w*", size)
    as_it_is = PYTHON_SIZE.fullmatch(size) and all(word in dims for word in words)
    return size if as_it_is else str(integer_of(size, dims))


def _kind(input_: Input) -> str:
    if input_.bound:
        return (
            f", {'' if input_.distribution == 'ints' else input_.distribution + ' '}whole numbers below {input_.bound}"
        )
    parameters = f"({', '.join(f'{number:g}' for number in input_.parameters)})" if input_.parameters else ""
    return "" if input_.distribution == "randn" else f", {input_.distribution}{parameters}"


def indent_code(text: str) -> str:
    return textwrap.indent(text, INDENT)
