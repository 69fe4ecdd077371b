"""Collects every sentence of code and templates, and compiles the catalogues: `python -m tray.language.build`.

en.po lists all sentences. In zh_CN.po translations are kept, new sentences come without one, and unused ones are
removed. The compiled zh_CN.mo is part of the repository, so that gettext's own tools are not needed.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from tray.language import FOLDER
from tray.language.templates import counts, sentences
from tray.lazy_dataclass import dataclass, replace

MAGIC = 0x950412DE
PLURALS = {"en": "nplurals=2; plural=(n != 1);", "zh_CN": "nplurals=1; plural=0;"}
ARGUMENTS = {"say": 1, "phrase": 1, "count": 2, "plural": 2}


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One sentence, its form for many, and its translations."""

    one: str
    many: str = ""
    translations: tuple[str, ...] = ()


Entries = Mapping[str, CatalogEntry]


def collect(folder: Path = FOLDER.parent) -> dict[str, CatalogEntry]:
    """Every sentence in the code and the templates below `folder`, in order of file and line."""
    found: dict[str, CatalogEntry] = {}
    for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.html"))):
        text = path.read_text(encoding="utf-8")
        for entry in _sentences(ast.parse(text)) if path.suffix == ".py" else _template_entries(text):
            known = found.get(entry.one)
            found[entry.one] = entry if known is None or not known.many else known
    return found


def _template_entries(template: str) -> Iterator[CatalogEntry]:
    yield from map(CatalogEntry, sentences(template))
    yield from (CatalogEntry(one, many) for one, many in counts(template))


def _sentences(tree: ast.AST) -> Iterator[CatalogEntry]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ARGUMENTS:
            texts = [str(arg.value) for arg in node.args[: ARGUMENTS[node.func.id]] if isinstance(arg, ast.Constant)]
            if texts and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                yield CatalogEntry(texts[0], "".join(texts[1:]))


def parse_po(path: Path) -> dict[str, CatalogEntry]:
    """The entries of a .po file, without its head."""
    found: dict[str, CatalogEntry] = {}
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        fields = dict(_fields(block))
        if one := fields.pop("msgid", ""):
            many = fields.pop("msgid_plural", "")
            found[one] = CatalogEntry(one, many, tuple(fields.values()))
    return found


def _fields(block: str) -> Iterator[tuple[str, str]]:
    name, text = "", ""
    for line in block.splitlines():
        if line.startswith("msg"):
            if name:
                yield name, text
            name, _, quoted = line.partition(" ")
            text = ast.literal_eval(quoted)
        elif line.startswith('"'):
            text += ast.literal_eval(line)
    if name:
        yield name, text


def render_po(language: str, entries: Entries) -> str:
    """The text of a .po file."""
    blocks = [_head(language), *(_block(entry) for entry in entries.values())]
    return "\n\n".join(blocks) + "\n"


def _head(language: str) -> str:
    lines = (f"Language: {language}", "Content-Type: text/plain; charset=UTF-8", f"Plural-Forms: {PLURALS[language]}")
    return "\n".join(['msgid ""', 'msgstr ""', *(f'"{line}\\n"' for line in lines)])


def _block(entry: CatalogEntry) -> str:
    if not entry.many:
        return f"msgid {_quoted(entry.one)}\nmsgstr {_quoted(''.join(entry.translations))}"
    forms = "\n".join(f"msgstr[{number}] {_quoted(text)}" for number, text in enumerate(entry.translations))
    return f"msgid {_quoted(entry.one)}\nmsgid_plural {_quoted(entry.many)}\n{forms}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def render_mo(language: str, entries: Entries) -> bytes:
    """The .mo file: sorted originals, their translations, and no hash table."""
    head = ast.literal_eval("".join(_head(language).splitlines()[2:]).replace('""', ""))
    pairs = {"": head} | {
        _original(entry): "\0".join(entry.translations) for entry in entries.values() if all(entry.translations)
    }
    texts = sorted((one.encode(), other.encode()) for one, other in pairs.items())
    size = len(texts)
    tables, heap = [b"", b""], b""
    for side in (0, 1):
        for pair in texts:
            tables[side] += struct.pack("<2I", len(pair[side]), 28 + 16 * size + len(heap))
            heap += pair[side] + b"\0"
    return struct.pack("<7I", MAGIC, 0, size, 28, 28 + 8 * size, 0, 28 + 16 * size) + tables[0] + tables[1] + heap


def _original(entry: CatalogEntry) -> str:
    return f"{entry.one}\0{entry.many}" if entry.many else entry.one


def merge(entries: Entries, before: Entries) -> dict[str, CatalogEntry]:
    """The present sentences with the earlier translations."""
    return {
        one: CatalogEntry(one, entry.many, before[one].translations if one in before else ("",))
        for one, entry in entries.items()
    }


def english(entries: Entries) -> dict[str, CatalogEntry]:
    """The English catalogue: every sentence translates to itself."""
    return {
        one: replace(entry, translations=tuple(filter(None, (one, entry.many)))) for one, entry in entries.items()
    }


def main() -> None:
    entries = collect()
    (FOLDER / "en.po").write_text(render_po("en", english(entries)), encoding="utf-8")
    path = FOLDER / "zh_CN.po"
    chinese = merge(entries, parse_po(path) if path.exists() else {})
    path.write_text(render_po("zh_CN", chinese), encoding="utf-8")
    (FOLDER / "zh_CN.mo").write_bytes(render_mo("zh_CN", chinese))
    for one in (one for one, entry in chinese.items() if not all(entry.translations)):
        print(f"zh_CN.po: {one!r} has no translation yet")


if __name__ == "__main__":
    main()
