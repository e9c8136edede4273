"""`{bug}`: a backward pass with one wrong line, to be found and mended."""

import ast

from app.content.blocks import Bug, Code
from app.content.boxes import code_of, needed, needed_gradients, reveal_of
from app.content.fences import Directive
from app.content.programs import check_python, written
from app.content.reading import Reading

OPTIONS = ("forward", "require", "reveal", "was")
CHILDREN = ("given", "hint", "solution")


def read(directive: Directive, reading: Reading) -> Bug:
    options = reading.options(directive)
    name = reading.name(directive)
    forward = reading.forward(options)
    require = needed_gradients(options, forward, reading)
    inside = reading.inside(directive, CHILDREN)
    given = needed(inside, "given", directive, reading)
    solution = needed(inside, "solution", directive, reading)
    nothing = Code(place=directive.place, source="", line=directive.place.line)
    line, mended = _mended(given, solution, require, reading) if given and solution else (1, nothing)
    return Bug(
        place=directive.place,
        name=name,
        was=reading.was(options),
        prompt=reading.prompt(directive, inside.tokens, inside.line),
        hints=reading.hints(inside),
        forward=forward.name if forward else "",
        require=require,
        given=code_of(given) if given else nothing,
        line=line,
        mended=code_of(solution) if solution else nothing,
        solution=mended,
        reveal=reveal_of(options),
    )


def _mended(given: Directive, solution: Directive, require: tuple[str, ...], reading: Reading) -> tuple[int, Code]:
    """The wrong line of *given*, and the whole of it with the statement of *solution* in its place."""
    faults = reading.faults
    code = code_of(given)
    tree = check_python(given.body.text, given.body.line, "This given", faults)
    right = check_python(solution.body.text, solution.body.line, "This solution", faults)
    if tree is None or right is None:
        return 1, code
    missing = [name for name in require if name not in written(tree)]
    if missing:
        message = f"It does not write {', '.join(repr(name) for name in missing)}."
        faults.add(given.place, "incomplete", message, "A '{given}' is a whole backward pass.")
    if len(right.body) != 1:
        message = f"The solution has {len(right.body)} statements."
        faults.add(solution.place, "one-line", message, "Write the one line that is mended.")
        return 1, code
    wrong = [statement for statement in tree.body if _writes(statement) == _writes(right.body[0])]
    if len(wrong) != 1:
        message = f"{len(wrong)} lines of '{{given}}' write what the solution writes; it must be one."
        faults.add(solution.place, "which-line", message, "Mend a line by another one that writes the same name.")
        return 1, code
    if ast.dump(wrong[0]) == ast.dump(right.body[0]):
        fix = "Plant the mistake in '{given}'."
        faults.add(solution.place, "no-bug", "This line stands in '{given}' just so.", fix)
    lines = given.body.text.rstrip().split("\n")
    end = wrong[0].end_lineno or wrong[0].lineno
    mended = [*lines[: wrong[0].lineno - 1], *solution.body.text.strip("\n").rstrip().split("\n"), *lines[end:]]
    return wrong[0].lineno, Code(place=solution.place, source="\n".join(mended) + "\n", line=solution.body.line)


def _writes(statement: ast.stmt) -> str:
    """What a statement writes, as text: `dW`, `dC[ix]`, or the owner of a call in place, `dC` of `dC.index_add_(…)`."""
    if isinstance(statement, ast.Assign):
        return ", ".join(ast.unparse(target) for target in statement.targets)
    if isinstance(statement, ast.AugAssign):
        return ast.unparse(statement.target)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return f"{ast.unparse(statement.value.func).partition('.')[0]}.…"
    return ""
