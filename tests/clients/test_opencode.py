"""The real OpenCode: all scenes."""

from __future__ import annotations

from pathlib import Path

from clients.client import Session, session
from clients.opencode import FOLDER, OPENCODE, OWN_PLUGIN
from clients.scenes import Scenes
from connect.sites import tree


class TestOpenCode(Scenes):
    client = OPENCODE

    def settings_hold_what_was_there(self, one: Session) -> None:
        assert (one.home / FOLDER / "plugins" / "own.js").read_text() == OWN_PLUGIN
        assert (one.home / "own-plugin-ran").exists()

    def test_disconnecting_restores_every_byte(self, tmp_path: Path) -> None:
        one = session(self.client, tmp_path)
        try:
            before = tree(one.home / FOLDER)
            one.connect()
            connected = one.settings.read_bytes()
            again = one.hooktray("connect", self.client.agent, "--yes")
            assert (again.returncode, one.settings.read_bytes()) == (0, connected)

            done = one.hooktray("disconnect", self.client.agent, "--yes")

            assert done.returncode == 0, done.stderr.decode()
            assert tree(one.home / FOLDER) == before
        finally:
            one.close()
