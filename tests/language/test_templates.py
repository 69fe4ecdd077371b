"""The sentences of a template are found where they stand, and said in another language around all the rest."""

from __future__ import annotations

from pathlib import Path

from every import every

from tray.language import FOLDER
from tray.language.templates import counts, sentences, translate_template

TEMPLATES = sorted((FOLDER.parent / "web" / "templates").glob("*.html"))


@every("path", TEMPLATES, ids=lambda path: str(path.stem))
def test_english_is_what_the_template_says(path: Path) -> None:
    source = path.read_text(encoding="utf-8")

    assert translate_template(source, lambda text: text) == source


@every(
    ("source", "found"),
    [
        ("<h1>Decisions</h1>", ["Decisions"]),
        ("<p> Two  words </p>", ["Two words"]),
        ("<p>{{ n }} of <b>{{ all }}</b></p>", ["{0} of {1}{2}{3}"]),
        ('<p>None fits. <a href="/">Show all</a>.</p>', ["None fits. {0}Show all{1}."]),
        ('<a class="button" href="/">Yes…</a><a class="button" href="/">No…</a>', ["Yes…", "No…"]),
        ("<td><b>Hour</b></td>", ["Hour"]),
        ("<p>{% if a %}One{% else %}Two{% endif %}</p>", ["One", "Two"]),
        ("<p>First\nSecond</p>", ["First", "Second"]),
        ('<input placeholder="in the text" name="text">', ["in the text"]),
        ('<svg aria-label="How long {{ x }} took">', ["How long {0} took"]),
        ("<pre>hooks: none\n  of ours</pre><p>After</p>", ["After"]),
        ("<p><code>hooktray list</code></p><p>Hooktray · p50</p>", []),
        ('<input placeholder="tool_before">', []),
        ('{{ say("Undo…") if a else say("Keep…") }}', ["Undo…", "Keep…"]),
        ("{% if a > b %}{{ c }}{% endif %}<p>More</p>", ["More"]),
    ],
)
def test_a_sentence_is_what_people_read_as_one(source: str, found: list[str]) -> None:
    assert sentences(source) == found


def test_a_translation_may_put_what_is_named_in_another_order() -> None:
    said = {"{0} of {1}{2}{3}": "{1}{2}{3}: {0}", "Show it": "Zeig es"}
    source = '<p title="Show it">\n  {{ n }} of <b>{{ all }}</b>\n</p>'

    assert translate_template(source, lambda text: said.get(text, text)) == (
        '<p title="Zeig es">\n  <b>{{ all }}</b>: {{ n }}\n</p>'
    )


def test_a_number_has_its_two_forms() -> None:
    assert counts('{{ count("{n} turn", "{n} turns", one.turns) }}') == [("{n} turn", "{n} turns")]
