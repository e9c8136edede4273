"""The block between `---` lines at the top of a file: title, id, estimate, requires, goals, draft, was."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from app.content.blocks.places import SourceFile
from app.content.text.errors import ErrorCollector, did_you_mean
from app.content.text.estimates import minutes_of
from app.content.text.fences import DirectiveText
from app.content.text.options import NAME_PATTERN, Options, Value, items_of, texts_of

LESSON_KEYS = ("title", "id", "estimate", "requires", "goals", "draft", "lang", "was")
UNIT_KEYS = ("title", "deliverables", "private", "measure")
ESTIMATE = re.compile(r"\d{1,3} ?(?:min|h)(?: ?\d{1,2} ?min)?")
MARKED = re.compile(r"`[^`]+`|\$[^\s$][^$]*\$|\*\*|</?[A-Za-z][^<>]*>|\]\(")
LONGEST_TITLE, LONGEST_LESSON = 120, 24 * 60  # characters, minutes
LIST_KEYS = ("requires", "goals", "deliverables", "was")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The options, the lists among them by key, and the body below; *sound* where it could be read at all."""

    options: Options
    lists: Mapping[str, Sequence[Value]]
    body: DirectiveText
    sound: bool = True


def front_matter_of_piece(file: SourceFile, faults: ErrorCollector) -> FrontMatter | None:
    """Front matter of a piece of a lesson; None if *file* does not begin with a directive."""
    if not re.match(r"(?:`{3,}|:{3,})\{", file.lines[0]):
        return None
    top = faults.at(1)
    known = {"title": "A piece of a lesson", "id": "piece", "estimate": "5 min"}
    options = Options({key: Value(text, top) for key, text in known.items()}, "The front matter", top, faults)
    return FrontMatter(options, {}, DirectiveText("\n".join(file.lines), 1))


def read_front_matter(file: SourceFile, keys: Sequence[str], faults: ErrorCollector) -> FrontMatter:
    """Split *file* at its front matter; faults where it is missing, unclosed or has unknown keys."""
    lines = file.lines
    top = faults.at(1)
    end = next((index for index in range(1, len(lines)) if lines[index].rstrip() in ("---", "...")), None)
    if not lines or lines[0].rstrip() != "---":
        fix = "Start the file with '---', 'title: …', '---'."
        faults.add(top, "no-front-matter", "The file has no front matter.", fix)
        return FrontMatter(
            Options({}, "The front matter", top, faults), {}, DirectiveText("\n".join(lines), 1), sound=False
        )
    if end is None:
        faults.add(top, "unclosed", "The front matter is never closed.", "Add a line '---' below it.")
        end = len(lines)
    for number, text in enumerate(lines[1:end], start=2):
        if (joined := re.match(r"([a-z]+):(?=[^\s/])", text)) and joined[1] in keys:
            fix = f"Write '{joined[1]}: {text[joined.end() :]}'."
            faults.add(faults.at(number), "not-yaml", "A space is missing behind the colon.", fix)
            lines = [*lines[: number - 1], text.replace(":", ": ", 1), *lines[number:]]
    value = Value("\n".join(lines[1:end]), faults.at(2))
    read = items_of(value, faults, "The front matter")
    items = read or {}
    for key, (entry, _) in items.items():
        if key not in keys:
            place = file.place(entry.place.line, key)
            faults.add(place, "unknown-option", f"The front matter has no {key!r}.", did_you_mean(key, keys))
    entries = {key: entry for key, (entry, _) in items.items() if key in keys}
    lists = {key: _list(key, *items[key], faults) for key in LIST_KEYS if key in items and key in keys}
    for key in entries.keys() - {*LIST_KEYS}:
        if isinstance(items[key][1], yaml.SequenceNode):
            fix = f"Write '{key}: …', without brackets."
            faults.add(items[key][0].place, "wrong-type", f"{key!r} is no list.", fix)
    options = Options(entries, "The front matter", top, faults)
    return FrontMatter(
        options,
        lists,
        DirectiveText("\n".join(lines[end + 1 :]), min(end + 2, max(len(lines), 1))),
        sound=read is not None,
    )


def _list(key: str, value: Value, node: yaml.Node, faults: ErrorCollector) -> Sequence[Value]:
    """A list of texts with the place of each; a single text is a list of one."""
    if isinstance(node, yaml.ScalarNode):
        if re.match(r"[-*](?=\S)", str(node.value)):
            faults.add(value.place, "wrong-type", "A space is missing behind the hyphen.", "Write '- ' and the text.")
        return [value] if node.value else []
    if texts_of(node) is None:
        fix = f"Write '{key}: [first, second]', and a text with a colon in quotes."
        faults.add(value.place, "wrong-type", f"{key!r} is a list of texts.", fix)
        return []
    first = node.start_mark
    values = []
    for entry in node.value:
        mark = entry.start_mark
        line = value.place.line + mark.line - first.line
        column = mark.column + 1
        values.append(Value(str(entry.value), faults.at(line, column)))
        if not str(entry.value).strip():
            faults.add(faults.at(line, column), "empty", f"An entry of {key!r} is empty.", "Write it, or remove it.")
    return values


def check_lesson(front: FrontMatter, faults: ErrorCollector) -> None:
    """Faults where a key of a lesson is missing or not of its form."""
    options = front.options
    if not front.sound:
        return
    _require(options, "title", "The linear layer, by shape")
    _require(options, "id", "linear-layer")
    _require(options, "estimate", "20 min")
    check_title(options)
    name, estimate = options.text("id"), options.text("estimate")
    if name and not NAME_PATTERN.fullmatch(name):
        options.wrong("id", "malformed-id", f"{name!r} cannot be an id.", "Use letters, digits and hyphens.")
    if estimate and not (ESTIMATE.fullmatch(estimate) and re.search("[1-9]", estimate)):
        options.wrong("estimate", "wrong-type", f"{estimate!r} is no length of time.", "Write 'estimate: 20 min'.")
    elif estimate and minutes_of(estimate) > LONGEST_LESSON:
        options.wrong("estimate", "wrong-value", f"{estimate!r} is no length of one lesson.", "Divide it into several.")
    options.language()
    for value in front.lists.get("was", ()):
        if not NAME_PATTERN.fullmatch(value.text) or value.text == name:
            faults.add(value.place, "malformed-id", f"{value.text!r} is no former id of this lesson.")
    words = [value.text for value in front.lists.get("requires", ())]
    for value in front.lists.get("requires", ()):
        if value.text == name:
            faults.add(value.place, "cycle", "A lesson cannot require itself.")
        if words.count(value.text) > 1:
            faults.add(value.place, "twice", f"{value.text!r} is required twice.", "Keep one of them.")


def check_title(options: Options) -> None:
    """A fault for what markdown would make more of, and a title does not."""
    marked = MARKED.search(options.text("title") or "")
    if len(options.text("title") or "") > LONGEST_TITLE:
        message = f"This title has more than {LONGEST_TITLE} characters."
        options.wrong("title", "too-long", message, "Shorten it; the rest belongs into the first paragraph.")
    if marked:
        message = f"A title is plain text: {marked[0]!r} would be shown as it is written."
        options.wrong("title", "title", message, "Write it without code, formulas, stress or HTML.")


def _require(options: Options, key: str, example: str) -> None:
    if not (options.text(key) or "").strip():
        fix = f"Add '{key}: {example}'."
        options.faults.add(options.place, "missing-option", f"The front matter lacks {key!r}.", fix)
