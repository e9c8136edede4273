"""A folder of lessons: order, addresses, requirements and links."""

import os
from pathlib import Path

import pytest

from app.content.text.errors import LessonError, LessonErrors, did_you_mean
from app.course.course import load_course, load_lesson, read_course
from app.course.folders import unit_folders
from tests.courses import LESSONS, course_in

FIXTURES = Path(__file__).parent / "fixtures"


def write(folder: Path, path: str, text: str = "", **front: str) -> None:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    name = file.stem.partition("-")[2]
    keys = {"title": name or "Unit", "id": name, "estimate": "5 min", **front}
    keys = {"title": keys["title"]} if file.name == "unit.md" else keys
    top = "".join(f"{key}: {value}\n" for key, value in keys.items())
    file.write_text(f"---\n{top}---\n{text or 'Text.'}\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "2-tensors/unit.md", "The *second* unit, before [b](02-b.md).", title="Tensors")
    write(tmp_path, "2-tensors/10-a.md", requires="[b]")
    write(tmp_path, "2-tensors/02-b.md", "See [a](10-a.md#part) and [unit](../1-scalars/unit.md).\n\n## Own")
    write(tmp_path, "2-tensors/10-a.md", "## Part", requires="[b]")
    write(tmp_path, "1-scalars/unit.md", title="Scalars")
    write(tmp_path, "1-scalars/01-c.md", draft="true")
    return tmp_path


def messages(folder: Path) -> list[str]:
    _, errors = read_course(folder)
    return [str(error).removeprefix(f"{folder.as_posix()}/") for error in errors]


def test_order_and_addresses_come_from_names(folder):
    course = load_course(folder)

    assert [(unit.number, unit.slug, unit.title) for unit in course.units] == [
        (1, "scalars", "Scalars"),
        (2, "tensors", "Tensors"),
    ]
    assert [(lesson.path, lesson.slug, lesson.unit) for lesson in course.lessons] == [
        ("1-scalars/01-c.md", "c", "scalars"),
        ("2-tensors/02-b.md", "b", "tensors"),
        ("2-tensors/10-a.md", "a", "tensors"),
    ]
    assert [lesson.draft for lesson in course.lessons] == [True, False, False]
    assert course.units[1].summary == '<p>The <em>second</em> unit, before <a href="/lessons/b">b</a>.</p>'


def test_links_between_files_become_addresses_of_pages(folder):
    lesson = load_course(folder).lesson("b")

    assert lesson is not None
    html = "".join(block.html for block in lesson.blocks)
    assert '<a href="/lessons/a#part">a</a>' in html
    assert '<a href="/units/scalars">unit</a>' in html


def test_all_errors_of_all_files_are_told_in_one_run(folder):
    write(folder, "1-scalars/01-c.md", "See [x](09-x.md) and [own](../2-tensors/02-b.md#owm).", requires="[bb]")
    write(folder, "2-tensors/02-b.md", requires="[a]")
    write(folder, "2-tensors/11-d.md", ":::{chioce} x\n:::", id="a")
    write(folder, "2-tensors/11-b.md", id="a")
    write(folder, "2-tensors/notes.md")
    write(folder, "3-empty/01-e.md")
    write(folder, "Four/01-f.md")
    (folder / "1-scalars/02-g.md").write_bytes(b"---\ntitle: \xff\n---\n")

    assert messages(folder) == (FIXTURES / "course.txt").read_text().splitlines()


def test_sound_lessons_can_be_had_beside_faulty_ones(folder):
    write(folder, "2-tensors/02-b.md", ":::{chioce} x\n:::")

    course, errors = read_course(folder)

    assert course is not None
    assert [lesson.slug for lesson in course.lessons] == ["c", "a"]
    assert errors


def test_a_faulty_lesson_can_still_be_required(folder):
    write(folder, "2-tensors/02-b.md", ":::{chioce} x\n:::")

    assert [message.split()[1] for message in messages(folder)] == ["unknown-directive"]


def test_an_error_stops_loading(folder):
    write(folder, "1-scalars/01-c.md", estimate="soon")

    with pytest.raises(LessonErrors, match=r"01-c.md:4:11: wrong-type 'soon' is no length of time"):
        load_course(folder)


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_without_lessons_is_an_error(tmp_path, name):
    (tmp_path / "empty").mkdir()

    _, errors = read_course(tmp_path / name)

    assert [error.code for error in errors] in (["no-folder"], ["empty"])


def test_one_file_is_read_anywhere_without_its_course(tmp_path):
    write(tmp_path, "07-alone.md", "See [b](02-b.md).", requires="[b]")

    lesson = load_lesson(tmp_path / "07-alone.md")

    assert (lesson.slug, lesson.requires) == ("alone", ("b",))


def test_a_missing_file_is_a_lesson_error(tmp_path):
    with pytest.raises(LessonErrors, match="unreadable"):
        load_lesson(tmp_path / "07-none.md")


def test_the_lessons_of_this_project_have_no_errors():
    assert course_in(LESSONS).lessons


def test_a_deliverable_knows_where_it_is_made(tmp_path):
    unit = tmp_path / "1-layers"
    unit.mkdir()
    (unit / "01-one.md").write_text("---\ntitle: One\nid: one\nestimate: 1 min\n---\n\n## Here\n")
    (unit / "unit.md").write_text(
        '---\ntitle: Layers\ndeliverables:\n  - "A *table* of [shapes](01-one.md#here)."\n'
        '  - "And [all](01-one.md)."\n---\n'
    )

    (made, whole) = load_course(tmp_path).units[0].deliverables

    assert made.made_in == (("1-layers/01-one.md", "here"),)
    assert "<em>table</em>" in made.html
    assert 'href="/lessons/one#here"' in made.html
    assert whole.made_in == (("1-layers/01-one.md", ""),)


def test_a_deliverable_with_a_broken_link_is_told_with_its_line(tmp_path):
    unit = tmp_path / "1-layers"
    unit.mkdir()
    (unit / "01-one.md").write_text("---\ntitle: One\nid: one\nestimate: 1 min\n---\n\nText.\n")
    (unit / "unit.md").write_text('---\ntitle: Layers\ndeliverables:\n  - "[shapes](01-one.md#nowhere)"\n---\n')

    _, errors = read_course(tmp_path)

    assert [(error.code, error.place.line) for error in errors] == [("broken-link", 4)]


@pytest.mark.parametrize("name", ["01-pipe.md", "unit.md"])
def test_a_named_pipe_is_told_and_not_waited_for(tmp_path, name):
    unit = tmp_path / "1-unit"
    unit.mkdir()
    if name != "unit.md":
        (unit / "unit.md").write_text("---\ntitle: Unit\n---\n")
    os.mkfifo(unit / name)

    with pytest.raises(LessonErrors) as raised:
        load_course(tmp_path)

    assert name in str(raised.value)


def test_a_suggestion_never_offers_nothing():
    assert did_you_mean("zzz", ["", "eight"]) == "Known here: eight."


def test_what_is_suggested_for_a_broken_link_is_a_link_that_works(tmp_path):
    for name, text in {
        "1-layers/01-one.md": "[a](1-layers/02-two.md)",
        "1-layers/02-two.md": "[a](../3-more/01-three.md)",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"---\ntitle: {file.stem}\nid: {file.stem[3:]}\nestimate: 1 min\n---\n\n{text}\n")
    (tmp_path / "2-more").mkdir()
    (tmp_path / "2-more" / "01-three.md").write_text("---\ntitle: T\nid: three\nestimate: 1 min\n---\n\nText.\n")

    _, errors = read_course(tmp_path)

    fixes = [error.fix for error in errors if error.code == "broken-link"]
    assert fixes == ["Did you mean '02-two.md'?", "Did you mean '../2-more/01-three.md'?"]


def test_what_the_page_of_a_course_says_holds_for_its_lessons(tmp_path):
    (tmp_path / "course.md").write_text('---\nlang: de\nmacros: {R: "\\\\mathbb{R}"}\n---\n')
    write(tmp_path, "1-unit/unit.md")
    write(tmp_path, "1-unit/01-one.md", "Every $x \\in \\R$.")
    write(tmp_path, "1-unit/02-two.md", "Text.", lang="en")

    course, alone = load_course(tmp_path), load_lesson(tmp_path / "1-unit" / "01-one.md")

    assert [one.lang for one in course.lessons] == ["de", "en"]
    for lesson in (course.lessons[0], alone):
        assert "x \\in \\mathbb{R}<" in lesson.blocks[0].html


def test_faults_of_the_page_of_a_course_are_told(tmp_path):
    (tmp_path / "course.md").write_text('---\nlang: German\nmacros: {2R: "{"}\nmacro: 1\n---\n')
    write(tmp_path, "1-unit/unit.md")
    write(tmp_path, "1-unit/01-one.md")

    _, errors = read_course(tmp_path)

    assert [one.code for one in errors] == ["wrong-type", "malformed-name", "math", "unknown-option"]


def test_pictures_are_files_of_the_course(tmp_path):
    (tmp_path / "secret.png").write_bytes(b"x")
    course = tmp_path / "course"
    write(course, "1-unit/unit.md")
    (course / "1-unit" / "here.png").write_bytes(b"\x89PNG")
    (course / "1-unit" / "text.png").write_text("No picture at all.")
    (course / "1-unit" / "large.png").write_bytes(b"x" * 2_000_001)
    (course / "1-unit" / "out.png").symlink_to(tmp_path / "secret.png")
    names = ("here", "gone", "large", "out", "text")
    write(course, "1-unit/01-one.md", "\n\n".join(f"![It]({one}.png){{width=320}}" for one in names))

    _, errors = read_course(course)

    assert [(one.place.line, one.code) for one in errors] == [(line, "missing-picture") for line in (8, 10, 12, 14)]


def test_what_seems_to_be_a_lesson_and_is_not_read_is_told(tmp_path):
    write(tmp_path, "1-unit/unit.md")
    write(tmp_path, "1-unit/01-one.md")
    write(tmp_path, "1-unit/below/02-two.md")
    write(tmp_path, "1-unit/03-three.markdown")
    write(tmp_path, "1-unit/_04-four.md")
    write(tmp_path, "2-empty/unit.md")

    _, errors = read_course(tmp_path)

    assert [(one.place.path.removeprefix(f"{tmp_path}/"), one.code) for one in errors] == [
        ("1-unit/03-three.markdown", "file-name"),
        ("1-unit/below", "folder-name"),
        ("2-empty/unit.md", "empty"),
    ]


def test_a_former_id_has_one_heir_and_no_lesson_that_bears_it(tmp_path):
    write(tmp_path, "1-unit/unit.md")
    write(tmp_path, "1-unit/01-one.md", was="two")
    write(tmp_path, "1-unit/02-two.md", was="old")
    write(tmp_path, "1-unit/03-three.md", was="old")

    _, errors = read_course(tmp_path)

    assert [(one.code, one.message.partition(tmp_path.as_posix())[0].partition(":")[0]) for one in errors] == [
        ("duplicate-id", "'two' is no former id"),
        ("duplicate-id", "The former id 'old' has another heir, "),
    ]


def test_a_picture_that_is_not_what_its_name_says_is_told(tmp_path):
    write(tmp_path, "1-unit/unit.md")
    (tmp_path / "1-unit" / "a.svg").write_text("<svg><g></svg>")
    (tmp_path / "b.svg").write_text("<svg/>")
    write(tmp_path, "1-unit/01-one.md", "![It](a.svg){width=320}\n\n![It](b.svg){width=320}")

    _, (broken, elsewhere) = read_course(tmp_path)

    assert broken.message == "'1-unit/a.svg' is no picture that browsers can show: mismatched tag: line 1, column 10."
    assert elsewhere.fix == "Did you mean '../b.svg'?"


def test_a_folder_of_pictures_is_no_unit_and_any_other_must_be_one(tmp_path):
    for name in ("pictures", "lessons", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / "pictures" / "box.svg").write_text("<svg/>")
    (tmp_path / "lessons" / "01-a.md").write_text("")

    errors: list[LessonError] = []
    unit_folders(tmp_path, errors)

    assert [(Path(one.place.path).name, one.code) for one in errors] == [
        ("empty", "folder-name"),
        ("lessons", "folder-name"),
    ]


def test_a_unit_with_a_marked_title_or_no_maker_of_its_result_is_told(tmp_path):
    write(tmp_path, "1-unit/01-one.md")
    (tmp_path / "1-unit" / "unit.md").write_text("---\ntitle: All of `W`\ndeliverables:\n  - 5\n  - A table.\n---\n")

    _, errors = read_course(tmp_path)

    assert [(one.place.line, one.code) for one in errors] == [(2, "title"), (4, "deliverable"), (5, "deliverable")]
