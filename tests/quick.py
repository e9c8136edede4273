"""Names the tests that belong to what changed since `main`: those that import a changed module, or stand beside it.

`make quick` runs them. What they do not cover, `make test` does.
"""

import re
import subprocess
from pathlib import Path

from grimp import ImportGraph, build_graph

ROOT = Path(__file__).resolve().parents[1]
BESIDE = {"templates": "tests/web/routes", "static": "tests/web/test_assets.py", "lessons": "tests/content"}
"""What has no module of its own, and where it is shown first."""
EVERYWHERE = {
    "app.engine.grade.engine": tuple(
        f"tests/engine/grade/test_{name}.py"
        for name in (
            "catalogue",
            "checks",
            "engine",
            "explaining",
            "function_slips",
            "generated",
            "hidden_sizes",
            "mistake_forms",
            "newcomers_slips",
            "nudging",
            "roads",
            "slips",
            "standing",
            "true_sentences",
            "value_keys",
        )
    ),
    "app.grading.forward.facts": (
        "tests/engine/grade/test_engine.py",
        "tests/engine/grade/test_facts_cache.py",
        "tests/engine/grade/test_hidden_sizes.py",
        "tests/engine/grade/test_predicates.py",
        "tests/grading/reading/test_shape_inference.py",
    ),
    "app.kinds.readers": ("tests/kinds/test_registry.py", "tests/content/test_parse.py"),
    "app.syntax": (
        "tests/content/test_parse.py",
        "tests/engine/grade/test_engine.py",
        "tests/grading/judge/test_line_shapes.py",
        "tests/grading/judge/test_parsed_submission.py",
        "tests/grading/reading/test_shape_inference.py",
        "tests/kinds/test_order.py",
        "tests/sandbox/test_gate.py",
    ),
    "app.settings": ("tests/accounts/test_settings.py", "tests/web/test_server.py", "tests/test_deployment.py"),
    "app.web.application": (
        "tests/web/test_http_fuzz.py",
        "tests/web/test_every_role.py",
        "tests/web/test_injection.py",
    ),
}
"""What nearly every test imports, and those that walk through all of it."""
BY_NAME = {
    "app.__main__": ("tests/cli/test_commands.py",),
    "app.grading.judge.attempt_driver": ("tests/engine/grade/test_engine.py", "tests/engine/grade/test_jailed.py"),
    "app.grading.judge.check_driver": ("tests/engine/grade/test_checks.py",),
    "app.grading.judge.function_driver": ("tests/engine/grade/test_functions.py",),
    "app.grading.nudge.nudge_driver": ("tests/engine/grade/test_nudging.py",),
    "app.store.migrations": ("tests/store/test_migrate.py",),
}
"""What is started by its name and imported by nobody, and the tests that start it."""
ASKED = ("diff --name-only main...HEAD", "diff --name-only HEAD", "ls-files --others --exclude-standard")


def changed() -> set[str]:
    """The files that differ from `main`, committed or not."""
    found: set[str] = set()
    for one in ASKED:
        run = subprocess.run(["git", *one.split()], cwd=ROOT, capture_output=True, text=True, check=True)
        found |= set(run.stdout.splitlines())
    return {one for one in found if (ROOT / one).exists()}


def noticing(file: str, graph: ImportGraph) -> set[str]:
    """The tests of *file*; of a module that no test names, those of the modules that import it, and so on."""
    path = Path(file)
    if path.parts[0] == "tests":
        return {file} if path.name.startswith("test_") else set()
    if path.parts[0] != "app" or path.suffix != ".py":
        top = {".html": "templates", ".js": "static"}.get(path.suffix, path.parts[0])  # also of the kinds
        return {BESIDE[top]} if top in BESIDE else set()
    level = {".".join(path.with_suffix("").parts).removesuffix(".__init__")}
    seen: set[str] = set()
    while level:
        if found := {test for module in level for test in naming(module)}:
            return found
        seen |= level
        level = {one for module in level for one in graph.find_modules_that_directly_import(module)} - seen
    return set()


def naming(module: str) -> set[str]:
    """The tests that stand where *module* does, and those of its room that import it; else those of its first word."""
    if module in EVERYWHERE:
        return set(EVERYWHERE[module])
    if started := next((name for name in BY_NAME if f"{module}.".startswith(f"{name}.")), ""):
        return set(BY_NAME[started])
    package, _, name = module.rpartition(".")
    folders = package.split(".")[1:]
    mirrored = Path("tests", *folders, f"test_{name}.py")
    named = re.compile(rf"from {package}(?:\.{name}\b| import .*\b{name}\b)")
    room = (ROOT / "tests" / "/".join(folders[:1])).rglob("test_*.py") if folders else ()
    importing = {str(one.relative_to(ROOT)) for one in room if named.search(one.read_text("utf-8"))}
    found = importing | ({str(mirrored)} if (ROOT / mirrored).exists() else set())
    alike = (ROOT / mirrored.parent).glob(f"test_{name.partition('_')[0].removesuffix('s')}*.py") if folders else ()
    return found or {str(one.relative_to(ROOT)) for one in alike}


def import_graph() -> ImportGraph:
    """Who imports whom in `app`, with the kinds that are found in their folders."""
    graph = build_graph("app")
    for name, importer in (("kind", "app.kinds.registry"), ("read", "app.kinds.readers")):
        for module in graph.find_matching_modules(f"app.kinds.*.{name}"):
            graph.add_import(importer=importer, imported=module)
    return graph


if __name__ == "__main__":
    imports = import_graph()
    print(*sorted({test for file in changed() for test in noticing(file, imports)}))
