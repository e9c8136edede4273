"""Options of a directive: `:key: value` lines at the top of its body, as values with their locations.

A value is YAML, read node by node so that every fault has a line and a column and nothing is guessed: `no` stays
text where text is wanted, anchors and tags are refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from app.content.blocks.places import SourceLocation
from app.content.text.arithmetic import UnreadableError, number_of
from app.content.text.errors import ErrorCollector, did_you_mean

OPTION_LINE = re.compile(r"^:([A-Za-z][\w-]*):(?:[ \t]+(.*?))?[ \t]*$")
NEARLY = re.compile(
    r"^(?:[ \t]*[:\uff1a][ \t]*([A-Za-z][\w-]*)[ \t]*[:\uff1a=]?[ \t]*(.*)|([A-Za-z][\w-]*):(?=\s)(.*))$"
)
WORD = re.compile(r"[^\s,]+")
JOINED = re.compile(r"([^:=]+?) ?[:=] ?(.+)")
NAME_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
MAX_OPTION_DEPTH = 12
MAX_OPTION_CHARS = 20_000


QUOTES = "Put text with special signs in quotes."
TOGETHER = 'put what belongs together in quotes: "[N, D] positive".'
TOGETHER_ALONE = TOGETHER.replace("put", "Put", 1)
IN_BRACES = "Write it in braces: {N: 32, D: 100}."
NO_END = ("What begins here has no end.", "Close the bracket, or the quotation mark.")
NONE_OPEN = ("This bracket closes none that is open.", "Remove it, or open one.")
BACKSLASH = ("In double quotes a backslash begins a sign, and this is none.", "Take single quotes.")
NOT_YAML: Mapping[str, tuple[str, str]] = {
    "<stream end>": NO_END,
    "end of stream": NO_END,
    **dict.fromkeys(("got '}'", "got ']'", "found '}'", "found ']'"), NONE_OPEN),
    "expected ',' or": ("No comma parts this from what is before it.", f"Write the comma, or {TOGETHER}"),
    "document": ("The value has ended before this.", TOGETHER_ALONE),
    "mapping values": ("A second colon with a space behind it stands in this line.", QUOTES),
    "'\\t'": ("A tab stands here.", "Write spaces."),
    "cannot start": ("No value begins with this sign.", QUOTES),
    "alias": ("No value begins with `*`.", QUOTES),
    "unknown escape": BACKSLASH,
    "escape sequence": BACKSLASH,
    "nested": (f"Brackets stand in brackets more than {MAX_OPTION_DEPTH} deep.", "Write it flatter."),
}
"""By a part of what PyYAML says: the same to somebody who writes a lesson, and what they can do."""
UNREADABLE_FROM = ("From here on this is no value.", QUOTES)


@dataclass(frozen=True, slots=True)
class Value:
    """The text of one value, and where it starts. A *literal* text has had its quotes taken off."""

    text: str
    place: SourceLocation
    literal: bool = False

    def offset(self, index: int) -> SourceLocation:
        """The place of the character at *index* of the text."""
        before = self.text[:index]
        last = before.rfind("\n")
        column = self.place.column + index if last < 0 else index - last
        return SourceLocation(self.place.path, self.place.line + before.count("\n"), column)


class _Composer(yaml.SafeLoader):
    """Refuses aliases, which could multiply, and deep nesting, which would take quadratic time."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not allowed", problem_mark=self.get_mark())
        if self.depth >= MAX_OPTION_DEPTH:
            raise yaml.MarkedYAMLError(problem="it is nested too deeply", problem_mark=self.get_mark())
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _in_words(problem: str, *, inside: bool) -> tuple[str, str]:
    """Describe a *problem* of YAML for an author, and how to fix it; *inside* a line of its own."""
    message, fix = next((advice for part, advice in NOT_YAML.items() if part in problem), UNREADABLE_FROM)
    return message, IN_BRACES if inside and "mapping values" in problem else fix


def node_of(value: Value, faults: ErrorCollector) -> yaml.Node | None:
    """The YAML node of a value, or None after a fault was added."""
    if len(value.text) > MAX_OPTION_CHARS:
        faults.add(value.place, "too-long", f"This value is longer than {MAX_OPTION_CHARS} characters.")
        return None
    try:
        node = _Composer(value.text).get_single_node()
    except yaml.MarkedYAMLError as error:
        ended = "end of stream" in str(error.problem) or "<stream end>" in str(error.problem)
        mark = (error.context_mark if ended else None) or error.problem_mark
        where = _place(value, mark.line, mark.column) if mark else value.place
        faults.add(where, "not-yaml", *_in_words(str(error.problem), inside=value.place.column > 1))
        return None
    except (yaml.YAMLError, ValueError):
        faults.add(
            value.place, "not-yaml", "This value holds a sign that no text has.", "Remove it, or retype the line."
        )
        return None
    return node


def _place(value: Value, line: int, column: int) -> SourceLocation:
    start = value.place
    return SourceLocation(start.path, start.line + line, column + (start.column if line == 0 else 1))


def place_of(value: Value, node: yaml.Node) -> SourceLocation:
    return _place(value, node.start_mark.line, node.start_mark.column)


def items_of(value: Value, faults: ErrorCollector, what: str) -> Mapping[str, tuple[Value, yaml.Node]] | None:
    """The entries of a `{key: value}` mapping, keys as text; None after a fault was added."""
    node = node_of(value, faults)
    if node is None and not value.text.strip():
        return {}
    if node is None:
        return None
    if not isinstance(node, yaml.MappingNode):
        faults.add(value.place, "wrong-type", f"{what} is a mapping, such as {{N: 32}}; this is {value.text!r}.")
        return None
    items: dict[str, tuple[Value, yaml.Node]] = {}
    for key, entry in node.value:
        where = place_of(value, key)
        if not isinstance(key, yaml.ScalarNode):
            faults.add(where, "wrong-type", f"A key of {what} must be a name.")
        elif (joined := JOINED.fullmatch(str(key.value))) and isinstance(entry, yaml.ScalarNode) and not entry.value:
            message = f"{key.value!r} has no value: a colon and a space stand between a name and its value."
            faults.add(where, "not-yaml", message, f"Write '{joined[1]}: {joined[2]}'.")
            return None
        elif key.value in items:
            faults.add(
                where, "twice", f"{key.value!r} stands twice in {what[0].lower()}{what[1:]}.", "Keep one of them."
            )
        else:
            text = value_text(value, entry)
            items[key.value] = (Value(text, place_of(value, entry), isinstance(entry, yaml.ScalarNode)), entry)
    return items


def value_text(value: Value, node: yaml.Node) -> str:
    """A scalar as it was written, without its quotes; a collection as its source."""
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    return value.text[node.start_mark.index : node.end_mark.index]


def texts_of(node: yaml.Node) -> list[str] | None:
    """The entries of a list of scalars as text, or None where it is something else."""
    if not isinstance(node, yaml.SequenceNode):
        return None
    if not all(isinstance(entry, yaml.ScalarNode) for entry in node.value):
        return None
    return [str(entry.value) for entry in node.value]


def plain_of(node: yaml.Node) -> object:
    """Any YAML as numbers, booleans, text, lists and dicts."""
    if isinstance(node, yaml.SequenceNode):
        return [plain_of(entry) for entry in node.value]
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): plain_of(entry) for key, entry in node.value}
    text = str(node.value)
    if getattr(node, "style", None) in ("'", '"'):
        return text
    if text in ("true", "false"):
        return text == "true"
    if text in ("", "null", "~"):
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


class Options:
    """The options of one directive, read by type. A fault is added where a value is not of its type."""

    def __init__(self, entries: Mapping[str, Value], owner: str, place: SourceLocation, faults: ErrorCollector) -> None:
        self.entries = entries
        self.owner = owner
        self.place = place
        self.faults = faults

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def place_of(self, key: str) -> SourceLocation:
        return self.entries[key].place if key in self.entries else self.place

    def wrong(self, key: str, code: str, message: str, fix: str = "") -> None:
        self.faults.add(self.place_of(key), code, message, fix)

    def need(self, key: str, example: str) -> Value | None:
        """The value of an option that must be there."""
        value = self.entries.get(key)
        if value is None:
            self.faults.add(
                self.place,
                "missing-option",
                f"{self.owner} lacks ':{key}:'.",
                f"Add a line such as ':{key}: {example}' at the top of its body.",
            )
        elif not value.text.strip():
            self.wrong(key, "empty-option", f"':{key}:' of {self.owner} is empty.", f"Write ':{key}: {example}'.")
            return None
        return value

    def text(self, key: str) -> str | None:
        """The text of an option, without quotes around it."""
        value = self.entries.get(key)
        if value is None:
            return None
        if not value.literal and value.text[:1] in ("'", '"'):
            node = node_of(value, self.faults)
            return str(node.value) if isinstance(node, yaml.ScalarNode) else None
        return " ".join(value.text.split())

    def needed_text(self, key: str, example: str) -> str | None:
        return self.text(key) if self.need(key, example) else None

    def words(self, key: str, *, once: bool = True) -> tuple[tuple[str, SourceLocation], ...]:
        """Names separated by spaces or commas, or a YAML list of them, each with its place; and *once*, if so."""
        value = self.entries.get(key)
        if value is None:
            return ()
        text = value.text.strip()
        start = 0
        if text.startswith("[") and text.endswith("]"):
            start = value.text.index("[") + 1
            text = text[1:-1]
        words_at = [(match[0].strip("'\""), value.offset(start + match.start())) for match in WORD.finditer(text)]
        names = [word for word, _ in words_at]
        for index, (word, place) in enumerate(words_at):
            if once and word in names[:index]:
                self.faults.add(place, "twice", f"{word!r} stands twice in ':{key}:'.", "Keep one of them.")
        return tuple(words_at)

    def one_of(self, key: str, known: Sequence[str], default: str) -> str:
        word = self.text(key)
        if word is None or word in known:
            return word or default
        self.wrong(key, "unknown-value", f"':{key}:' cannot be {word!r}.", did_you_mean(word, known))
        return default

    def language(self) -> str:
        """The language in `:lang:`; empty where none is given."""
        word = self.text("lang") or ""
        if word and not LANGUAGE.fullmatch(word):
            self.wrong("lang", "wrong-type", f"{word!r} is no language.", "Write 'lang: de' or 'lang: pt-BR'.")
        return word if LANGUAGE.fullmatch(word) else ""

    def flag(self, key: str, default: bool) -> bool:
        word = self.text(key)
        if word is None:
            return default
        if word not in ("true", "false", ""):
            self.wrong(key, "wrong-type", f"':{key}:' is true or false, not {word!r}.")
        return word != "false"

    def number(self, key: str) -> float | None:
        """A number of at least 0; None where there is none, or another one."""
        value = self.entries.get(key)
        if value is None:
            return None
        try:
            number = number_of(value.text)
        except UnreadableError as error:
            self.faults.add(value.offset(error.column - 1), "wrong-type", f"':{key}:' is a number. {error}")
            return None
        if number < 0:
            self.wrong(key, "wrong-value", f"':{key}:' must be at least 0; it is {number:g}.")
            return None
        return number
