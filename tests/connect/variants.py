"""Settings files as people write them: each has hooks of its own that can be imported, in a layout of its own."""

# ruff: noqa: E501 - a file is one line here

from __future__ import annotations

from collections.abc import Mapping

ECHO = "command: /bin/echo a"
STARCHILD: Mapping[str, bytes] = {
    name: text.encode()
    for name, text in {
        "plain": f"hooks:\n  - event: on_stop\n    {ECHO}\n",
        "two": f"hooks:\n  - event: on_stop\n    {ECHO}\n  - event: pre_tool_call\n    matcher: 'rm -rf'\n    {ECHO}\n",
        "no final newline": f"hooks:\n  - event: on_stop\n    {ECHO}",
        "blank lines at the end": f"hooks:\n  - event: on_stop\n    {ECHO}\n\n\n",
        "blank lines between": f"hooks:\n\n\n  - event: on_stop\n\n    {ECHO}\n\n\n  - event: pre_llm_call\n    {ECHO}\n",
        "CRLF": f"hooks:\r\n  - event: on_stop\r\n    {ECHO}\r\n",
        "CRLF and comments": f"# top\r\nhooks:  # ours\r\n  - event: on_stop  # why\r\n    {ECHO}\r\n# end\r\n",
        "CRLF without a last one": f"hooks:\r\n  - event: on_stop\r\n    {ECHO}",
        "mixed line ends": f"hooks:\n  - event: on_stop\r\n    {ECHO}\n",
        "byte order mark": f"\ufeffhooks:\n  - event: on_stop\n    {ECHO}\n",
        "comment before the list": f"hooks:\n  # the guard\n  - event: on_stop\n    {ECHO}\n",
        "comment between items": f"hooks:\n  - event: on_stop\n    {ECHO}\n  # second\n  - event: pre_llm_call\n    {ECHO}\n",
        "comment behind the list": f"hooks:\n  - event: on_stop\n    {ECHO}\n  # nothing more\nother: 1\n",
        "comment at the end": f"hooks:\n  - event: on_stop\n    {ECHO}\n# the end",
        "comment inside an item": f"hooks:\n  - event: on_stop\n    # why\n    {ECHO}\n    # last\n",
        "comment behind the dash": f"hooks:\n  - # odd\n    event: on_stop\n    {ECHO}\n",
        "comments in column one": f"# a\nhooks:\n# b\n- event: on_stop\n# c\n  {ECHO}\n# d\n",
        "comment behind values": f"hooks: # one\n  - event: on_stop # two\n    {ECHO} # three\n",
        "trailing spaces": f"hooks:   \n  - event: on_stop  \n    {ECHO}   \n   \n",
        "no indentation": f"hooks:\n- event: on_stop\n  {ECHO}\n- event: pre_llm_call\n  {ECHO}\n",
        "deep indentation": f"hooks:\n        -   event: on_stop\n            {ECHO}\n",
        "key order": f"z: 1\nhooks:\n  - timeout: 7\n    {ECHO}\n    event: on_stop\na: 2\n",
        "between other keys": f"name: x\nhooks:\n  - event: on_stop\n    {ECHO}\nnested: {{a: {{b: {{c: [1, [2, [3]]]}}}}}}\n",
        "flow items": 'hooks:\n  - {event: on_stop, command: "/bin/echo a"}\n  - {event: pre_llm_call, command: /bin/echo}\n',
        "flow list": "hooks: [{event: on_stop, command: /bin/echo}, {event: pre_llm_call, command: /bin/echo}]\n",
        "flow list in lines": "hooks: [\n  {event: on_stop, command: /bin/echo},  # one\n  {event: pre_llm_call, command: /bin/echo}\n]\n",
        "all in one flow": "{hooks: [{event: on_stop, command: /bin/echo}], a: 1}\n",
        "JSON": '{"hooks": [{"event": "on_stop", "command": "/bin/echo"}]}\n',
        "quotes": "'hooks':\n  - 'event': \"on_stop\"\n    \"command\": '/bin/echo ''a'''\n",
        "unicode": "# naïve ☃ 🎄\nhooks:\n  - event: on_stop\n    command: /bin/echo 'é ☃ 🎄'\n",
        "block scalar": "hooks:\n  - event: on_stop\n    command: >-\n      /bin/echo\n      a\n  - event: pre_llm_call\n    command: |\n      /bin/echo b\n",
        "document start": f"---\nhooks:\n  - event: on_stop\n    {ECHO}\n",
        "tabs before comments": f"hooks:\t# a\n  - event: on_stop\t# b\n    {ECHO}\t# c\n",
    }.items()
}

HANDLER = '{"type": "command", "command": "/bin/echo a"}'
GROUP = f'{{"hooks": [{HANDLER}]}}'
CLAUDE: Mapping[str, bytes] = {
    name: text.encode()
    for name, text in {
        "one line": f'{{"hooks": {{"Stop": [{GROUP}]}}}}',
        "one line with its end": f'{{"hooks": {{"Stop": [{GROUP}]}}}}\n',
        "compact": '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/bin/echo"}]}]}}',
        "compact and more": '{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/bin/echo"}]}]},"b":{}}',
        "two spaces": f'{{\n  "hooks": {{\n    "Stop": [\n      {GROUP}\n    ]\n  }}\n}}\n',
        "four spaces": f'{{\n    "hooks": {{\n        "Stop": [\n            {GROUP}\n        ]\n    }}\n}}\n',
        "tabs": f'{{\n\t"hooks": {{\n\t\t"Stop": [\n\t\t\t{GROUP}\n\t\t]\n\t}}\n}}\n',
        "no final newline": f'{{\n  "hooks": {{\n    "Stop": [{GROUP}]\n  }}\n}}',
        "blank lines at the end": f'{{\n  "hooks": {{\n    "Stop": [{GROUP}]\n  }}\n}}\n\n\n',
        "blank lines between": f'{{\n\n  "hooks": {{\n\n\n    "Stop": [\n\n{GROUP}\n\n]\n\n  }}\n\n}}\n',
        "CRLF": f'{{\r\n  "hooks": {{\r\n    "Stop": [{GROUP}]\r\n  }}\r\n}}\r\n',
        "CR": f'{{\r  "hooks": {{\r    "Stop": [{GROUP}]\r  }}\r}}\r',
        "mixed line ends": f'{{\n  "hooks": {{\r\n    "Stop": [{GROUP}]\n  }}\r\n}}\n',
        "byte order mark": f'\ufeff{{"hooks": {{"Stop": [{GROUP}]}}}}\n',
        "trailing spaces": f'{{  \n  "hooks": {{ \n    "Stop": [ {GROUP} ]  \n  }}   \n}}  \n',
        "key order": f'{{"z": 1, "hooks": {{"Stop": [{GROUP}], "PreToolUse": [{GROUP}]}}, "a": 2}}\n',
        "hooks last": f'{{\n  "model": "opus",\n  "hooks": {{"Stop": [{GROUP}]}}\n}}\n',
        "hooks first": f'{{\n  "hooks": {{"Stop": [{GROUP}]}},\n  "model": "opus"\n}}\n',
        "many events": f'{{"hooks": {{"Stop": [{GROUP}], "SessionStart": [{GROUP}, {GROUP}], "PreToolUse": [{GROUP}]}}}}\n',
        "empty beside it": f'{{"hooks": {{"Stop": [{GROUP}], "PreToolUse": []}}, "permissions": {{}}}}\n',
        "matchers": f'{{"hooks": {{"PreToolUse": [{{"matcher": "Bash|Edit", "hooks": [{HANDLER}, {HANDLER}]}}, {GROUP}]}}}}\n',
        "some stay": f'{{"hooks": {{"PreToolUse": [{GROUP}, {{"hooks": [{{"type": "mcp_tool", "server": "s", "tool": "t"}}]}}]}}}}\n',
        "escapes": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "\\u002fbin/echo \\"a\\""}]}]}}\n',
        "escaped keys": f'{{"\\u0068ooks": {{"Stop": [{GROUP}]}}}}\n',
        "unicode": '{"naïve": "☃ 🎄", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/bin/echo é🎄"}]}]}}\n',
        "deep nesting": f'{{"a": {"[" * 40}1{"]" * 40}, "hooks": {{"Stop": [{GROUP}]}}}}\n',
        "line comments": f'// top\n{{\n  "hooks": {{ // here\n    "Stop": [{GROUP}] // end\n  }}\n}}\n// last\n',
        "comments between": f'{{"hooks": {{"Stop": [/* a */ {GROUP} /* b */], /* c */ "PreToolUse": [{GROUP}]}} /* d */}}\n',
        "comments inside": '{"hooks": {"Stop": [{"hooks": [{"type": "command", /* why */ "command": "/bin/echo"}]}]}}\n',
        "spaces in odd places": f'{{ "hooks" :{{"Stop"  : [ {GROUP}   ]  }} ,"a" : 1 }}\n',
    }.items()
}
