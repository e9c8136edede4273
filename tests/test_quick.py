"""What `make quick` runs for a changed file."""

import pytest

from tests.quick import EVERYWHERE, ROOT, import_graph, noticing


@pytest.fixture(scope="module")
def imports():
    return import_graph()


@pytest.mark.parametrize(
    ("file", "test"),
    [
        ("app/grading/judge/near_misses.py", "tests/engine/grade/test_explaining.py"),
        ("app/grading/judge/parsed_submission.py", "tests/grading/judge/test_parsed_submission.py"),
        ("app/grading/reading/line_reader.py", "tests/grading/reading/test_shape_inference.py"),
        ("app/engine/pool/memfd_messages.py", "tests/engine/pool/test_reader.py"),
        ("app/kinds/order/kind.py", "tests/kinds/test_order.py"),
        ("app/kinds/order/read.py", "tests/content/test_parse.py"),
        ("app/kinds/order/order.html", "tests/web/routes"),
        ("app/web/views/lamps.py", "tests/web/routes/test_finish.py"),
        ("app/web/routes/passkey_calls.py", "tests/web/routes/test_passkeys.py"),
        ("app/web/application.py", "tests/web/test_http_fuzz.py"),
        ("tests/store/test_learners.py", "tests/store/test_learners.py"),
    ],
)
def test_a_change_names_the_nearest_tests_that_notice_it(file, test, imports):
    assert test in noticing(file, imports)


@pytest.mark.parametrize(
    "file",
    [
        *(f"{one.replace('.', '/')}.py" for one in EVERYWHERE),
        "app/__init__.py",
        "app/store/migrations/env.py",
        "Makefile",
    ],
)
def test_every_test_that_is_named_is_there(file, imports):
    assert all((ROOT / test).is_file() for test in noticing(file, imports))


def test_a_module_that_nobody_imports_names_a_test_too(imports):
    alone = [one for one in imports.modules if not imports.find_modules_that_directly_import(one)]
    files = {one: ROOT.joinpath(*one.split(".")).with_suffix(".py") for one in alone}

    assert [
        one for one, file in files.items() if file.exists() and not noticing(str(file.relative_to(ROOT)), imports)
    ] == []


def test_a_module_that_all_import_names_only_tests_that_walk_through_it(imports):
    assert len(noticing("app/web/application.py", imports)) < 5
    assert len(noticing("app/settings.py", imports)) < 5
