"""Figures of the house: its size, how many ways it has for one thing, and its words: `python -m tests.house`.

Every figure is blind to the length of lines. A count may fall; one that rises has a reason in its commit.
"""

import ast
import gc
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from grimp import build_graph

ROOT = Path(__file__).resolve().parents[1]
MAX_TEST_NAME_CHARS = 70
# Names of variables that say nothing of what they hold; `one` and `found` have figures of their own.
EMPTY_NAMES = frozenset(["told", "said", "kept", "asked", "made", "here", "mine", "ours", "theirs", "anew", "whom"])
PARTICIPLE = re.compile(
    r"[a-z]+ed|told|said|kept|drawn|read|stood|found|made|given|taken|known|seen|shown|held|met|left|put|sent|built|bound"
    r"|cut|done|begun|written|chosen|broken|hidden|lost|heard|felt|meant|run|gone"
)
RIDDLE = re.compile(r"(What|Who|Whose|How|Where|Whether|Why|When|One that)\b")
ABSENT_AGENT = re.compile(r"\b(somebody|nobody|anybody|everybody|whoever)\b", re.IGNORECASE)

Node = TypeVar("Node", bound=ast.AST)
Modules = Mapping[str, Sequence[ast.AST]]
"""All syntax nodes of each module by its dotted name, the module's own first."""


def modules(folder: str = "app") -> Modules:
    """Read the modules in *folder*.

    Trees hold no cycles, and a collection amid a million new nodes takes longer than to read them.
    """
    trees = {}
    collecting = gc.isenabled()
    gc.disable()
    for path in sorted((ROOT / folder).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        trees[".".join(parts).removesuffix(".__init__")] = [*ast.walk(ast.parse(path.read_text("utf-8")))]
    if collecting:
        gc.enable()
    return trees


def nodes(trees: Modules, *kinds: type[Node]) -> Iterator[Node]:
    """Every node of these *kinds*, in all modules."""
    return (node for tree in trees.values() for node in tree if isinstance(node, kinds))


def statements(tree: Sequence[ast.AST]) -> list[ast.stmt]:
    """Statements at the top of a module."""
    module = tree[0]
    return module.body if isinstance(module, ast.Module) else []


def importing(trees: Modules, module: str) -> int:
    """How many modules import *module*."""

    def imports(node: ast.AST) -> bool:
        match node:
            case ast.Import(names=names):
                return any(alias.name == module for alias in names)
            case ast.ImportFrom(module=source):
                return source == module
        return False

    return sum(any(map(imports, tree)) for tree in trees.values())


def tables(trees: Modules, operation: str) -> int:
    """How many tables at the top of a module name *operation*."""
    holders = (ast.Dict, ast.Set, ast.List, ast.Tuple, ast.Call)

    def names(statement: ast.stmt) -> bool:
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or not isinstance(statement.value, holders):
            return False
        texts = (node.value for node in ast.walk(statement.value) if isinstance(node, ast.Constant))
        return any(isinstance(text, str) and operation in text.split() for text in texts)

    return sum(names(statement) for tree in trees.values() for statement in statements(tree))


def named_twice(trees: Modules) -> list[str]:
    """Public names of classes that two modules give."""
    names = Counter(node.name for node in nodes(trees, ast.ClassDef))
    return sorted(name for name, count in names.items() if count > 1 and not name.startswith("_"))


def one_word_functions(trees: Modules) -> list[str]:
    """Functions with a name of a single word that another module reaches."""
    own = {
        f"{module}.{node.name}"
        for module, tree in trees.items()
        for node in statements(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "_" not in node.name
    }
    reached = set[str]()
    for module, tree in trees.items():
        bound = {}
        for node in tree:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        reached |= {name for name in bound.values() if name.rpartition(".")[0] != module}
        for node in tree:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
                reached.add(f"{bound[node.value.id]}.{node.attr}")
    return sorted(own & reached)


def functions(trees: Modules) -> list[str]:
    """Names of all functions and methods."""
    return [node.name for node in nodes(trees, ast.FunctionDef, ast.AsyncFunctionDef)]


def variables(trees: Modules) -> Counter[str]:
    """How often each name of a variable or an argument is written."""
    names = Counter(node.id for node in nodes(trees, ast.Name))
    return names + Counter(node.arg for node in nodes(trees, ast.arg))


def docstrings(trees: Modules) -> list[str]:
    """Docstrings of modules, classes and functions."""
    documented = nodes(trees, ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [text for node in documented if (text := ast.get_docstring(node))]


def garbled_sentences(trees: Modules) -> list[str]:
    """Sentences with a function's name among their words, where a change of names went too far."""
    names = {name for name in functions(trees) if "_" in name.strip("_")}
    texts = (node.value for node in nodes(trees, ast.Constant) if isinstance(node.value, str))
    return [text for text in texts if text.endswith((".", "?")) and len(words := text.split()) > 3 and names & {*words}]


def common_constants(trees: Modules) -> list[str]:
    """Names of constants that four modules or more define, each with a meaning of its own."""
    fixed = {"T", "OPTIONS"}
    owners = Counter(
        name
        for tree in trees.values()
        for name in {
            target.id
            for statement in statements(tree)
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
            if isinstance(target, ast.Name) and target.id.isupper() and target.id not in fixed
        }
    )
    return sorted(name for name, count in owners.items() if count > 3)


def floors(room: str) -> int:
    """How many modules of *room* stand on one another in its longest chain of imports."""
    graph = build_graph("app")
    inside = {module for module in graph.modules if module.startswith(f"{room}.")}

    @cache
    def height(module: str) -> int:
        below = graph.find_modules_directly_imported_by(module) & inside
        return 1 + max(map(height, below), default=0)

    return max(map(height, inside))


def figures() -> dict[str, int]:
    """Each count, by the name of its measure."""
    trees = modules()
    called, texts, names = variables(trees), docstrings(trees), functions(trees)
    tests = [name for name in functions(modules("tests")) if name.startswith("test_")]
    return {
        "syntax nodes": sum(map(len, trees.values())),
        "functions": sum(1 for _ in nodes(trees, ast.FunctionDef, ast.AsyncFunctionDef)),
        "classes": sum(1 for _ in nodes(trees, ast.ClassDef)),
        "modules": len(trees),
        "modules that import ast": importing(trees, "ast"),
        "floors of imports inside content": floors("app.content"),
        "tables that name sum": tables(trees, "sum"),
        "tables that name softmax": tables(trees, "softmax"),
        "public class names with two meanings": len(named_twice(trees)),
        "one-word functions that other modules reach": len(one_word_functions(trees)),
        "functions named by a participle": sum(bool(PARTICIPLE.fullmatch(name.strip("_"))) for name in names),
        "variables called one": called["one"],
        "variables called found": called["found"],
        "variables called told, said, kept, asked, here, mine": sum(called[name] for name in EMPTY_NAMES),
        "names of constants in four modules or more": len(common_constants(trees)),
        "docstrings": len(texts),
        "docstrings that begin with a question": sum(bool(RIDDLE.match(text)) for text in texts),
        "docstrings that speak of somebody or nobody": sum(bool(ABSENT_AGENT.search(text)) for text in texts),
        "sentences that hold a name of a function": len(garbled_sentences(trees)),
        "names of tests over 70 characters": sum(len(name) > MAX_TEST_NAME_CHARS for name in tests),
    }


if __name__ == "__main__":
    for name, count in figures().items():
        print(f"{count:>9,}  {name}")
