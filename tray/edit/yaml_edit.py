"""Surgery on a YAML text: items join or leave one top-level list, everything else stays byte for byte.

Libraries that keep a YAML text were measured: ruamel.yaml changed 5 to 11 of 13 lines that were not ours.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import yaml

from tray.edit.json_edit import BOM
from tray.errors import ConfigError
from tray.strict.yaml_reader import LOADER, load_yaml


class VerbatimItem(msgspec.Struct, frozen=True):
    """An item as it was written elsewhere: its lines without the dash, the first column being the item's own."""

    value: object
    lines: tuple[str, ...]


Item = object  # a value, or a VerbatimItem
Cut = tuple[int, int]
COMMA = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*+(,)")
HINT = "nothing was written; write the list as `{}:` with one `- …` in a line of its own for each item"


def items(text: bytes, path: str, key: str) -> list[object]:
    """The items of a top-level list; none when it is not there. Raises ConfigError with its place."""
    document = load_yaml(text, path)
    found = document.value.get(key) if isinstance(document.value, dict) else None
    if not isinstance(document.value, dict) or not isinstance(found, list | None):
        raise ConfigError(f"{document.location((key,), value=True)}: {key}: expected a list", hint=HINT.format(key))
    return found or []


def append(text: bytes, path: str, key: str, new: Sequence[Item]) -> bytes:
    """The text with these items at the end of the list, which is made when it is not there."""
    try:
        return _append(text, path, key, new)
    except ConfigError:
        if not any(isinstance(item, VerbatimItem) for item in new):
            raise
        return _append(text, path, key, [_value_of(item) for item in new])  # their layout does not fit there


def _append(text: bytes, path: str, key: str, new: Sequence[Item]) -> bytes:
    existing = items(text, path, key)
    source, bom, newline = _decoded(text)
    root = _root(source, path)
    node = _value(root, key)
    flow = ", ".join(json.dumps(_value_of(item), ensure_ascii=False) for item in new)
    if node is None and isinstance(root, yaml.MappingNode) and root.flow_style:
        at = root.value[0][0].start_mark.index if root.value else root.start_mark.index + 1
        before = source[root.start_mark.index + 1 : at]
        gap = f",{before[len(before.rstrip()) :] or ' '}" if root.value else ""
        edited = f"{source[:at]}{json.dumps(key)}: [{flow}]{gap}{source[at:]}"
    elif node is None:
        gap = newline if source and not source.endswith("\n") else ""
        column = root.start_mark.column if isinstance(root, yaml.MappingNode) else 0
        block = _ended(_block(new, column + 2, newline), newline, bool(gap))
        edited = f"{source}{gap}{' ' * column}{key}:{newline}{block}"
    elif isinstance(node, yaml.SequenceNode) and not node.flow_style:
        at, missing = _line_end(source, _end(node))
        lead = newline if missing else ""
        block = _ended(_block(new, node.start_mark.column, newline), newline, missing)
        edited = source[:at] + lead + block + source[at:]
    elif isinstance(node, yaml.SequenceNode) and (existing or _is_flow(root) or "#" in _inside(source, node)):
        at = _end(node.value[-1]) if existing else node.start_mark.index + 1
        edited = f"{source[:at]}{', ' if existing else ''}{flow}{source[at:]}"
    elif isinstance(node, yaml.SequenceNode) or not source[node.start_mark.index : node.end_mark.index]:
        begin, end = node.start_mark.index, node.end_mark.index
        bare = source[:begin].rstrip(" \t") + source[end:]
        at, missing = _line_end(bare, len(source[:begin].rstrip(" \t")))
        block = _ended(_block(new, 2, newline), newline, missing)
        edited = bare[:at] + (newline if missing else "") + block + bare[at:]
    else:
        place = f"{path}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
        what = f"{place}: {key}: expected a list, not `{_inside(source, node)}`"
        raise ConfigError(what, hint=HINT.format(key))
    try:
        encoded = edited.encode()
    except UnicodeEncodeError as error:
        what = f"{path}: {key}: a path that is not UTF-8 cannot be written into it"
        raise ConfigError(what, hint="move these files below a folder with a plain name") from error
    return _checked(text, bom + encoded, path, key, [*existing, *map(_value_of, new)])


def verbatim_items(text: bytes, key: str, wanted: Sequence[object]) -> list[VerbatimItem]:
    """The items that are wanted, as they are written there; of a readable text only."""
    source, _bom, _newline = _decoded(text)
    found = _value(_root(source, key), key)
    if not isinstance(found, yaml.SequenceNode):
        return []
    existing = items(text, key, key)
    both = zip(existing, found.value, strict=True)
    return [VerbatimItem(item, tuple(_lines(source, found, node))) for item, node in both if item in wanted]


def _lines(source: str, sequence: yaml.SequenceNode, node: yaml.Node) -> Iterator[str]:
    """A comment behind the last character belongs to a block; behind a flow it may be the next item's."""
    is_block = isinstance(node, yaml.MappingNode) and not node.flow_style
    end = _line_end(source, _end(node))[0] if is_block else _end(node)
    begin = node.start_mark.index if sequence.flow_style else _dash(source, sequence, node) + 1
    first, *others = source[begin:end].lstrip(" ").splitlines()
    yield first
    for line in others:
        indent = len(line) - len(line.lstrip(" "))
        yield line[min(indent, node.start_mark.column) :]


def _value_of(item: Item) -> object:
    return item.value if isinstance(item, VerbatimItem) else item


def remove(text: bytes, path: str, key: str, unwanted: Sequence[object], *, keeps_comments: bool = False) -> bytes:
    """Returns the text without these items. A list of nothing else is removed, unless it has a comment.

    With `keeps_comments`, lines that the user wrote into one of our items stay.
    """
    existing = items(text, path, key)
    source, bom, _newline = _decoded(text)
    root = _root(source, path)
    node = _value(root, key)
    removed = [index for index, item in enumerate(existing) if item in unwanted]
    if not removed or not isinstance(node, yaml.SequenceNode):
        return text
    cuts = _flow_cuts(source, node, removed) if node.flow_style else [_cut(source, node, at) for at in removed]
    if keeps_comments and not node.flow_style:
        cuts = [part for cut in cuts for part in _between_comments(source, cut)]
    if len(removed) == len(existing):
        begin, end = _whole(source, root, key, node)
        left = _without(source[begin:end], [(first - begin, last - begin) for first, last in cuts])
        if not left.partition(":")[2].strip(" \t\r\n[],"):
            cuts = [(begin, end)]
    is_only = max(end for _, end in cuts) == len(source) and not source.endswith("\n")
    source = _without(source, cuts)
    source = re.sub(r"\r?\n\Z", "", source) if is_only else source
    return _checked(text, bom + source.encode(), path, key, [item for item in existing if item not in unwanted])


def _ended(block: str, newline: str, is_open: bool) -> str:
    """The last line of a text stays without its end when it had none."""
    return block.removesuffix(newline) if is_open else block


def _without(source: str, cuts: Sequence[Cut]) -> str:
    for begin, end in sorted(cuts, reverse=True):
        source = source[:begin] + source[end:]
    return source


def _cut(source: str, sequence: yaml.SequenceNode, index: int) -> Cut:
    """All lines of an item, from that of its dash."""
    node = sequence.value[index]
    begin = source.rfind("\n", 0, _dash(source, sequence, node)) + 1
    return begin, _line_end(source, _end(node))[0]


def _between_comments(source: str, cut: Cut) -> Iterator[Cut]:
    """Yields the parts of a cut between comment lines."""
    at = begin = cut[0]
    for line in source[slice(*cut)].splitlines(keepends=True):
        if line.lstrip(" \t").startswith("#"):
            yield begin, at
            begin = at + len(line)
        at += len(line)
    yield begin, at


def _dash(source: str, sequence: yaml.SequenceNode, node: yaml.Node) -> int:
    """Where the dash of an item is; its value may begin in a later line."""
    at, column = int(node.start_mark.index), sequence.start_mark.column
    while True:
        begin = source.rfind("\n", 0, at) + 1
        if (begin + column < node.start_mark.index and source[begin + column] == "-") or not begin:
            return int(begin + column)
        at = begin - 1


def _flow_cuts(source: str, sequence: yaml.SequenceNode, removed: Sequence[int]) -> list[Cut]:
    """Items of a flow, each with a comma: the one before it when an item that stays is before it."""
    nodes, cuts = sequence.value, list[Cut]()
    first_kept = next((index for index in range(len(nodes)) if index not in removed), len(nodes))
    for index in removed:
        begin, end = nodes[index].start_mark.index, _end(nodes[index])
        if index > first_kept:
            gap = _end(nodes[index - 1]), begin
        else:
            gap = end, nodes[index + 1].start_mark.index if index + 1 < len(nodes) else end
        if "#" not in source[slice(*gap)]:
            cuts.append((min(begin, gap[0]), max(end, gap[1])))
            continue
        cuts.append((begin, end))  # a comment stays
        if comma := COMMA.match(source, gap[0]):
            cuts.append(comma.span(1))
    return cuts


def _whole(source: str, root: yaml.Node | None, key: str, sequence: yaml.SequenceNode) -> Cut:
    """The list with its key: all lines of it. In a flow up to the next key, or beyond the flow if it has to stay."""
    names = [name for name, _ in root.value] if isinstance(root, yaml.MappingNode) else []
    index, name = next((index, name) for index, name in enumerate(names) if name.value == key)
    if root is not None and _is_flow(root):
        is_only = len(names) == 1 and not COMMA.match(source, _end(sequence))
        ends = [*(one.start_mark.index for one in names), _end(sequence) if is_only else root.end_mark.index]
        return name.start_mark.index, ends[index + 1]
    begin = source.rfind("\n", 0, name.start_mark.index) + 1
    return begin, _line_end(source, _end(sequence))[0]


def _checked(old: bytes, new: bytes, path: str, key: str, expected: list[object]) -> bytes:
    """The new text, once it is sure that it means what was intended and nothing else."""
    before, after = load_yaml(old, path).value, None
    with contextlib.suppress(ConfigError):  # that error would name a line which the file does not have
        after = load_yaml(new, path).value
    if not isinstance(before, dict) or not isinstance(after, dict):
        raise ConfigError(f"{path}: {key}: cannot be edited without touching the rest", hint=HINT.format(key))
    others = [{name: value for name, value in one.items() if name != key} for one in (before, after)]
    if (after.get(key) or []) != expected or others[0] != others[1]:
        raise ConfigError(f"{path}: {key}: cannot be edited without touching the rest", hint=HINT.format(key))
    return new


def _decoded(text: bytes) -> tuple[str, bytes, str]:
    bom = BOM if text.startswith(BOM) else b""
    source = text[len(bom) :].decode()
    return source, bom, "\r\n" if "\r\n" in source else "\n"


def _root(source: str, path: str) -> yaml.Node | None:
    try:
        return yaml.compose(source, LOADER)
    except yaml.MarkedYAMLError as error:  # of a text that `load_yaml` takes
        mark = error.problem_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ConfigError(f"{path}{place}: {error.problem}", hint="nothing was written; mend this line") from None


def _is_flow(node: yaml.Node | None) -> bool:
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _inside(source: str, node: yaml.Node) -> str:
    return source[node.start_mark.index : node.end_mark.index]


def _value(root: yaml.Node | None, key: str) -> yaml.Node | None:
    if not isinstance(root, yaml.MappingNode):
        return None
    return next((value for name, value in root.value if name.value == key), None)


def _end(node: yaml.Node) -> int:
    """Behind the last character of a node; a block's own mark is behind the comments that follow it."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return _end(node.value[-1][1])
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _end(node.value[-1])
    return int(node.end_mark.index)


def _line_end(source: str, at: int) -> tuple[int, bool]:
    """The beginning of the next line, and whether the line lacks its end."""
    if at and source[at - 1] == "\n":
        return at, False
    found = source.find("\n", at)
    return (len(source), True) if found < 0 else (found + 1, False)


def _block(new: Sequence[Item], column: int, newline: str) -> str:
    lines = []
    for item in new:
        if isinstance(item, VerbatimItem):
            rest = ((" " * (column + 2) + line).rstrip(" ") if line.strip() else "" for line in item.lines[1:])
            lines += [text + newline for text in (" " * column + "- " + item.lines[0], *rest)]
            continue
        if not isinstance(item, Mapping):
            lines.append(f"{' ' * column}- {json.dumps(item, ensure_ascii=False)}{newline}")
            continue
        for index, (name, value) in enumerate(item.items()):
            lead = " " * column + ("- " if index == 0 else "  ")
            lines.append(f"{lead}{name}: {json.dumps(value, ensure_ascii=False)}{newline}")
    return "".join(lines)
