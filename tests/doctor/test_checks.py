"""`hooktray doctor` on real hooks and files: its message about each, and the remedy that it names."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from connect.trays import started
from desk import wait
from house import House
from live import Live
from msgspec.structs import replace
from plain import Plain
from sources.packs import make as make_pack
from store.writing import write

from tray.doctor import desktop_services, hooks
from tray.doctor.checklist import CHECKS, render, run_checks
from tray.doctor.finding import Cause, CheckContext, Finding, Health, failing_names
from tray.doctor.live import LiveDoctor
from tray.engine.samples import sample
from tray.errors import HooktrayError
from tray.ipc.health import TrayHealth, parse_health
from tray.model.decision import Record, Verdict
from tray.model.event import PROBE_PREFIX
from tray.model.hook import Match
from tray.store.copies import SPARE
from tray.store.ledger import LedgerAction
from tray.store.lost_guards import LostGuards

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")
RECORD = Record(
    id="", at=0.0, agent="claude-code", session="s", project="p", event="PreToolUse", kind="tool_before",
    verdict=Verdict.ABSTAIN, reason="", ms=1.0,
)  # fmt: skip
APPROVALS = "read and decide it in the tray's menu, Approvals, or on the page: hooktray open"


def findings(house: House, check: str, *, static: bool = False) -> list[Finding]:
    return [one for one in run_checks(house.paths, None, static=static) if one.check == check]


def of(house: House, name: str, *, static: bool = False) -> list[tuple[str, str, str]]:
    """What it says of one hook."""
    found = findings(house, "hook", static=static)
    return [(one.health.value, one.message, one.remedy) for one in found if one.name == name]


def approve(house: House, name: str) -> None:
    standing = house.state(name)
    house.consent.approve(standing.key, standing.digest, "test")


def test_a_sound_pack_is_reported_with_its_licence(house: House, tmp_path: Path) -> None:
    house.configure({"sound_pack": str(make_pack(tmp_path / "pack"))})

    rows = [one.message for one in findings(house, "sound", static=True)]

    assert "Orc Peon 1.0.0 by somebody, licence: CC-BY-NC-4.0" in rows


FOUND: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "refuses": ({"script": "echo no >&2; exit 2"}, "ok", "deny on claude-code's PreToolUse,", ""),
    "in another format": (
        {"script": """cat >/dev/null; echo '{"cancel": true}'"""},
        "attention",
        "It refused this harmless event: Bash · ls -la; read as a refusal in the format of cline",
        "write `dialect: cline` in ",
    ),
    "switched off": (
        {"script": "exit 9", "enabled": False},
        "attention",
        "switched off by its own `enabled: false`",
        "write `enabled: true`",
    ),
    "a module": (
        {"command": "python3 -m guards", "approved": False},
        "broken",
        "python -m runs what the agent's folder holds",
        "name the script, or write -I -m: ",
    ),
    "pending": (
        {"script": "exit 0", "approved": False},
        "attention",
        "waits for your approval and does not run",
        APPROVALS,
    ),
    "missing": (
        {"command": "./nowhere.sh", "approved": False},
        "broken",
        "",
        "write its path, or put it there first: ",
    ),
    "a URL": ({"type": "http", "url": "http://127.0.0.1:9/x", "allow_local": ["127.0.0.1:9"]}, "broken", "", ""),
}


@pytest.mark.parametrize("case", FOUND)
def test_a_hook_is_reported_with_its_health_and_its_remedy(house: House, case: str) -> None:
    keys, health, message, remedy = FOUND[case]
    house.hook("guard", on="tool_before", **keys)

    (found,) = of(house, "guard")

    assert found[0] == health
    assert found[1].startswith(message)
    assert remedy in found[2]


def test_a_guard_that_refuses_because_its_program_is_broken_is_broken(house: House) -> None:
    house.hook("guard", on="tool_before", script="if [ 1 ; then")

    ((health, message, remedy),) = of(house, "guard")

    assert (health, message.split(";")[0]) == ("broken", "It refused this harmless event: Bash · ls -la")
    assert "by the exit 2 of a broken program: " in message
    assert remedy.startswith("correct the script or its command in ")


def test_a_hook_that_runs_is_ok_and_can_tell_that_it_is_a_test(house: House) -> None:
    house.hook("guard", on="tool_before", script='echo "$HOOKTRAY_TEST" > "$HOOK_SOURCE_DIR/seen"')

    ((health, message, remedy),) = of(house, "guard")

    assert (health, message[:36], remedy) == ("ok", "abstain on claude-code's PreToolUse,", "")
    assert (house.paths.config.parent / "seen").read_text() == "1\n"
    assert house.stores.journal.count() == 0


def test_static_runs_nothing(house: House) -> None:
    house.hook("guard", on="tool_before", script='touch "$HOOK_SOURCE_DIR/seen"; exit 9')

    assert of(house, "guard", static=True) == [("ok", "its approved copy is intact", "")]
    assert not (house.paths.config.parent / "seen").exists()


@pytest.mark.parametrize(
    ("script", "cause", "remedy"),
    [
        ("sleep 30", "timed out after 0.3 s", "make it quicker, or raise its `timeout:` in "),
        ("exit 9", "exit 9", "`hooktray test PreToolUse --agent claude-code --hook guard` shows all of it"),
        ("kill -9 $$", "signal 9", "`hooktray test"),
        ("no-such-program-here", "exit 127", "a program that the script starts is not there"),
    ],
)
def test_a_hook_that_fails_is_broken_and_has_its_remedy(house: House, script: str, cause: str, remedy: str) -> None:
    house.hook("guard", on="tool_before", script=script, timeout=0.3 if "sleep" in script else 20)

    ((health, message, advice),) = of(house, "guard")

    assert health == "broken"
    assert cause in message
    assert advice.startswith(remedy)


@pytest.mark.parametrize("dialect", ["starchild", "x-code"])
def test_output_that_is_no_json_deserves_a_look(house: House, dialect: str) -> None:
    house.hook("guard", on="tool_before", script="echo hello", dialect=dialect)

    ((health, message, remedy),) = of(house, "guard")

    assert health in ("attention", "broken")
    assert "JSON" in message
    assert remedy == "print JSON or nothing on stdout, and words for people on stderr"


@pytest.mark.parametrize("static", [True, False])
def test_a_script_without_its_bit_is_named_with_the_command_that_sets_it(house: House, static: bool) -> None:
    script = house.script("guard.sh", "exit 0")
    script.chmod(0o600)
    house.hook("guard", on="tool_before", command="./guard.sh")

    ((health, message, remedy),) = of(house, "guard", static=static)

    assert (health, message) == ("broken", f"not executable: {script}")
    assert remedy == f"chmod +x {script}"
    script.chmod(0o700)
    assert of(house, "guard", static=static)[-1][0] == "ok"


def test_a_remedy_can_be_pasted_whatever_the_folder_is_called(tmp_path: Path) -> None:
    house = House(tmp_path / "home ü; rm")
    script = house.script("guard.sh", "exit 0")
    script.chmod(0o600)
    house.hook("guard", on="tool_before", command="./guard.sh")

    ((_, _, remedy),) = of(house, "guard", static=True)

    house.close()
    assert shlex.split(remedy) == ["chmod", "+x", str(script)]


def test_a_missing_interpreter_is_named(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 0", approved=False)
    script = house.paths.config.parent / "guard.sh"
    script.write_text("#!/no/such/python\nprint()\n")
    approve(house, "guard")

    ((health, message, remedy),) = of(house, "guard", static=True)

    assert (health, message) == ("broken", f"interpreter not found: '/no/such/python', named by {script}")
    assert remedy.startswith("install it, or correct the script's first line")


def test_a_changed_hook_deserves_a_look_and_its_copy_is_tried(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    house.script("guard.sh", "exit 9")

    changed, tried = of(house, "guard")

    assert changed == ("attention", "changed since approval; the approved copy runs", APPROVALS)
    assert tried[0] == "ok"


def test_a_damaged_copy_is_broken(house: House) -> None:
    standing = house.hook("guard", on="tool_before", script="exit 0")
    copy = house.stores.copies.path(standing.digest, str(house.paths.config.parent / "guard.sh"))
    house.script("guard.sh", "exit 3")  # it cannot be mended from the file
    shutil.rmtree(house.stores.copies.folder / standing.digest / SPARE)  # nor from its spare bytes
    copy.chmod(0o700)
    copy.write_text("#!/bin/sh\nexit 2\n")

    assert [row[0] for row in of(house, "guard", static=True)] == ["attention", "broken"]
    assert hooks.broken_hooks(
        CheckContext(paths=house.paths, stores=house.stores, catalog=house.catalog, static=True)
    ) == {"guard"}


class Silent:
    """Stand-in for the tray: it reports nothing."""

    def health(self) -> TrayHealth:
        return {}


def test_hooks_that_look_broken_and_hooks_that_failed_are_counted_once_each(house: House) -> None:
    for name in ("lost", "guard"):
        house.hook(name, on="tool_before", command="./nowhere.sh", approved=False)
    doctor = LiveDoctor(house.paths, house.stores, house.catalog, Silent())
    doctor.refresh()

    assert doctor.failing_hooks(frozenset({"guard", "revoked long ago"})) == {"lost", "guard"}
    assert doctor.failing_hooks(frozenset()) == doctor.broken


def test_the_shipped_slash_command_runs_where_the_doctor_stands(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = Path(__file__).parents[2] / "examples" / "slash_files.sh"
    house.hook("files", on="slash/files", agent="shelley", command=str(script), dialect="shelley", failure="block")

    ((health, message, _),) = of(house, "files")

    assert (health, message.split(",")[0]) == ("ok", "abstain on shelley's slash/files")


def test_withheld_variables_that_a_script_names_are_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "x")
    monkeypatch.setenv("PYTHONPATH", "/x")
    house.hook("guard", on="tool_before", script=': "$DEPLOY_TOKEN" "$PYTHONPATH"')

    secret, injecting, tried = of(house, "guard")

    assert secret[1] == "its script names variables that are withheld: DEPLOY_TOKEN"
    assert secret[2] == "if it shall have them: `hooktray approve --env DEPLOY_TOKEN guard`"
    assert injecting[1] == "its script names variables that no hook gets: PYTHONPATH"
    assert tried[0] == "ok"


def test_a_prompt_hook_before_every_call_of_a_model_is_warned_of(house: House) -> None:
    house.hook("judge", on="model_before", type="prompt", prompt="Fine?")

    costly, without = of(house, "judge", static=True)

    assert (costly[0], "costs" in costly[1]) == ("attention", True)
    assert without[0::2] == ("broken", "write `llm:` in hooktray.yaml and confirm it in the tray's menu")
    assert of(house, "judge")[1][0] == "broken"


def test_an_event_that_nobody_knows_any_more_is_broken(house: House) -> None:
    standing = house.hook("old", on="tool_before", script="exit 0")
    hook = replace(standing.hook, match=replace(standing.hook.match, event="tool_dreamt"))
    house.stores.ledger.append(
        LedgerAction.APPROVE,
        standing.key,
        standing.digest,
        definition=hook.definition,
        position=(0, 0),
        channel="test",
    )

    assert ("broken", "no agent has the event `tool_dreamt`, so it is never asked") in [
        row[:2] for row in of(house, "old")
    ]


def test_the_event_to_try_a_hook_with_is_one_that_it_is_asked_about() -> None:
    assert sample(Match(event="turn_end")) == ("claude-code", "Stop")
    assert sample(Match(event="end-of-turn", agents=("shelley",))) == ("shelley", "end-of-turn")
    assert sample(Match(event="slash/deploy", agents=("shelley",))) == ("shelley", "slash/deploy")
    assert sample(Match(event="round_end", format="x-code", native="TurnComplete")) == ("x-code", "TurnComplete")
    assert sample(Match(event="Stop")) is None


def happened(house: House, count: int, **more: Any) -> None:
    found = [replace(RECORD, id=f"{number}{more}", at=9e9, **more) for number in range(count)]
    write(house.stores.database, found)


@pytest.mark.parametrize(("count", "hooks", "told_of"), [(25, (), 1), (5, (), 0), (25, ({"name": "guard"},), 0)])
def test_a_matcher_that_matched_nothing_deserves_a_look(
    house: House, count: int, hooks: tuple[dict[str, str], ...], told_of: int
) -> None:
    house.hook("guard", on="tool_before", script="exit 0", matcher="rm -fr")
    house.hook("any", on="tool_before", script="exit 0")
    happened(house, count, hooks=hooks)
    happened(house, 30, event="Stop", kind="turn_end")

    found = findings(house, "matcher", static=True)

    assert len(found) == told_of
    if found:
        assert found[0].message == "`matcher: rm -fr` matched none of the latest 25 events of its kind"


def test_the_switch_and_a_pause_are_reported_and_hooks_are_not_tried(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 9")
    house.stores.switch.set_enabled(False, "test")

    (switch,) = findings(house, "switch")

    assert (switch.health, switch.message, switch.remedy) == (Health.ATTENTION, "off: no hook runs", "hooktray on")
    assert of(house, "guard") == [("attention", "not tried: switch off", "`hooktray on` switches hooks on")]
    house.stores.switch.set_enabled(True, "test")
    house.stores.switch.pause(9e9, agent="shelley", channel="test")
    assert [one.name for one in findings(house, "switch", static=True)] == ["shelley"]


def test_a_hosts_own_switch_is_told(house: House, tmp_path: Path) -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    (tmp_path / "settings.json").write_text(json.dumps({"disableAllHooks": True, "hooks": hooks}))
    house.configure({"sources": [{"claude-code": str(tmp_path / "settings.json")}]})

    (found,) = findings(house, "hook", static=True)

    assert found.health is Health.ATTENTION
    assert "disableAllHooks" in found.message


def test_a_broken_file_and_a_broken_source_are_told_with_their_place(house: House, tmp_path: Path) -> None:
    house.configure({"sources": [{"claude-code": str(tmp_path / "no.json")}]})
    (source,) = findings(house, "source", static=True)
    house.configure("turn_quiet_second: 3")
    (broken,) = findings(house, "configuration", static=True)

    assert (source.health, "no.json" in source.message) == (Health.ATTENTION, True)
    assert broken.message == f"{house.paths.config}:1:1: turn_quiet_second: unknown key `turn_quiet_second`"
    assert (broken.health, broken.remedy) == (Health.BROKEN, "did you mean `turn_quiet_seconds`?")


def test_a_setting_that_nobody_confirmed_is_told(house: House) -> None:
    house.configure({"without_tray": "allow"})

    assert [one.name for one in findings(house, "configuration", static=True)] == ["without_tray", "hooktray.yaml"]


def test_what_only_the_tray_knows_is_told(house: House) -> None:
    reply = {"pid": 7, "icon": "", "reason": "no tray", "background": [[99, 12.0]], "late": 3, "sound": "no device"}
    unwritable = {"pid": 7, "journal": "hooktray.db: read-only\n  make it writable"}

    rows = {one.check: one for one in run_checks(house.paths, parse_health(reply), static=True)}
    (journal,) = (
        one for one in run_checks(house.paths, parse_health(unwritable), static=True) if one.check == "journal"
    )

    assert rows["tray"].message == "running, process 7"
    assert (rows["icon"].message, rows["icon"].health) == ("no tray", Health.ATTENTION)
    assert rows["background"].remedy.startswith("kill -- -99")
    assert (rows["journal"].message, rows["sound"].message) == ("3 answers were sent before their row", "no device")
    assert rows["notifications"].health is Health.ATTENTION
    assert (journal.health, journal.remedy) == (Health.BROKEN, "make it writable")
    assert journal.message == "cannot be written: hooktray.db: read-only"


def test_a_damaged_database_is_broken_and_one_set_aside_is_remembered(house: House) -> None:
    aside = house.paths.state / "hooktray.db.damaged-20261121-080000"
    aside.write_bytes(b"x")
    (found,) = findings(house, "database", static=True)
    house.stores.journal.close()
    house.paths.database.write_bytes(b"no database at all" * 1000)

    damaged = list(run_checks(house.paths, None, static=True))

    assert found.remedy == (
        f"approve the hooks of each source again in the tray's menu, Approvals; then remove {aside}"
    )
    assert [(one.check, one.health) for one in damaged] == [("database", Health.BROKEN)]
    assert "hooktray run" in damaged[0].remedy


def test_without_a_tray_a_loss_that_was_not_read_is_not_an_intact_database(house: House) -> None:
    LostGuards(house.stores.database).begin(())

    found = next(one for one in findings(house, "tray", static=True) if one.cause is Cause.STATE_LOST)

    assert not findings(house, "database", static=True)
    assert "All approvals are lost" in found.message


def test_a_hook_cannot_have_hooks_tried(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKTRAY_RUN", "1")

    with pytest.raises(HooktrayError, match="a hook cannot try hooks"):
        list(run_checks(house.paths, None))
    assert list(run_checks(house.paths, None, static=True))


def test_people_read_what_is_broken_first_and_the_counts_last() -> None:
    good = Finding(cause=Cause.RELAY_OK, name="relay")
    bad = Finding(cause=Cause.HOOK_BROKEN, name="guard", values={"problem": "exit 9", "remedy": "mend it"})

    assert render([good, bad]).splitlines() == [
        "broken     hook: guard: exit 9",
        "           mend it",
        "ok         relay: native",
        "1 broken, 0 attention, 1 ok",
    ]
    assert failing_names([good, bad, bad]) == {"guard"}
    assert CHECKS[0].id == "tray"
    assert len(Cause.__members__) == len(Cause)  # no cause is an alias of another with the same words


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Live]:
    live = started(tmp_path, [{"event": "turn_end", "command": "./nap.sh"}], {"nap.sh": "sleep 60 >/dev/null 2>&1 &"})
    yield live
    assert isinstance(live.place, Plain)
    live.place.close()


def test_a_connected_agents_own_line_is_tried_and_children_are_listed(running: Live, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    assert running.cli("connect", "claude-code", "--yes").returncode == 0
    running.relay("claude-code", "Stop", {"hook_event_name": "Stop", "session_id": "s", "cwd": str(tmp_path)})
    running.wait_log(1)

    done = running.cli("doctor", "--json")
    found = {row["check"]: row for row in map(json.loads, done.stdout.splitlines())}

    assert done.returncode == 0, done.stdout
    assert found["agent"]["name"] == "claude-code"
    assert ", firing, last event: 2" in found["agent"]["message"]
    ours = [row for row in running.log() if row["session"].startswith(PROBE_PREFIX)]
    assert [row["test"] for row in ours] == [True]  # it counts for nothing: statistics, matchers, "last event"
    assert found["background"]["remedy"].startswith("kill -- -")
    assert found["tray"]["message"].startswith("running")
    assert found["icon"]["health"] == "attention"
    assert found["hook"]["health"] == "ok"


def test_a_line_that_does_not_reach_the_tray_is_broken(running: Live, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    running.cli("connect", "claude-code", "--yes")
    settings = tmp_path / ".claude" / "settings.json"
    line = settings.read_text()
    settings.write_text(
        line.replace("hooktray-hook claude-code ", f"hooktray-hook --home {tmp_path}/other claude-code ")
    )
    assert settings.read_text() != line

    done = wait(lambda: running.cli("doctor"), what="an answer")

    assert done.returncode == 1
    assert b"broken     agent: claude-code" in done.stdout
    assert b"hooktray connect claude-code leads them here" in done.stdout


def test_the_cure_of_silence_is_one_of_the_system_in_use(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    context = CheckContext(
        paths=house.paths, stores=house.stores, catalog=house.catalog, tray={"sound": "no device"}, static=True
    )
    silent = {"linux": Cause.SOUND_NO_PLAYER, "darwin": Cause.SOUND_NO_DEVICE, "win32": Cause.SOUND_NO_DEVICE}
    for system, cause in silent.items():
        monkeypatch.setattr("tray.doctor.desktop_services.sys", SimpleNamespace(platform=system))
        assert [one.cause for one in desktop_services.sound(context)] == [cause]
