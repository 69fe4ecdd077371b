"""What hooks of the other dialects read of each recording, kept in goldens/<agent>.json; run it to write them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from dialects import recordings as recorder

from tray.dialects import DIALECTS

FOLDER = Path(__file__).parent / "goldens"


def recordings() -> Iterator[tuple[str, str]]:
    for path in sorted(recorder.FOLDER.glob("*/*.json")):
        yield path.parent.name, path.stem


def written(agent: str, name: str, dialect: str) -> str:
    return DIALECTS[dialect].stdin(recorder.recorded(agent, name)).decode()


def kept(agent: str) -> dict[str, str]:
    goldens: dict[str, str] = json.loads((FOLDER / f"{agent}.json").read_text(encoding="utf-8"))
    return goldens


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for agent in DIALECTS:
        names = [name for one, name in recordings() if one == agent]
        others = [dialect for dialect in DIALECTS if dialect != agent]
        goldens = {f"{dialect} {name}": written(agent, name, dialect) for name in names for dialect in others}
        text = json.dumps(goldens, indent=1, ensure_ascii=False)
        (FOLDER / f"{agent}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
