"""The text of nodes is what Python itself says it is."""

import ast

import pytest

from app.content.program.written_text import written_at

TEXTS = {
    "several lines": "y = (x +\n     z)\nif y:\n    w = [1,\n  2]\n",
    "one line": "a = 1; b = a + 2 ;c = 3",
    "letters of several bytes": "é = 'ü'; y = ('ä',\n 'ö') + 'é'\n",
    "every end of a line": "a = 1\rb = (2,\r\n 3)\nc = 4\r\n",
    "what ends a line elsewhere": "a = 'b\x0cc' # \x0b \u2028\n\x0cd = 2\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_text_of_a_node_is_what_stands_there(text: str) -> None:
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.expr | ast.stmt)]

    assert [*written_at(text, nodes)] == [ast.get_source_segment(text, node) for node in nodes]
