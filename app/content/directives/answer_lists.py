"""Lists that carry answers: task lists of a choice, and `` - `value`: message `` in shapes and numbers."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from markupsafe import Markup

from app.content.blocks import Distractor, Option, OrderStep, SourceLocation
from app.content.directives.parse_context import DirectiveBody, ParseContext

SAID = re.compile(r"[:=]|\s[-–—]\s|->")
"""What people put between a value and what they say about it."""
VALUE = re.compile(r"`[\d\s(\[.,*/+−-]*\d[^`]*`(?: |$)")
"""A number or a shape at the beginning of an item."""
LONGEST_VALUE = 40
BOX = re.compile(r"(?m)^(?:[-*+] ?)?\[[ xX]\]")
BOXES = {"[ ] ": False, "[x] ": True, "[X] ": True}


def take_options(inside: DirectiveBody, reading: ParseContext) -> tuple[DirectiveBody, tuple[Option, ...]]:
    """Split a question into the prompt and the options of its task list."""
    rest, items = _take(inside, _is_task)
    _check_feedback(inside, reading)
    options: list[Option] = []
    for item in items:
        place, inline = _place(item, inside, reading), _inline(item)
        if inline is None or not _is_task(item):
            reading.faults.add(place, "not-an-option", "This item has no box.", "Write '- [ ] wrong' or '- [x] right'.")
            continue
        right = BOXES[inline.content[:4]]
        body, feedback = _body_and_quote(item, inside, reading)
        html = reading.prose.render(_tokens_from(body, inline, 0, inline.content[:4]), inside.line)
        within = any(_is_task(node) for node in item.walk() if node.type == "list_item" and node is not item)
        if within or BOX.search(inline.content, 4):
            reading.faults.add(
                place, "not-an-option", "A box stands within this option.", "Write '- [ ] ' before each."
            )
        if any(html == other.html for other in options):
            reading.faults.add(place, "twice", "This option stands above already.", "Keep one of them.")
        options.append(Option(place=place, html=html, right=right, feedback=feedback))
    return rest, tuple(options)


def take_tempting(inside: DirectiveBody, reading: ParseContext) -> tuple[DirectiveBody, tuple[Distractor, ...]]:
    """Split a question into the prompt and the tempting values of its list."""
    rest, items = _take(inside, _is_tempting)
    _check_values(rest, reading)
    tempting: list[Distractor] = []
    for item in items:
        place, inline = _place(item, inside, reading), _inline(item)
        if inline is None or not inline.children or not _is_tempting(item):
            reading.faults.add(
                place, "not-tempting", "This item names no value.", "Write '- `value`: what to say about it'."
            )
            continue
        value = inline.children[0].content.strip()
        if any(value == other.value for other in tempting):
            reading.faults.add(place, "twice", f"The value {value!r} stands twice.", "Keep one of them.")
        html = reading.prose.render(_tokens_from(_tokens(item.children), inline, 1, ":"), inside.line)
        if not html:
            reading.faults.add(place, "empty", f"Nothing is said about {value!r}.")
        tempting.append(Distractor(place=place, value=value, html=html))
    return rest, tuple(tempting)


def take_steps(inside: DirectiveBody, reading: ParseContext) -> tuple[DirectiveBody, tuple[OrderStep, ...]]:
    """Split a question into the prompt and the steps of its numbered lists."""
    blocks = SyntaxTreeNode(inside.tokens).children
    lists = [block for block in blocks if block.type == "ordered_list"]
    steps = []
    for item in (item for node in lists for item in node.children):
        body, quote = _body_and_quote(item, inside, reading)
        rank = int(item.info) if item.info.isdecimal() else 0
        steps.append(
            OrderStep(
                place=_place(item, inside, reading), rank=rank, html=reading.prose.render(body, inside.line), said=quote
            )
        )
    return replace(inside, tokens=_tokens(block for block in blocks if block not in lists)), tuple(steps)


def _body_and_quote(
    item: SyntaxTreeNode, inside: DirectiveBody, reading: ParseContext
) -> tuple[list[Token], Markup | None]:
    """Split an item into its own text and the quotation below it."""
    quotes = [child for child in item.children if child.type == "blockquote"]
    quoted = [token for quote in quotes for token in _tokens(quote.children)]
    html = reading.prose.render(quoted, inside.line) if quoted else None
    return _tokens(child for child in item.children if child not in quotes), html


def _check_feedback(inside: DirectiveBody, reading: ParseContext) -> None:
    """Add an error for every quotation below the options that belongs to none: it would be shown in the question."""
    below = False
    for child in SyntaxTreeNode(inside.tokens).children:
        below = below or (child.type == "bullet_list" and any(map(_is_task, child.children)))
        if child.type == "paragraph" and (inline := _inline(child)) and BOX.search(inline.content):
            fix = "Write '- [ ] ' with a space on either side of the box."
            reading.faults.add(
                _place(child, inside, reading), "not-an-option", "This looks like an option, but is none.", fix
            )
        if below and child.type == "blockquote":
            fix = "Indent it by two spaces, so that it belongs to the option above."
            reading.faults.add(
                _place(child, inside, reading), "feedback", "This feedback stands below all options.", fix
            )


def _check_values(inside: DirectiveBody, reading: ParseContext) -> None:
    """A fault for every item left in a question that seems to be a value with what to say about it."""
    for child in SyntaxTreeNode(inside.tokens).children:
        for item in child.children if child.type in ("bullet_list", "ordered_list") else ():
            inline = _inline(item)
            quote = SAID.search(inline.content) if inline else None
            if (quote and quote.start() <= LONGEST_VALUE) or (inline and VALUE.match(inline.content)):
                message = "This looks like a tempting value, but would be shown in the question."
                fix = "Write '- `value`: what to say about it', with the value in backticks."
                reading.faults.add(_place(item, inside, reading), "feedback", message, fix)


def _take(
    inside: DirectiveBody, wanted: Callable[[SyntaxTreeNode], bool]
) -> tuple[DirectiveBody, list[SyntaxTreeNode]]:
    """Take out every list that has at least one *wanted* item, whole; what is left, and the items of the lists."""
    blocks = SyntaxTreeNode(inside.tokens).children
    lists = [block for block in blocks if block.type == "bullet_list" and any(wanted(item) for item in block.children)]
    rest = replace(inside, tokens=_tokens(block for block in blocks if block not in lists))
    return rest, [item for node in lists for item in node.children]


def _tokens(nodes: Iterable[SyntaxTreeNode]) -> list[Token]:
    return [token for node in nodes for token in node.to_tokens()]


def _place(item: SyntaxTreeNode, inside: DirectiveBody, reading: ParseContext) -> SourceLocation:
    return reading.file.place(inside.line + (item.map[0] if item.map else 0))


def _inline(item: SyntaxTreeNode) -> Token | None:
    """The item's first text."""
    return next((node.token for node in item.walk() if node.type == "inline"), None)


def _is_task(item: SyntaxTreeNode) -> bool:
    inline = _inline(item)
    return inline is not None and inline.content[:4] in BOXES


def _is_tempting(item: SyntaxTreeNode) -> bool:
    inline = _inline(item)
    match inline.children if inline else None:
        case [value, after, *_]:
            return value.type == "code_inline" and after.type == "text" and after.content.startswith(":")
    return False


def _tokens_from(tokens: Sequence[Token], inline: Token, index: int, start: str) -> list[Token]:
    """*tokens* whose *inline* begins at its child *at*, and there behind *start*."""
    first, *others = (inline.children or [])[index:]
    first = first.copy(content=first.content.removeprefix(start).lstrip())
    shorter = inline.copy(children=[first, *others])
    return [shorter if token is inline else token for token in tokens]
