import json

from app.check.findings import LINE_FORMATS, Finding
from app.content.blocks import SourceLocation

FINDING = Finding(SourceLocation("a,b.md", 3, 7), "error", "mutant-passes", "50% of\nit")


def test_text_is_one_clickable_line() -> None:
    assert LINE_FORMATS["text"](FINDING) == "a,b.md:3:7: mutant-passes 50% of\nit"


def test_a_warning_says_that_it_is_one() -> None:
    assert "warning: x" in LINE_FORMATS["text"](Finding(SourceLocation("a.md", 1), "warning", "pinned", "x"))


def test_json_holds_every_part() -> None:
    assert json.loads(LINE_FORMATS["json"](FINDING)) == {
        "file": "a,b.md", "line": 3, "column": 7, "level": "error", "code": "mutant-passes", "message": "50% of\nit",
    }  # fmt: skip


def test_github_annotations_escape_what_would_end_them() -> None:
    line = LINE_FORMATS["github"](FINDING)

    assert line == "::error file=a%2Cb.md,line=3,col=7,title=mutant-passes::50%25 of%0Ait"


def test_what_is_about_a_whole_folder_names_no_line_of_it() -> None:
    finding = Finding(SourceLocation("my:course"), "error", "no-folder", "There is no such folder.")

    assert LINE_FORMATS["text"](finding) == "my:course: no-folder There is no such folder."
    assert LINE_FORMATS["github"](finding) == "::error file=my%3Acourse,title=no-folder::There is no such folder."
