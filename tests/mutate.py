"""Reverses signs, bounds, comparisons and booleans of the code at random, one by one, drops statements, and runs tests.

`make mutants` tries two hundred, drawn with a seed. A mutant is written into its file; the tests of its module run,
then those of its folder, then those of the rooms that use it, until one is red; the file is put back. What survives is
printed with its place: it changes nothing that can be seen, or a test is missing.
"""

import argparse
import ast
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {
    "grading": ("tests/grading", "tests/engine/grade", "tests/web", "tests/check", "tests/content", "tests/engine"),
    "engine": ("tests/engine", "tests/web", "tests/check", "tests/cli"),
    "store": ("tests/store", "tests/web"),
    "web": ("tests/web", "tests/cli", "tests/browser"),
}
"""The rooms that are mutated, and where the tests are that may notice, the nearest first."""
HANGS_SECONDS = 1800
COMPARED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
SIGNS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """*start* and *end* are places in the bytes of the file."""

    file: Path
    line: int
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}: `{self.old}` -> `{self.new}`"


def mutants_of(file: Path) -> Iterator[Mutant]:
    source = file.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(node: ast.AST) -> slice:
        return slice(starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)

    def text(node: ast.AST) -> str:
        return source[place(node)].decode()

    for node in _of_functions(ast.parse(source)):
        for new in _edits(node, text):
            yield Mutant(file, node.lineno, place(node).start, place(node).stop, text(node), new)


def _of_functions(tree: ast.Module) -> Iterator[ast.AST]:
    """Every node that runs when something is asked; types and what a module or a class is made of do not."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in function.body:
                yield from ast.walk(statement)


def _edits(node: ast.AST, text) -> Iterator[str]:
    match node:
        case ast.Compare(left=left, ops=[kind], comparators=[right]) if type(kind) in COMPARED:
            yield f"({text(left)}) {COMPARED[type(kind)]} ({text(right)})"
        case ast.BinOp(left=left, op=kind, right=right) if type(kind) in SIGNS and not _is_text(node):
            yield f"({text(left)}) {SIGNS[type(kind)]} ({text(right)})"
        case ast.BoolOp(op=kind, values=values):
            word = " or " if isinstance(kind, ast.And) else " and "
            yield "(" + word.join(f"({text(one)})" for one in values) + ")"
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield f"({text(operand)})"
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int(value)):
            yield str(value + 1)
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign():
            yield "pass"


def _is_text(node: ast.AST) -> bool:
    return any(
        isinstance(one, ast.JoinedStr | ast.Constant) and not isinstance(getattr(one, "value", ""), int | float)
        for one in ast.walk(node)
    )


def drawn(count: int, seed: int) -> list[Mutant]:
    """*count* mutants, each place as likely as any other."""
    files = [path for room in ROOMS for path in sorted((ROOT / "app" / room).rglob("*.py"))]
    every = sorted({one for file in files for one in mutants_of(file)}, key=lambda one: (one.file, one.start, one.new))
    return random.Random(seed).sample(every, count)


def stages(file: Path) -> Iterator[list[str]]:
    """What to run, one after the other: the mirrored tests, those of the folder, those of the rooms that use it."""
    inside = file.relative_to(ROOT / "app")
    mirrored = ROOT / "tests" / inside.parent / f"test_{inside.name}"
    if mirrored.exists():
        yield [str(mirrored)]
    folder = ROOT / "tests" / inside.parent
    if folder.exists() and len(inside.parts) > 2:
        yield [str(folder)]
    for place in ROOMS[inside.parts[0]]:
        yield [str(ROOT / place)]


def noticed_by(mutant: Mutant, stages_run: int) -> str:
    """The test that is red with *mutant*, or ""; a file that is not what it was is written back whatever happens."""
    before = mutant.file.read_bytes()
    try:
        mutant.file.write_bytes(before[: mutant.start] + mutant.new.encode() + before[mutant.end :])
        for tests in list(stages(mutant.file))[:stages_run]:
            red = _red(tests)
            if red:
                return red
        return ""
    finally:
        mutant.file.write_bytes(before)


def _red(tests: list[str]) -> str:
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", *tests]
    with subprocess.Popen(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as run:
        try:
            said, _ = run.communicate(timeout=HANGS_SECONDS)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            return f"{tests[0]} never ended"
    if run.returncode in (0, 5):
        return ""
    lines = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0] if lines else said.strip().splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", default="0/1", help="PART/PARTS of those drawn, for several machines.")
    parser.add_argument("--stages", type=int, default=9, help="How far from the module tests are looked for.")
    given = parser.parse_args()
    part, parts = map(int, given.every.split("/"))
    tried = drawn(given.count, given.seed)[part::parts]
    survived = []
    for mutant in tried:
        started = time.monotonic()
        red = noticed_by(mutant, given.stages)
        found = f"noticed  {mutant} by {red[:120]}" if red else f"SURVIVED {mutant}"
        print(f"{found} ({time.monotonic() - started:.0f} s)", flush=True)
        survived += [] if red else [mutant]
    print(f"{len(tried) - len(survived)} of {len(tried)} mutants were noticed.")


if __name__ == "__main__":
    main()
