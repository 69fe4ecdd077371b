"""A list of a YAML text takes an item, whatever the text's root is, and nothing else in it changes."""

from __future__ import annotations

from typing import Any

import pytest

from tray.edit.yaml_edit import append, remove
from tray.errors import ConfigError
from tray.strict.yaml_reader import load_yaml

ITEM = {"claude-code": "/h/x #y.json", "agent": "claude-code"}
OURS = '{"claude-code": "/h/x #y.json", "agent": "claude-code"}'
FLOW, BLOCK = f'"sources": [{OURS}]', 'sources:\n  - claude-code: "/h/x #y.json"\n    agent: "claude-code"'
ROOTS = {
    "": f"{BLOCK}\n",
    "# mine": f"# mine\n{BLOCK}",
    "---\n": f"---\n{BLOCK}\n",
    "a: 1\n": f"a: 1\n{BLOCK}\n",
    "a: {b: 1}": f"a: {{b: 1}}\n{BLOCK}",
    "sources: []\n": f"{BLOCK}\n",
    "sources:\na: 1\n": f"{BLOCK}\na: 1\n",
    "  a: 1\n": '  a: 1\n  sources:\n    - claude-code: "/h/x #y.json"\n      agent: "claude-code"\n',
    "{}": f"{{{FLOW}}}",
    "{ }\n": f"{{{FLOW} }}\n",
    "{ # mine\n}\n": f"{{{FLOW} # mine\n}}\n",
    '{"a": 1}': f'{{{FLOW}, "a": 1}}',
    '{"a": "}"} # end\n': f'{{{FLOW}, "a": "}}"}} # end\n',
    '\ufeff{"é🦊": "日"}\n': f'\ufeff{{{FLOW}, "é🦊": "日"}}\n',
    "--- {a: , b: {c: d},}\n...\n": f"--- {{{FLOW}, a: , b: {{c: d}},}}\n...\n",
    '{\n  "a": 1,\n  "b": [1, 2]\n}\n': f'{{\n  {FLOW},\n  "a": 1,\n  "b": [1, 2]\n}}\n',
    '{\r\n\t"a": 1\r\n}\r\n': f'{{\r\n\t{FLOW},\r\n\t"a": 1\r\n}}\r\n',
    "{ # mine\n  a: 1, # one\n  # last\n}": f"{{ # mine\n  {FLOW},\n  a: 1, # one\n  # last\n}}",
    '{"sources": [], "a": 1}': f'{{{FLOW}, "a": 1}}',
    '{"sources": [{"x-code": "a"}]}': f'{{"sources": [{{"x-code": "a"}}, {OURS}]}}',
}
REFUSED = {
    "null": ":1:1: sources: expected a list",
    "[]": ":1:1: sources: expected a list",
    "sources: {}\n": ":1:10: sources: expected a list",
    '{"sources": "x"}': ":1:13: sources: expected a list",
    '{"sources": null}': ":1:13: sources: expected a list, not `null`",
    "a: 1\n...\n": ": sources: cannot be edited without touching the rest",
}


def value(text: bytes) -> dict[str, Any]:
    found: Any = load_yaml(text, "f").value
    return {"sources": [], **{key: one for key, one in found.items() if one is not None or key != "sources"}}


@pytest.mark.parametrize("text", ROOTS)
def test_an_item_joins_a_text_of_any_root_and_leaves_it(text: str) -> None:
    taken = append(text.encode(), "f", "sources", [ITEM])
    assert taken.decode() == ROOTS[text]

    back = remove(taken, "f", "sources", [ITEM])

    assert value(back) == value(text.encode())
    assert "sources" in text or back.decode().replace('"sources": []', "") in (text, text.rstrip("\n"))


@pytest.mark.parametrize("text", REFUSED)
def test_a_text_that_cannot_take_it_is_refused_with_place_and_cure(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        append(text.encode(), "hooktray.yaml", "sources", [ITEM])

    assert caught.value.message.startswith(f"hooktray.yaml{REFUSED[text]}")
    assert "nothing was written; write the list as `sources:`" in caught.value.hint
