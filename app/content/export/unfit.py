"""Check whether a text can be part of a Python file that others will run."""

import textwrap
import warnings

from app.syntax import parse_code, syntax_key

MAX_BLOCK_CHARS = 10_000
INDENT = "    "


def block_problem(text: str) -> str:
    """Say why *text* cannot be a block of its own; empty if it can, and means the same there.

    To compile a text may take any time and memory. One that a learner wrote is asked of a grader, which has a process
    to lose.
    """
    if len(text) > MAX_BLOCK_CHARS:
        return f"it is longer than {MAX_BLOCK_CHARS:,} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone = parse_code(text).body
            fitting = f"with box:\n{textwrap.indent(text, INDENT)}"
            compile(fitting, "box", "exec", dont_inherit=True)
            (block,) = parse_code(fitting).body
            inside = getattr(block, "body", [])
            same = [*map(syntax_key, alone)] == [*map(syntax_key, inside)]
    except (RecursionError, MemoryError):
        return "it is nested too deeply"
    except (SyntaxError, ValueError, OverflowError) as error:
        return (getattr(error, "msg", "") or str(error) or type(error).__name__).replace("\n", " ").rstrip(".")
    return "" if same else "a text of several lines would change where it is indented"
