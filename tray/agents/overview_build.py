"""Writes tray/agents/overview.py from the agents' own modules: `python -m tray.agents.overview_build`.

It repeats what every event needs of all agents, so that an event imports only the module of the agent that it came
from. A test compares the file with the agents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tray.agents.agent import agents_by_home_variable, protected_words, senders_by_key, senders_by_transcript
from tray.agents.registry import BUILT_IN, RECOGNISED, known_agent

FILE = Path(__file__).with_name("overview.py")
HEAD = '''"""What every event needs of all agents, so that it imports only the module of the agent that it came from.

Written by `python -m tray.agents.overview_build`, from the agents' own modules.
"""

from __future__ import annotations

from collections.abc import Mapping
'''


def text() -> str:
    """The module."""
    agents = [known_agent(id) for id in (*BUILT_IN, *RECOGNISED)]
    by_key = {key: sorted(ids) for key, ids in senders_by_key(agents).items()}
    parts = (
        ("", "AGENT_IDS = frozenset(\n    {", _items(sorted(agent.id for agent in agents), 8), "    }\n)"),
        (
            "The agents by the keys of a payload that may identify them as its sender.",
            "SENDERS_BY_KEY: Mapping[str, tuple[str, ...]] = {",
            _entries({key: _tuple(ids) for key, ids in by_key.items()}),
            "}",
        ),
        (
            "The agents by the words in a transcript's path that may do so.",
            "SENDERS_BY_TRANSCRIPT: Mapping[str, str] = {",
            _entries({word: _quoted(id) for word, id in senders_by_transcript(agents).items()}),
            "}",
        ),
        (
            "The agents by the variables that name their homes, where files are protected.",
            "HOME_VARIABLES: Mapping[str, str] = {",
            _entries({name: _quoted(id) for name, id in agents_by_home_variable(agents).items()}),
            "}",
        ),
        (
            "A text without one of these names no protected file of an agent, and starts no agent that has no hooks.",
            "PROTECTED_WORDS = (",
            _items(sorted(protected_words(agents)), 4),
            ")",
        ),
    )
    return HEAD + "".join(
        "\n".join(["", *([f"# {about}"] if about else []), begin, *lines, end, ""])
        for about, begin, lines, end in parts
    )


def _items(words: Iterable[str], indent: int) -> Iterator[str]:
    return (f"{' ' * indent}{_quoted(word)}," for word in words)


def _entries(values: Mapping[str, str]) -> Iterator[str]:
    return (f"    {_quoted(key)}: {values[key]}," for key in sorted(values))


def _tuple(words: Sequence[str]) -> str:
    return f"({', '.join(map(_quoted, words))}{',' if len(words) == 1 else ''})"


def _quoted(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)


def main() -> None:
    FILE.write_text(text(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
