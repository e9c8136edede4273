"""How large the house is and how many ways it has for one thing, in figures: `python -m tests.house`.

Every figure is blind to the length of lines. A count may fall; one that rises has a reason in its commit.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def modules() -> dict[str, ast.Module]:
    """The syntax trees of `app/` by dotted name."""
    found = {}
    for path in sorted((ROOT / "app").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = ast.parse(path.read_text("utf-8"))
    return found


def nodes(trees: Mapping[str, ast.Module], *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    """Every node of these *kinds*, in all modules."""
    return (node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, kinds))


def importing(trees: Mapping[str, ast.Module], module: str) -> int:
    """How many modules import *module*."""

    def imports(node: ast.AST) -> bool:
        match node:
            case ast.Import(names=names):
                return any(alias.name == module for alias in names)
            case ast.ImportFrom(module=source):
                return source == module
        return False

    return sum(any(map(imports, ast.walk(tree))) for tree in trees.values())


def tables(trees: Mapping[str, ast.Module], operation: str) -> int:
    """How many tables at the top of a module name *operation*."""
    holders = (ast.Dict, ast.Set, ast.List, ast.Tuple, ast.Call)

    def names(statement: ast.stmt) -> bool:
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or not isinstance(statement.value, holders):
            return False
        texts = (node.value for node in ast.walk(statement.value) if isinstance(node, ast.Constant))
        return any(isinstance(text, str) and operation in text.split() for text in texts)

    return sum(names(statement) for tree in trees.values() for statement in tree.body)


def named_twice(trees: Mapping[str, ast.Module]) -> list[str]:
    """Public names of classes that two modules give."""
    names = Counter(node.name for node in nodes(trees, ast.ClassDef) if isinstance(node, ast.ClassDef))
    return sorted(name for name, count in names.items() if count > 1 and not name.startswith("_"))


def one_word_functions(trees: Mapping[str, ast.Module]) -> list[str]:
    """Functions with a name of a single word that another module reaches."""
    own = {
        f"{module}.{node.name}"
        for module, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "_" not in node.name
    }
    reached = set[str]()
    for module, tree in trees.items():
        bound = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        reached |= {name for name in bound.values() if name.rpartition(".")[0] != module}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
                reached.add(f"{bound[node.value.id]}.{node.attr}")
    return sorted(own & reached)


def figures() -> dict[str, int]:
    """What is counted, by its name."""
    trees = modules()
    called = [node.id for node in nodes(trees, ast.Name) if isinstance(node, ast.Name)]
    called += [node.arg for node in nodes(trees, ast.arg) if isinstance(node, ast.arg)]
    return {
        "syntax nodes": sum(1 for _ in nodes(trees, ast.AST)),
        "functions": sum(1 for _ in nodes(trees, ast.FunctionDef, ast.AsyncFunctionDef)),
        "classes": sum(1 for _ in nodes(trees, ast.ClassDef)),
        "modules": len(trees),
        "modules that import ast": importing(trees, "ast"),
        "tables that name sum": tables(trees, "sum"),
        "tables that name softmax": tables(trees, "softmax"),
        "public class names with two meanings": len(named_twice(trees)),
        "one-word functions that other modules reach": len(one_word_functions(trees)),
        "variables called one": called.count("one"),
        "variables called found": called.count("found"),
    }


if __name__ == "__main__":
    for name, count in figures().items():
        print(f"{count:>9,}  {name}")
