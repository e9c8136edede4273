"""Reverses signs, bounds, comparisons and booleans of the code at random, one by one, drops statements, runs tests.

`make mutants` runs the suite once and writes down which test runs which line, then tries two hundred mutants, drawn
with a seed, in a copy of the tree for each processor. A mutant is written into its file; the tests that run its line
run, the nearest first, until one is red; the file is put back. What survives is printed with its place: nothing that
can be seen changes, and `equivalent-mutants.toml` says why, or a test is missing.
"""

import argparse
import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[1]
PLACES = {
    "grading": ("tests/engine/grade", "tests/engine/train", "tests/check"),
    "engine": ("tests/engine",),
    "kinds": ("tests/check", "tests/web"),
    "practice": ("tests/practice", "tests/web"),
    "store": ("tests/store", "tests/web"),
    "web": ("tests/web", "tests/cli"),
}
"""The rooms that are mutated, and where tests are that start processes which run their lines."""
SEEN = {"pictures": "tests/browser/test_styleguide.py", "views": "tests/browser/test_styleguide.py"}
"""Folders whose work a browser's test shows when no other test has noticed."""
EQUIVALENT = ROOT / "tests/equivalent-mutants.toml"
LOOPS_SECONDS = 120
"""After so many a test hangs: its mutant is noticed."""
MUTANT_SECONDS = 300
"""After so many a mutant survives, whatever tests are left."""
LEAVING_SECONDS = 20
"""So long tests that are interrupted may take to end the servers that they started."""
NOT_COPIED = {".git", ".venv", "node_modules", "var"}
NOTICED, SURVIVED = "noticed ", "SURVIVED"
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
        return f"{self.name}:{self.line}: `{self.old}` -> `{self.new}`"

    @property
    def name(self) -> str:
        return str(self.file.relative_to(ROOT))

    @property
    def source(self) -> bytes:
        """The file with this in it."""
        before = self.file.read_bytes()
        return before[: self.start] + self.new.encode() + before[self.end :]

    @property
    def text(self) -> str:
        """Its line with `{old -> new}` in it, as in `equivalent-mutants.toml`: that stays true when lines move."""
        source = self.file.read_bytes()
        before, after = source[: self.start].rpartition(b"\n")[2], source[self.end :].partition(b"\n")[0]
        return " ".join(f"{before.decode()}{{{self.old} -> {self.new}}}{after.decode()}".split())


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


def every_mutant() -> list[Mutant]:
    files = [path for room in PLACES for path in sorted((ROOT / "app" / room).rglob("*.py"))]
    return sorted({one for file in files for one in mutants_of(file)}, key=lambda one: (one.file, one.start, one.new))


def drawn(count: int, seed: int) -> list[Mutant]:
    """*count* mutants, each place as likely as any other."""
    return random.Random(seed).sample(every_mutant(), count)


def equivalent() -> dict[tuple[str, str], str]:
    """By file and line: why nobody can see it."""
    found = tomllib.loads(EQUIVALENT.read_text("utf-8"))
    return {(file, text): why for file, lines in found.items() for text, why in lines.items()}


def stale() -> set[tuple[str, str]]:
    """Rows of `equivalent-mutants.toml` that are no mutant any more."""
    excepted = equivalent()
    files = {ROOT / file for file, _ in excepted if Path(file).parts[1] in PLACES}
    return excepted.keys() - {(one.name, one.text) for file in files if file.exists() for one in mutants_of(file)}


class Reach:
    """Which tests run which line, from a run of the suite that wrote it down in *file*."""

    def __init__(self, file: Path) -> None:
        import coverage  # of `.[prove]`, and nothing else here needs it

        self._data = coverage.CoverageData(str(file))
        self._data.read()

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that run the line of *mutant*, those of its module first, and one case of each before more."""
        inside = mutant.file.relative_to(ROOT / "app")
        near = (f"tests/{inside.parent}/test_{inside.name}::", f"tests/{inside.parent}/", f"tests/{inside.parts[0]}/")
        found = {context.partition("|")[0] for context in self._contexts(mutant)} - {""}
        cases: Counter[str] = Counter()
        places = {}
        for test in sorted(found):
            function = test.partition("[")[0]
            places[test] = next((at for at, place in enumerate(near) if test.startswith(place)), 9), cases[function]
            cases[function] += 1
        return sorted(found, key=lambda test: (*places[test], test))

    def is_run_at_import(self, mutant: Mutant) -> bool:
        """True if a file of tests runs the line of *mutant* while it is imported: no test is known to."""
        return "" in self._contexts(mutant)

    def _contexts(self, mutant: Mutant) -> list[str]:
        return self._data.contexts_by_lineno(mutant.name).get(mutant.line, [])


def elsewhere(file: Path) -> list[str]:
    """Where tests of lines are that no test's own process runs: graders, trainers and servers do."""
    inside = file.relative_to(ROOT / "app")
    places = (f"tests/{inside.parent}/test_{inside.name}", f"tests/{inside.parent}", *PLACES[inside.parts[0]])
    return [place for place in dict.fromkeys(places) if (ROOT / place).exists()]


def tables_in_turn(tests: list[str]) -> list[str]:
    """The whole tables of those of *tests* that are rows of one of which the run of all tests made a part."""
    functions = dict.fromkeys(test.partition("[")[0] for test in tests if "[" in test)
    return [name for name in functions if "mark.in_turn" in (ROOT / name.partition("::")[0]).read_text("utf-8")]


def noticed_by(mutant: Mutant, reach: Reach, most: int) -> str:
    """The test that is red with *mutant*, or ""; a file that is not what it was is written back whatever happens."""
    before = mutant.file.read_bytes()
    tests = reach.tests(mutant)[:most]
    tried = [tests, tables_in_turn(tests)] if tests else [[place] for place in elsewhere(mutant.file)]
    tried += [elsewhere(mutant.file)[:1]] if tests and reach.is_run_at_import(mutant) else []
    tried += [[SEEN[folder]] for folder in mutant.file.parts if folder in SEEN]
    ends = time.monotonic() + MUTANT_SECONDS
    try:
        mutant.file.write_bytes(mutant.source)
        return next(filter(None, (_red(places, ends) for places in tried if places)), "")
    finally:
        mutant.file.write_bytes(before)


def _red(tests: list[str], ends: float) -> str:
    with tempfile.TemporaryFile("w+") as said:
        child = os.fork()
        if not child:
            _run(tests, said.fileno())
        ended = exit_code(child, ends)
        said.seek(0)
        lines = said.read().splitlines()
    red = next((line for line in lines if line.startswith(("FAILED ", "ERROR tests/"))), "")
    if ended == pytest.ExitCode.USAGE_ERROR and not red:  # a test whose name cannot be given on a command line
        bare = list(dict.fromkeys(test.partition("[")[0] for test in tests))
        return _red(bare, ends) if bare != tests else ""
    if ended in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED, None):
        return ""
    return red or f"{tests[0]} ended with {ended}"


def _run(tests: list[str], said: int) -> None:
    """In a child that has imported what is dear, and nothing of the project."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell turns off for what it runs behind
    os.dup2(said, 1)
    os.dup2(said, 2)
    quiet = ["-x", "-q", "-n0", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
    os._exit(pytest.main([*quiet, "-o", f"faulthandler_timeout={LOOPS_SECONDS}", *tests]))


def exit_code(child: int, ends: float) -> int | None:
    """How *child* ended; None where it had not by *ends*. It is interrupted then, so that it ends what it started."""
    ended = _waited(child, ends)
    if ended is None:
        os.killpg(child, signal.SIGINT)
        if _waited(child, time.monotonic() + LEAVING_SECONDS) is None:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return ended


def _waited(child: int, ends: float) -> int | None:
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    return None


def copied(place: Path) -> Path:
    """The tree at *place*, with an environment whose programs run what stands there."""
    shutil.copytree(ROOT, place, ignore=lambda folder, names: NOT_COPIED & {*names} if Path(folder) == ROOT else ())
    (place / "node_modules").symlink_to(ROOT / "node_modules")
    shutil.copytree(ROOT / ".venv", place / ".venv", symlinks=True, copy_function=os.link)
    named = [*(place / ".venv/bin").iterdir(), *(place / ".venv").glob("lib/*/site-packages/_backhand.pth")]
    for file in named:
        if not file.is_symlink() and str(ROOT).encode() in (text := file.read_bytes()):
            mode = file.stat().st_mode
            file.unlink()
            file.write_bytes(text.replace(str(ROOT).encode(), str(place).encode()))
            file.chmod(mode)
    return place


def try_in_copies(given: argparse.Namespace) -> None:
    """Try the mutants in as many copies as there are processors, tell of each, and count them."""
    part, parts = map(int, given.every.split("/"))
    copies = os.cpu_count() or 1
    asked = [f"--{name}={getattr(given, name)}" for name in ("count", "seed", "most")]
    asked += ["--here", f"--reach={given.reach.resolve()}"]
    (ROOT / "var").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "var") as folder, ThreadPoolExecutor(copies) as threads:
        places = [copied(Path(folder, str(copy))) for copy in range(copies)]
        runs = [
            subprocess.Popen(
                [
                    place / ".venv/bin/python",
                    "-m",
                    "tests.mutate",
                    *asked,
                    f"--every={part + parts * copy}/{parts * copies}",
                ],
                cwd=place,
                stdout=subprocess.PIPE,
                text=True,
            )
            for copy, place in enumerate(places)
        ]
        kinds = Counter(kind for found in threads.map(_told, runs) for kind in found)
    print(f"{kinds[NOTICED]} of {kinds[NOTICED] + kinds[SURVIVED]} mutants were noticed.")
    if any(run.returncode for run in runs):
        sys.exit("A part of the run failed: what it had not tried is not counted.")


def _told(run: subprocess.Popen[str]) -> list[str]:
    """The first words of what *run* tells, each line of which is shown at once."""
    kinds = []
    with run:
        for line in run.stdout or ():
            print(line, end="", flush=True)
            kinds.append(line[: len(NOTICED)])
    return kinds


def try_here(given: argparse.Namespace) -> None:
    """Try the mutants of a part one after the other, each in its file."""
    torch.set_num_threads(1)  # no thread may be there that a child would not have
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    part, parts = map(int, given.every.split("/"))
    reach = Reach(given.reach)
    excepted = equivalent()
    for mutant in drawn(given.count, given.seed)[part::parts]:
        if why := excepted.get((mutant.name, mutant.text)):
            print(f"the same {mutant}: {why}", flush=True)
            continue
        started = time.monotonic()
        red = noticed_by(mutant, reach, given.most)
        found = f"{NOTICED} {mutant} by {red}" if red else f"{SURVIVED} {mutant}"
        print(f"{found} ({time.monotonic() - started:.0f} s)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", default="0/1", help="PART/PARTS of those drawn, for several machines.")
    parser.add_argument("--most", type=int, default=300, help="How many of the tests that run its line are tried.")
    parser.add_argument("--reach", type=Path, default=ROOT / ".coverage", help="Which test runs which line.")
    parser.add_argument("--here", action="store_true", help="In this tree, one after the other.")
    given = parser.parse_args()
    if gone := stale():
        sys.exit(f"{EQUIVALENT.name} names what is no mutant any more: {gone}")
    (try_here if given.here else try_in_copies)(given)


if __name__ == "__main__":
    main()
