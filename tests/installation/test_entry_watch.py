"""Our entries in agents' settings, changed by others: what is noticed, announced once, put back and left."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from operator import methodcaller
from pathlib import Path
from typing import Any, cast

import pytest
from connect.sites import Person, own_agent_of_kiro
from desk import wait
from house import House
from live import Live
from plain import Plain

from tray.agents.codex.connector import _entries as codex_entries
from tray.agents.connection import Site
from tray.connect import apply_connect, connectors
from tray.errors import HooktrayError
from tray.installation import entry_watch
from tray.installation.entry_watch import RUNS, EntryWatch, EntryWatchOwner
from tray.ipc.client import send_request
from tray.ipc.health import parse_health
from tray.notify.service import AlertService
from tray.paths import locate
from tray.store.db import open_db
from tray.store.ledger import Ledger

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no inotify")
LONG = 60.0  # seconds on a busy machine
QUIET = 1.5  # seconds after which a change would have been announced, with room
THEME = '{\n  "theme": "dark"\n}\n'


class Tampered:
    """A home with agents connected, a tray, and other programs that write the agents' files."""

    def __init__(self, folder: Path, *agents: str) -> None:
        self.folder = folder
        self.agents = agents
        self.place = Plain(folder)
        self.settings = folder / ".claude" / "settings.json"
        self._logged = 0  # lines of earlier tests
        self._is_new = True  # no test has had it
        self._furnish()
        self.live = Live.fresh(self.place, folder)
        self.connect(*agents)
        wait(lambda: f"entries run {agents[-1]}" in self.ledger(), LONG, "the tray has looked at what was connected")

    def _furnish(self) -> None:
        """The agents' files as they are before `connect`."""
        for name in (".claude", ".config/shelley", ".x-code", "workspace/config"):
            (self.folder / name).mkdir(parents=True)
        self.settings.write_text(THEME)
        (self.folder / "workspace/config/agent.yaml").write_text("shell_hooks: {enabled: true}\n")
        own_agent_of_kiro(self.folder)

    def renew(self) -> None:
        """As at first: what an earlier test did to the agents' files is gone, and the tray has seen that."""
        if self._is_new:
            self._is_new = False
            return
        self.live.configure("")
        self.live.command("disconnect", *self.agents, "--yes")
        for found in self.folder.iterdir():
            if found.is_dir() and found != self.live.home:
                shutil.rmtree(found)
        self._furnish()
        self.connect(*self.agents)
        wait(lambda: not self.changes(), LONG, "nothing is to be announced any more")
        self._logged += len(self.logged())

    def ledger(self) -> str:
        """The database as bytes: what the ledger remembers of agents is in it."""
        files = (self.live.home / "state").glob("hooktray.db*")
        return "".join(file.read_bytes().decode("latin-1") for file in files)

    def changes(self) -> dict[str, dict[str, Any]]:
        reply = send_request(locate(str(self.live.home)).socket, {"op": "health"})
        return {one["agent"]: dict(one) for one in parse_health(reply)["changes"]}

    def causes(self, agent: str) -> list[str]:
        return list(self.changes().get(agent, {}).get("causes", ()))

    def noticed(self, agent: str) -> list[str]:
        return wait(lambda: self.causes(agent), LONG, f"the tray notices what was done to {agent}")

    def well(self, agent: str) -> None:
        wait(lambda: agent not in self.changes(), LONG, f"{agent} is as it was")

    def logged(self) -> list[str]:
        """The announcements in the log, since the test began."""
        logs = (self.live.home / "logs").glob("*.log")
        lines = [line for log in logs for line in log.read_text().splitlines()]
        return [line for line in lines if "our entr" in line and "WARNING" in line][self._logged :]

    def edit(self, file: Path, change: Callable[[Any], object]) -> None:
        """Edits the file as a program does that reads the JSON, changes it and writes the whole file."""
        document = json.loads(file.read_text())
        change(document)
        new = file.with_name(f"{file.name}.new")
        new.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        new.replace(file)

    def connect(self, *agents: str) -> None:
        self.live.connect(*agents)


def _made(folder: Path, *agents: str) -> Iterator[Tampered]:
    made = Tampered(folder, *agents)
    yield made
    made.place.close()


@pytest.fixture(scope="module")
def shared_tampered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tampered]:
    yield from _made(tmp_path_factory.mktemp("tampered"), "claude-code")


@pytest.fixture(scope="module")
def shared_several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tampered]:
    yield from _made(tmp_path_factory.mktemp("several"), "claude-code", "shelley", "starchild", "x-code")


@pytest.fixture
def tampered(shared_tampered: Tampered) -> Tampered:
    """One agent is connected: with all of them the tray has three times as much to look at."""
    shared_tampered.renew()
    return shared_tampered


@pytest.fixture
def several(shared_several: Tampered) -> Tampered:
    """One of each way to keep entries is connected: a settings file, executables, YAML, a plugin."""
    shared_several.renew()
    return shared_several


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Tampered]:
    """For a test that ends the tray, or after which the tray remembers more: no other test has this home."""
    yield from _made(tmp_path, "codex", "claude-code")


def group(document: Any) -> Any:
    """Returns the group of Hooktray's entry before a tool."""
    return document["hooks"]["PreToolUse"][0]


def lead_elsewhere(document: Any) -> None:
    entry = group(document)["hooks"][0]
    entry["command"] = entry["command"].replace("/h/bin/", "/other/bin/")


CLAUDE: dict[str, tuple[Callable[[Any], object], str]] = {
    "an event is gone": (lambda x: x["hooks"].pop("PreToolUse"), "entry_gone"),
    "all are gone": (lambda x: x.pop("hooks"), "entry_gone"),
    "the matcher is narrowed": (lambda x: group(x).update(matcher="Read"), "entry_narrowed"),
    "hooks are off": (lambda x: x.update(disableAllHooks=True), "entry_switched_off"),
    "the time limit is cut": (lambda x: group(x)["hooks"][0].update(timeout=1), "entry_altered"),
    "the type is another": (lambda x: group(x)["hooks"][0].update(type="prompt"), "entry_altered"),
    "a key is put in": (lambda x: group(x)["hooks"][0].update({"async": True}), "entry_altered"),
    "another home": (lead_elsewhere, "entry_elsewhere"),
}
CODEX = ("an event is gone", "the matcher is narrowed", "the time limit is cut")


def test_each_change_of_our_entries_is_noticed_and_put_back_byte_for_byte(tampered: Tampered) -> None:
    before = tampered.settings.read_bytes()

    for name, (change, cause) in CLAUDE.items():
        tampered.edit(tampered.settings, change)

        assert tampered.noticed("claude-code") == [cause], name
        assert tampered.changes()["claude-code"]["is_guard"] is True
        tampered.connect("claude-code")
        assert tampered.settings.read_bytes() == before, name
        tampered.well("claude-code")


def test_entries_whose_relay_was_deleted_with_its_environment_are_reported(tmp_path: Path, plain: Plain) -> None:
    live = Live.fresh(plain, tmp_path, starts=False)
    paths = locate(str(live.home))
    relay = tmp_path / "environment" / "hooktray-hook"
    for folder in (relay.parent, tmp_path / ".claude"):
        folder.mkdir()
    relay.write_text("#!/bin/sh\nexit 0\n")
    relay.chmod(0o755)
    paths.prepare()
    line = (str(relay), "--home", str(live.home))
    site = Site(paths=paths, relay=line, home=tmp_path, cwd=tmp_path, environment={})
    apply_connect(site, "claude-code", connectors()["claude-code"].connect(site))

    def changes() -> list[dict[str, Any]]:
        return [dict(one) for one in parse_health(send_request(paths.socket, {"op": "health"}))["changes"]]

    live.start()
    key = RUNS.format(agent="claude-code")
    wait(lambda: key in Ledger(open_db(paths.database, create=False)).state.settings, LONG, "the tray has looked")
    assert changes() == []
    shutil.rmtree(relay.parent)
    (change,) = wait(changes, LONG, "the tray notices that the relay is gone")
    assert (change["causes"], change["is_guard"]) == (["entry_relay_gone"], True)
    assert f"{relay} is not there any more" in live.cli("status").stdout.decode()

    assert live.cli("connect", "claude-code", "--yes").returncode == 0
    wait(lambda: not changes(), LONG, "nothing is to be announced any more")
    done = "the tray has tried the lines again"
    wait(lambda: "not there any more" not in live.cli("status").stdout.decode(), LONG, done)


def test_a_command_in_the_place_of_ours_stays_and_ours_is_beside_it_again(tampered: Tampered) -> None:
    tampered.edit(tampered.settings, lambda x: group(x)["hooks"][0].update(command="true"))

    assert tampered.noticed("claude-code") == ["entry_gone"]

    tampered.connect("claude-code")
    tampered.well("claude-code")
    groups = json.loads(tampered.settings.read_text())["hooks"]["PreToolUse"]
    assert [one["hooks"][0]["command"].split()[0] for one in groups] == ["true", "["]


def test_each_agents_files_are_watched(several: Tampered) -> None:
    home = several.folder
    files = {
        "shelley": home / ".config/shelley/hooks/new-conversation",
        "starchild": home / "workspace/config/shell_hooks.yaml",
        "x-code": home / ".x-code/plugins/cache/local/hooktray/1.0.0/.x-code-plugin/plugin.json",
    }
    before = {agent: (file.read_bytes(), file.stat().st_mode) for agent, file in files.items()}

    files["shelley"].chmod(0o600)
    files["starchild"].write_text(files["starchild"].read_text().replace("timeout: 20", "timeout: 1"))
    several.edit(files["x-code"], lambda x: group(x).update(failurePolicy="deny"))

    assert {agent: several.noticed(agent) for agent in files} == {agent: ["entry_altered"] for agent in files}
    for agent, file in files.items():
        several.connect(agent)
        several.well(agent)
        assert (file.read_bytes(), file.stat().st_mode) == before[agent]


def test_each_agents_own_off_switch_is_noticed(several: Tampered) -> None:
    home = several.folder
    (home / ".x-code/settings.json").write_text('{"enabledPlugins": {"hooktray@local": false}}')
    (home / "workspace/config/agent.yaml").write_text("shell_hooks: {enabled: false}\n")
    (home / ".claude/settings.local.json").write_text('{"disableAllHooks": true}')

    for agent in ("claude-code", "starchild", "x-code"):
        assert several.noticed(agent) == ["entry_switched_off"]

    (home / "workspace/config/agent.yaml").write_text("shell_hooks: {enabled: true}\n")
    several.well("starchild")


def trusted(hooks: Path) -> str:
    """What Codex writes into config.toml when its user trusts every entry in this file."""
    entries = codex_entries(hooks)
    return "".join(f'[hooks.state."{keys[0]}"]\ntrusted_hash = "{digest}"\n' for keys, digest in entries)


def test_what_others_do_to_codexs_entries_and_their_trust_is_noticed(own: Tampered) -> None:
    hooks = own.folder / ".codex" / "hooks.json"
    config, before = hooks.with_name("config.toml"), hooks.read_bytes()
    trust = trusted(hooks)
    assert trust.count("trusted_hash") > 3
    config.write_text(trust)
    wait(lambda: "entries run codex" in own.ledger(), LONG, "the tray has seen that its user trusts them")

    for name in CODEX:
        change, cause = CLAUDE[name]
        own.edit(hooks, change)
        assert cause in own.noticed("codex"), name
        own.connect("codex")
        assert hooks.read_bytes() == before, name
        own.well("codex")

    first = trust.split("[hooks.state.")[1]
    for text in (trust.replace(f"[hooks.state.{first}", ""), "[features]\nhooks = false\n" + trust):
        config.write_text(text)
        assert own.noticed("codex") == ["entry_switched_off"]
        config.write_text(trust)
        own.well("codex")


REMOVED = {
    "shelley": (".config/shelley/hooks/chat-message", "entry_file_gone"),
    "x-code": (".x-code/plugins/cache", "entry_file_gone"),
    "claude-code": (".claude", "entry_file_gone"),
}


def test_a_file_or_folder_that_is_gone_is_noticed_and_comes_back(several: Tampered) -> None:
    for agent, (name, cause) in REMOVED.items():
        away = several.folder / f"away-{agent}"

        (several.folder / name).rename(away)

        assert several.noticed(agent) == [cause]
        several.connect(agent)
        several.well(agent)


def test_settings_that_nobody_can_read_any_more_are_noticed(tampered: Tampered) -> None:
    before = tampered.settings.read_bytes()

    tampered.settings.write_bytes(b"{" + before)

    assert tampered.noticed("claude-code") == ["entry_unreadable"]
    tampered.settings.write_bytes(before)
    tampered.well("claude-code")


def test_hooktrays_own_writes_and_edits_of_other_keys_are_not_announced(several: Tampered) -> None:
    several.edit(several.settings, lambda x: x.update(theme="light", permissions={"allow": ["Read"]}))
    several.settings.write_text(json.dumps(json.loads(several.settings.read_text()), sort_keys=True))  # an editor
    mine = {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}
    several.edit(several.settings, lambda x: x["hooks"]["PreToolUse"].insert(0, mine))
    for word in ("disconnect", "connect", "connect", "disconnect"):
        several.live.command(word, *several.agents, "--yes")

    end = time.monotonic() + QUIET
    while time.monotonic() < end:
        assert several.changes() == {}
        threading.Event().wait(0.1)
    assert several.logged() == []


COMPACT = {"name": "tidy", "event": "compact_before", "agent": "claude-code", "type": "rule", "decision": "deny"}


def test_an_event_that_a_hook_needs_is_noticed_and_its_entry_added(several: Tampered) -> None:
    assert "PreCompact" not in json.loads(several.settings.read_text())["hooks"]

    several.live.config.write_text(json.dumps({"hooks": [COMPACT]}))

    assert several.noticed("claude-code") == ["entry_wanted"]
    change = several.changes()["claude-code"]
    assert change["text"] == f"{several.settings} has no entry for PreCompact, which a hook needs"
    assert change["is_guard"] is False
    assert set(several.changes()) == {"claude-code"}
    several.connect("claude-code")
    several.well("claude-code")
    assert "PreCompact" in json.loads(several.settings.read_text())["hooks"]

    several.live.config.write_text("hooks: []\n")
    several.connect("claude-code")
    assert "PreCompact" in json.loads(several.settings.read_text())["hooks"], "an entry that is there stays"


def test_the_same_change_is_announced_once_and_again_after_it_was_put_back(tampered: Tampered) -> None:
    for times in (1, 2):
        tampered.edit(tampered.settings, lambda x: x["hooks"].pop("Stop"))
        tampered.noticed("claude-code")
        tampered.edit(tampered.settings, methodcaller("update", theme=str(times)))
        payload = {"session_id": "s", "hook_event_name": "Notification", "message": "x"}
        tampered.live.relay("claude-code", "Notification", payload)  # which has the tray look at everything
        assert tampered.noticed("claude-code") == ["entry_gone"]
        assert len(tampered.logged()) == times
        tampered.connect("claude-code")
        tampered.well("claude-code")


class Owner:
    """Also stands in for the alerts."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.announced: list[str] = []
        self.withdrawn: list[str] = []

    def reading_site(self) -> Site:
        return self.person.site

    def recheck(self, seconds: float) -> None: ...
    def watch(self, files: object) -> None: ...

    def entries_changed(self, *words: str, **more: bool) -> str:
        self.announced += words[2:]
        return "a key"

    def withdraw(self, key: str) -> None:
        self.withdrawn.append(key)


def test_what_a_person_leaves_is_announced_by_no_later_tray_until_it_changes(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_watch, "CONFIRM", 0.0)
    owner = Owner(Person(tmp_path))
    settings = owner.person.home / ".claude" / "settings.json"

    def look(change: Callable[[Any], object] | None = None) -> EntryWatch:
        """A tray that begins, and looks twice."""
        if change:
            document = json.loads(settings.read_text())
            change(document)
            settings.write_text(json.dumps(document))
        tray = EntryWatch(cast(EntryWatchOwner, owner), house.stores.ledger, cast(AlertService, owner))
        for _ in range(2):
            tray.check()
        return tray

    owner.person.connect()
    tray = look(lambda x: group(x).update(matcher="Read"))
    with pytest.raises(HooktrayError, match="changed again"):
        tray.leave("claude-code", "another digest", "menu")
    tray.leave("claude-code", owner.announced[0], "menu")
    tray.check()
    look()

    assert (len(owner.announced), owner.withdrawn) == (1, ["a key"])
    look(lambda x: x.pop("hooks"))
    assert len(owner.announced) == 2


def test_what_happened_while_no_tray_ran_is_announced_by_the_next_one(own: Tampered) -> None:
    assert own.live.quit() == 0
    own.edit(own.settings, lambda x: x.pop("hooks"))

    own.live.start()

    assert own.noticed("claude-code") == ["entry_gone"]


def test_a_project_that_is_deleted_takes_its_entries_along(tampered: Tampered) -> None:
    project = tampered.folder / "project"
    project.mkdir()
    line = shlex.join(tampered.live.argv("connect", "claude-code", "--scope", "project", "--yes"))
    done = tampered.place.run(["/bin/sh", "-c", f"cd {project} && exec {line}"], timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    tampered.edit(project / ".claude/settings.json", lambda x: x["hooks"].pop("Stop"))
    tampered.noticed("claude-code")

    shutil.rmtree(project)

    tampered.well("claude-code")


def test_doctor_and_agents_find_the_same(tampered: Tampered) -> None:
    tampered.edit(tampered.settings, lambda x: group(x).update(matcher="Read"))
    tampered.noticed("claude-code")

    (row,) = [one for one in tampered.live.rows("agents") if one["agent"] == "claude-code"]
    done = tampered.place.run(tampered.live.argv("doctor", "--static", "--json"), timeout=60)
    found = [json.loads(line) for line in done.stdout.splitlines()]

    expected = f"{tampered.settings}: our entry for PreToolUse has other conditions (matcher)"
    assert (row["changed"], row["problem"]) == ([expected], expected)
    (finding,) = [one for one in found if one["check"] == "agent" and one["health"] == "broken"]
    assert finding["message"].endswith(expected)
    assert finding["remedy"] == "`hooktray connect claude-code` puts them back"
    assert tampered.changes()["claude-code"]["text"] == expected


def test_an_idle_tray_is_not_woken_and_its_watches_are_few(several: Tampered) -> None:
    process = several.live.process
    descriptors = Path(f"/proc/{process.pid}/fdinfo")

    def watches() -> int:
        texts = [one.read_text() for one in descriptors.iterdir()]
        return sum(text.count("inotify wd:") for text in texts)

    def woken() -> int:
        tasks = Path(f"/proc/{process.pid}/task").glob("*/status")
        lines = [line for task in tasks for line in task.read_text().splitlines()]
        return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))

    def is_still() -> bool:
        before = woken()
        threading.Event().wait(2)
        return woken() == before

    wait(is_still, 60, "two seconds without a single wake-up")
    assert watches() < 60
    assert process.poll() is None
