"""The authoring guide is executed: its lessons parse, and it leaves out no directive, option, child or kind."""

import re
from pathlib import Path

import pytest

from app.content.directives.parse_context import CHILD_OPTIONS
from app.content.directives.visuals import PICTURE_KINDS
from app.content.program.programs import BOX_MODULES
from app.content.text.frontmatter import LESSON_KEYS
from app.course.directives import OPTIONS
from app.course.directives.forward import DISTRIBUTIONS
from app.course.parse import parse_lesson

ROOT = Path(__file__).parents[2]
FIRST = (ROOT / "lessons" / "README.md").read_text()
GUIDE = f"{FIRST}\n{(ROOT / 'docs' / 'authoring.md').read_text()}"
WORDS = 4500
"""Twenty minutes, code and tables read as fast as prose is."""
EXAMPLES = re.findall(r"^````+markdown\n(.*?)^````+$", GUIDE, re.DOTALL | re.MULTILINE)
TOP = """---
title: Example
id: example
estimate: 1 min
---

```{forward} linear
:dims: {N: 32, D: 100, H: 27}
:inputs: {X: [N, D], W: [D, H], b: [H]}
:output: Y
Y = X @ W + b
```

"""


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_example_of_the_guide_is_a_sound_lesson(number):
    text = EXAMPLES[number] if EXAMPLES[number].startswith("---") else TOP + EXAMPLES[number]

    _, errors = parse_lesson(text, "01-example.md", beside={"prices.csv": "1,2,3\n" * 20}.get)

    assert [str(error) for error in errors] == []


def test_the_guide_has_a_whole_lesson_and_examples():
    assert len(EXAMPLES) >= 4


def test_the_guide_is_read_in_twenty_minutes():
    assert len(FIRST.split()) <= WORDS


@pytest.mark.parametrize("name", [*OPTIONS, *LESSON_KEYS, *BOX_MODULES, *PICTURE_KINDS, "unit.md"])
def test_the_guide_names_every_directive_key_and_kind(name):
    assert f"`{name}`" in GUIDE or f":::{{{name}}}" in GUIDE


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_guide_names_every_distribution(name):
    assert re.search(rf"[`\] ]{name}\b", GUIDE)


@pytest.mark.parametrize("name", CHILD_OPTIONS)
def test_the_guide_names_every_child(name):
    assert f"{{{name}}}" in GUIDE


@pytest.mark.parametrize("option", sorted({option for options in OPTIONS.values() for option in options}))
def test_the_guide_names_every_option(option):
    assert f"`{option}`" in GUIDE or f":{option}:" in GUIDE


@pytest.mark.parametrize("key", sorted({key for kind in PICTURE_KINDS.values() for key in kind.keys}))
def test_the_guide_names_every_key_of_a_picture(key):
    assert re.search(rf"`{key}\b", GUIDE)
