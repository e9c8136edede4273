"""`{bug}`: a backward pass with one wrong line, to be found and mended."""

from dataclasses import dataclass

from app.bindings import assigned_names
from app.content.blocks import Bug, Code, CorrectLine, DeclaredMistake
from app.content.directives.code_box_options import (
    blank_code,
    code_of,
    need_message,
    needed_gradients,
    parse_exercise_fields,
    required_child,
)
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import DirectiveBody, ParseContext
from app.content.program.programs import check_python
from app.content.text.errors import quoted_names
from app.content.text.fences import Directive
from app.content.text.sentences import render_sentence
from app.syntax import Statement, expression_in, function_of, is_update, source_text, syntax_key, targets_of

BUG_CHILDREN = ("given", "hint", "mistake", "solution")


@dataclass(frozen=True, slots=True)
class _Planted:
    """The given code, read: its statements, and which of them is the wrong one."""

    given: Directive
    statements: list[Statement]
    wrong: int

    @property
    def line(self) -> int:
        return self.statements[self.wrong].lineno

    @property
    def end(self) -> int:
        return self.statements[self.wrong].end_lineno or self.line

    def with_mend(self, child: Directive) -> Code:
        """The whole of the given code with the statement of *child* in place of the wrong one."""
        lines = self.given.body.text.rstrip().split("\n")
        put = child.body.text.strip("\n").rstrip().split("\n")
        whole = [*lines[: self.line - 1], *put, *lines[self.end :]]
        return Code(place=child.place, source="\n".join(whole) + "\n", line=child.body.line)

    def standing(self, statement: Statement) -> Statement | None:
        """The given statement that is the same as *statement*."""
        return next((item for item in self.statements if syntax_key(item) == syntax_key(statement)), None)


def read_bug(directive: Directive, reading: ParseContext) -> Bug:
    options = reading.options(directive)
    forward = reading.forward(options)
    require = needed_gradients(options, forward, reading)
    inside = reading.inside(directive, BUG_CHILDREN)
    given = required_child(inside, "given", directive, reading)
    solution = required_child(inside, "solution", directive, reading)
    planted = _parse_planted(given, solution, require, reading) if given and solution else None
    mistakes, innocent = _parse_mistakes(inside, planted, reading)
    return Bug(
        **parse_exercise_fields(directive, options, inside, reading),
        forward=forward.name if forward else "",
        require=require,
        starter=code_of(given) if given else blank_code(directive),
        line=planted.line if planted else 1,
        end=planted.end if planted else 1,
        mended=code_of(solution) if solution else blank_code(directive),
        solution=planted.with_mend(solution) if planted and solution else blank_code(directive),
        mistakes=mistakes,
        innocent=innocent,
    )


def _parse_planted(
    given: Directive, solution: Directive, require: tuple[str, ...], reading: ParseContext
) -> _Planted | None:
    faults = reading.faults
    tree = check_python(given.body.text, given.body.line, "This given", faults)
    right = check_python(solution.body.text, solution.body.line, "This solution", faults)
    if tree is None or right is None:
        return None
    missing = [name for name in require if name not in assigned_names(tree)]
    if missing:
        message = f"It does not write {quoted_names(missing)}."
        faults.add(given.place, "incomplete", message, "A '{given}' is a whole backward pass.")
    if len(right.body) != 1:
        message = f"The solution has {len(right.body)} statements."
        faults.add(solution.place, "one-line", message, "Write the one line that is mended.")
        return None
    replaced = _replaceable_positions(tree.body, right.body[0])
    if len(replaced) != 1:
        message = f"{len(replaced)} lines of '{{given}}' write what the solution writes; it must be one."
        faults.add(solution.place, "which-line", message, "Mend a line by another one that writes the same name.")
        return None
    planted = _Planted(given, tree.body, replaced[0])
    if planted.standing(right.body[0]) is not None:
        fix = "Plant the mistake in '{given}'."
        faults.add(solution.place, "no-bug", "This line stands in '{given}' just so.", fix)
    return planted


def _replaceable_positions(body: list[Statement], mend: Statement) -> list[int]:
    """The positions in *body* that *mend* may replace: what writes the same, or else changes the same name later on."""
    same = [index for index, statement in enumerate(body) if _writes(statement) == _writes(mend)]
    alike = [index for index in same if type(body[index]) is type(mend)]
    if alike or not _changes(mend):
        return alike or same
    # A change in place can mend a change of another kind, or what should have been one; never the beginning.
    return [index for index, statement in enumerate(body) if _owner(statement) == _owner(mend)][1:]


def _parse_mistakes(
    inside: DirectiveBody, planted: _Planted | None, reading: ParseContext
) -> tuple[tuple[DeclaredMistake, ...], tuple[CorrectLine, ...]]:
    """Parse declared mistakes and correct lines; a correct line is one of the planted program."""
    mistakes: list[DeclaredMistake] = []
    innocent: list[CorrectLine] = []
    for child in inside.children:
        if child.name != "mistake":
            continue
        example = "This division belongs to the mean, and it is right."
        need_message(child, "This mistake says nothing to the learner.", example, reading)
        tree = check_python(child.body.text, child.body.line, "This mistake", reading.faults)
        if tree is None or planted is None:
            continue
        stands = planted.standing(tree.body[0]) if len(tree.body) == 1 else None
        if len(tree.body) != 1:
            message = f"This mistake has {len(tree.body)} statements."
            reading.faults.add(
                child.place, "one-line", message, "Write one wrong mend, or one right line of '{given}'."
            )
        elif stands is planted.statements[planted.wrong]:
            message = "This is the wrong line itself: nothing is mended yet, and learners are told so."
            reading.faults.add(child.place, "not-mended", message, "Write a wrong mend, or a right line of '{given}'.")
        elif stands is not None:
            innocent.append(CorrectLine(place=child.place, line=stands.lineno, message=child.argument))
        else:
            html, code = render_sentence(child.argument), planted.with_mend(child)
            mistakes.append(DeclaredMistake(place=child.place, message=child.argument, html=html, code=code))
    return tuple(mistakes), tuple(innocent)


def _writes(statement: Statement) -> str:
    """Target of a statement as text: `dW`, `dC[ix]`, or the owner of a call in place, `dC` of `dC.index_add_(…)`."""
    if targets := targets_of(statement):
        return ", ".join(map(source_text, targets))
    called = function_of(expression_in(statement))
    return "" if called is None else f"{source_text(called).partition('.')[0]}.…"


def _owner(statement: Statement) -> str:
    """The name whose tensor a statement writes or changes."""
    return _writes(statement).partition("[")[0].partition(".")[0]


def _changes(statement: Statement) -> bool:
    """True if it changes an existing tensor."""
    return is_update(statement) or expression_in(statement) is not None or "[" in _writes(statement)


READERS = (DirectiveReader(name="bug", block=Bug, options=("forward", "require"), read=read_bug),)
