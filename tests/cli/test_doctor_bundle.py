"""What a person sends with a bug report: one private text without secrets, payloads and the home folder's name."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from house import House

from tray.cli.doctor import LOG_LINES, bundle_text, write_bundle
from tray.errors import HooktrayError

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def lived(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("HOME", str(house.root))
    house.hook("no-secrets", on="tool_before", script="exit 0")
    house.tool("rm -rf payload-of-mine")
    house.stores.journal.close()
    text = house.paths.config.read_text()
    house.paths.config.write_text(f"# token: {TOKEN}\n# {house.root}/projects\n{text}")
    lines = [f"line {number}" for number in range(LOG_LINES + 50)]
    (house.paths.logs / "hooktray.log").write_text("\n".join([*lines, f"password={TOKEN}"]) + "\n")
    return house


def test_it_has_versions_settings_and_the_end_of_the_log_and_no_secret(lived: House) -> None:
    text = bundle_text(lived.paths, ())

    for part in ("Hooktray ", "Python ", "== Settings ==", '"name": "no-secrets"', f"line {LOG_LINES + 49}"):
        assert part in text
    for part in (TOKEN, str(lived.root), "payload-of-mine", "line 10\n"):
        assert part not in text
    assert "~/projects" in text


def test_it_is_a_new_private_file(lived: House, tmp_path: Path) -> None:
    file = tmp_path / "bundle.txt"

    write_bundle(str(file), lived.paths, ())

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().startswith("Hooktray support bundle.")
    with pytest.raises(HooktrayError, match="is there already"):
        write_bundle(str(file), lived.paths, ())
