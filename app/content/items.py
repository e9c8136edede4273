"""Lists that carry answers: task lists of a choice, and `` - `value`: message `` in shapes and numbers."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

from markdown_it.token import Token

from app.content.blocks import Option, Tempting
from app.content.errors import Faults
from app.content.fences import File
from app.content.prose import Prose

BOXES = {"[ ] ": False, "[x] ": True, "[X] ": True}


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a list: its tokens (without the list's own) and the line they start on."""

    tokens: Sequence[Token]
    line: int

    @property
    def inline(self) -> Token | None:
        """The item's first text."""
        return next((token for token in self.tokens if token.type == "inline"), None)


def take_options(
    tokens: Sequence[Token], line: int, file: File, prose: Prose, faults: Faults
) -> tuple[list[Token], tuple[Option, ...]]:
    """Split *tokens* into the prompt and the options of its task list."""
    rest, items = _take(tokens, line, _is_task)
    options: list[Option] = []
    for item in items:
        place = file.place(item.line)
        inline = item.inline
        if inline is None or not _is_task(item):
            faults.add(place, "not-an-option", "This item has no box.", "Write '- [ ] wrong' or '- [x] right'.")
            continue
        right = BOXES[inline.content[:4]]
        body, quote = _split_quote(_without_start(item.tokens, inline, 4))
        feedback = prose.render(quote, line) if quote else None
        html = prose.render(body, line)
        if any(html == other.html for other in options):
            faults.add(place, "twice", "This option stands above already.", "Keep one of them.")
        options.append(Option(place=place, html=html, right=right, feedback=feedback))
    return rest, tuple(options)


def take_tempting(
    tokens: Sequence[Token], line: int, file: File, prose: Prose, faults: Faults
) -> tuple[list[Token], tuple[Tempting, ...]]:
    """Split *tokens* into the prompt and the tempting values of its list."""
    rest, items = _take(tokens, line, _is_tempting)
    tempting: list[Tempting] = []
    for item in items:
        place = file.place(item.line)
        inline = item.inline
        if inline is None or not inline.children or not _is_tempting(item):
            faults.add(place, "not-tempting", "This item names no value.", "Write '- `value`: what to say about it'.")
            continue
        value = inline.children[0].content.strip()
        if any(value == other.value for other in tempting):
            faults.add(place, "twice", f"The value {value!r} stands twice.", "Keep one of them.")
        html = prose.render(_without_value(item.tokens, inline), line)
        if not html:
            faults.add(place, "empty", f"Nothing is said about {value!r}.")
        tempting.append(Tempting(place=place, value=value, html=html))
    return rest, tuple(tempting)


def _take(tokens: Sequence[Token], line: int, wanted: Callable[[Item], bool]) -> tuple[list[Token], list[Item]]:
    """Take out every list that has at least one *wanted* item, whole."""
    rest: list[Token] = []
    taken: list[Item] = []
    index = 0
    while index < len(tokens):
        end = _end(tokens, index)
        group = tokens[index : end + 1]
        items = _items(group, line) if tokens[index].type == "bullet_list_open" else []
        if any(wanted(item) for item in items):
            taken += items
        else:
            rest += group
        index = end + 1
    return rest, taken


def _items(tokens: Sequence[Token], line: int) -> list[Item]:
    """The items of one list, whose opening and closing are the first and the last of *tokens*."""
    items = []
    index = 1
    while index < len(tokens) - 1:
        end = _end(tokens, index)
        start = tokens[index].map
        items.append(Item(tokens[index + 1 : end], line + (start[0] if start else 0)))
        index = end + 1
    return items


def _end(tokens: Sequence[Token], index: int) -> int:
    """The index of the token that closes the one at *index* (itself where it opens nothing)."""
    depth = 0
    for place in range(index, len(tokens)):
        depth += tokens[place].nesting
        if depth <= 0:
            return place
    return len(tokens) - 1


def _is_task(item: Item) -> bool:
    return item.inline is not None and item.inline.content[:4] in BOXES


def _is_tempting(item: Item) -> bool:
    children = item.inline.children if item.inline else None
    if not children or len(children) < 2:
        return False
    return children[0].type == "code_inline" and children[1].type == "text" and children[1].content.startswith(":")


def _split_quote(tokens: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    """The tokens outside of quotations, and those inside, without the quotations themselves."""
    outside: list[Token] = []
    quoted: list[Token] = []
    index = 0
    while index < len(tokens):
        end = _end(tokens, index)
        if tokens[index].type == "blockquote_open":
            quoted += tokens[index + 1 : end]
        else:
            outside += tokens[index : end + 1]
        index = end + 1
    return outside, quoted


def _replaced(tokens: Sequence[Token], inline: Token, children: Sequence[Token]) -> list[Token]:
    changed = copy(inline)
    changed.children = list(children)
    return [changed if token is inline else token for token in tokens]


def _without_start(tokens: Sequence[Token], inline: Token, length: int) -> list[Token]:
    first, *others = inline.children or []
    shorter = copy(first)
    shorter.content = first.content[length:]
    return _replaced(tokens, inline, [shorter, *others])


def _without_value(tokens: Sequence[Token], inline: Token) -> list[Token]:
    _value, first, *others = inline.children or []
    shorter = copy(first)
    shorter.content = first.content[1:].lstrip()
    return _replaced(tokens, inline, [shorter, *others])
