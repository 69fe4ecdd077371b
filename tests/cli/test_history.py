"""log, why, stats, export and replay: what they find, what they tell, and what they refuse."""

from __future__ import annotations

import csv
import io
import json
import signal
import time
from pathlib import Path

import pytest
from cli.commands import Commands
from clock import Clock
from every import every
from house import House
from live import PYTHON
from msgspec.structs import replace
from plain import Plain

from tray.cli.filters import parse_since
from tray.cli.history import cell
from tray.errors import HooktrayError
from tray.execution.process import RUN_VARIABLE
from tray.model.decision import Record, Verdict

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
GUARD = """case $(cat) in
*boom*) exit 7 ;;
*secret*|*masked*) echo '{"decision": "block", "reason": "no secrets"}' ;;
esac"""


@pytest.fixture
def lived(house: House) -> House:
    """Three decisions: one abstained, one denied, one with a failed hook."""
    house.hook("guard", on="tool_before", script=GUARD, failure="allow")
    for command in ("ls", "cat secret", "boom"):
        house.tool(command)
    house.stores.journal.close()
    return house


@every(
    ("words", "count"),
    [
        (["--verdict", "deny"], 1),
        (["--verdict", "abstain"], 2),
        (["--hook", "guard"], 3),
        (["--text", "cat secret"], 1),
        (["--project", "nowhere"], 0),
        (["--agent", "shelley"], 0),
        (["--event", "tool_before", "--session", "s-1"], 3),
        (["--since", "1h"], 3),
        (["--since", "2999-01-01"], 0),
    ],
)
def test_log_shows_the_rows_that_fit_its_filters(lived: House, typed: Commands, words: list[str], count: int) -> None:
    assert len(typed.rows("log", *words)) == count


@every(
    ("words", "message"),
    [
        (["log", "--verdict", "denied"], "did you mean `deny`"),
        (["log", "--agent", "claude"], "did you mean `claude-code`"),
        (["log", "--event", "PreTolUse"], "did you mean `PreToolUse`"),
        (["log", "--hook", "gaurd"], "did you mean `guard`"),
        (["export", "--hook", "zzz"], "`hooktray list` the hooks"),
        (["log", "--since", "yesterday"], "write 30m, 2h, 7d"),
        (["why", "nothing"], "no decision has the id `nothing`"),
        (["export", "--format", "xml"], "write jsonl or csv"),
        (["replay", "nothing"], "no decision has the id `nothing`"),
    ],
)
def test_invalid_words_are_refused_with_a_remedy(
    lived: House, typed: Commands, words: list[str], message: str
) -> None:
    with pytest.raises(HooktrayError) as caught:
        typed(*words)

    assert message in str(caught.value)


def test_log_names_the_tool_and_marks_a_rewrite(house: House, typed: Commands) -> None:
    house.hook(
        "softer", on="tool_before", script="""echo '{"updatedInput": {"command": "ls"}}'""", dialect="claude-code"
    )
    house.tool("rm -rf build")
    house.stores.journal.close()

    (row,) = typed.rows("log")
    line = typed("log").splitlines()[1].split("\t")

    assert (row["tool"], row["rewrites"]) == ("Bash", ["input"])
    assert line[-2:] == ["rewritten", "Bash · rm -rf build · rewritten by softer"]


def test_a_filter_without_matches_is_reported_differently_from_an_empty_journal(
    house: House, typed: Commands
) -> None:
    assert typed("log") == "No decisions yet.\n"
    house.tool()
    house.stores.journal.close()
    assert typed("log", "--project", "other") == "No decision matches.\n"


def test_a_moment_is_a_span_or_a_date() -> None:
    assert parse_since("2h", Clock(10_000.0)) == 2800.0
    assert parse_since("1970-01-02T00:00:00+00:00") == 86_400.0


def test_why_shows_the_whole_decision(house: House, typed: Commands) -> None:
    house.hook("guard", on="tool_before", script=GUARD + f"\necho used {SECRET} >&2")
    house.hook("resting", on="tool_before", script="true", enabled=False)
    house.hook("poor", on="tool_before", script="cat >/dev/null; echo 'MY_TOKEN: not set' >&2; exit 1")
    house.tool(f"cat secret {SECRET}", environment={"MY_TOKEN": "x"})
    house.stores.journal.close()

    text = typed("why", house.last.id)

    assert "Verdict: deny, because guard: no secrets" in text
    assert "guard: ok, deny, " in text
    assert "resting: not asked, because disabled" in text
    assert "`hooktray approve --env MY_TOKEN poor` lets it through" in text
    assert "The agent was told: " in text
    assert "Masked: payload.tool_input.command, " in text
    assert "used [masked" in text
    assert SECRET not in text
    (row,) = typed.rows("why", house.last.id)
    assert (row["ledger"], row["masked"]) == (house.stores.ledger.state.version, 1)
    assert json.loads(row["payload"])["session_id"] == "s-1"


def test_stats_count_each_hooks_turns_and_each_agents_answers(lived: House, typed: Commands) -> None:
    hook, agent, journal = typed.rows("stats")

    assert (hook["hook"], hook["runs"], hook["failed"], hook["skipped"]) == ("guard", 3, 1, 0)
    assert 0 < hook["p50"] <= hook["p95"]
    assert (agent["agent"], agent["abstain"], agent["deny"]) == ("claude-code", 2, 1)
    assert journal == {"of": "journal", "dropped": 0}
    assert "guard" in typed("stats", "--since", "1d")


def test_an_export_holds_every_row_in_either_form(lived: House, typed: Commands, tmp_path: Path) -> None:
    lines = typed.rows("export")
    typed("export", str(tmp_path / "out.csv"))

    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["id"] for row in table] == [line["id"] for line in lines]
    assert [line["verdict"] for line in lines] == ["abstain", "deny", "abstain"]
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o600
    with pytest.raises(HooktrayError, match="nothing is overwritten"):
        typed("export", str(tmp_path / "out.csv"))


@every("sign", ["=1+1", "+1", "-1", "@x", "|x", "%x", "\t=1", "\r=1", "\n=1", "  =1", "\uff1d1"])
def test_no_cell_of_a_table_is_a_formula(sign: str) -> None:
    assert str(cell(sign)).startswith("'")
    assert next(csv.reader(io.StringIO(str(cell("plain"))))) == ["plain"]
    assert cell(-1.5) == -1.5


def test_an_export_contains_no_terminal_control_characters(house: House, typed: Commands) -> None:
    house.tool("\x9b2J\u202e ls")
    house.stores.journal.close()

    for form in ("jsonl", "csv"):
        text = typed("export", "--format", form)
        assert {"\x9b", "\u202e", "\x1b"} & set(text) == set()


def test_follow_shows_what_comes_in_as_it_comes_in(house: House, tmp_path: Path) -> None:
    house.tool("ls")
    house.stores.journal.close()
    plain = Plain(tmp_path)
    process = plain.start([PYTHON, "-I", "-m", "tray", "--home", str(house.paths.home), "log", "--follow", "--json"])

    def printed() -> list[str]:
        lines = (tmp_path / "output").read_text().splitlines()
        return [str(json.loads(line)["id"]) for line in lines if line.endswith("}")]

    plain.wait(lambda: len(printed()) == 1, what="the row that was there")
    writer = type(house.stores.journal)(house.stores.database, wait=10.0)
    for number in range(3):
        writer.append(replace(ROW, id=f"new{number}"), commit=True)
    writer.close()
    plain.wait(lambda: len(printed()) == 4, what="the rows that came in")

    assert printed()[1:] == ["new0", "new1", "new2"]
    process.send_signal(signal.SIGINT)  # as with Ctrl-C
    assert process.wait(20) == 130


ROW = Record(
    id="x", at=time.time(), agent="claude-code", session="s", project="p", event="PreToolUse", kind="tool_before",
    verdict=Verdict.DENY, reason="no", ms=1.0,
)  # fmt: skip


# ---- replay


def test_a_replay_asks_the_hooks_in_force_and_writes_nothing(lived: House, typed: Commands) -> None:
    denied = lived.decisions[1][2]
    lived.hook("guard2", on="tool_before", script='cat >/dev/null; echo \'{"decision":"block","reason":"two"}\'')

    (row,) = typed.rows("replay", denied.id)

    assert (row["then"]["verdict"], row["now"]["verdict"], row["same"]) == ("deny", "deny", True)
    assert [hook["name"] for hook in row["hooks"]] == ["guard", "guard2"]
    assert row["now"]["reason"] == "guard: no secrets\nguard2: two"
    assert lived.stores.journal.count() == 3
    assert "so the hooks got Hooktray's" in row["inexact"][0]


def test_a_replay_of_a_masked_row_says_that_it_is_inexact(house: House, typed: Commands) -> None:
    house.hook("guard", on="tool_before", script=GUARD)
    house.tool(f"curl {SECRET}")
    masked = house.last.id
    house.tool("x" * 70_000)
    house.stores.journal.close()

    assert "inexact: 1 value masked" in typed("replay", masked)
    with pytest.raises(HooktrayError, match="does not hold the whole payload"):
        typed("replay", house.last.id)


def test_a_replay_against_an_edited_file_runs_that_file_and_approves_nothing(
    lived: House, typed: Commands, tmp_path: Path
) -> None:
    edited = tmp_path / "edited.sh"
    edited.write_text('#!/bin/sh\ncat >/dev/null; echo \'{"decision": "block", "reason": "edited"}\'\n')
    allowed, version = lived.decisions[0][2], lived.stores.ledger.state.version

    text = typed("replay", allowed.id, "--hook", "guard", "--against", str(edited))

    assert f"NOT APPROVED: what ran is {edited}" in text
    assert "then: abstain\nnow:  deny, guard: edited" in text
    assert lived.stores.ledger.state.version == version
    (row,) = typed.rows("replay", allowed.id, "--hook", "guard")
    assert (row["now"]["verdict"], row["unapproved"]) == ("abstain", None)


def test_a_replay_sends_nothing(house: House, typed: Commands) -> None:
    house.tool("ls")
    house.hook("far", on="tool_before", type="http", url="https://guard.example.com/hook")
    house.stores.journal.close()

    (row,) = typed.rows("replay", house.last.id)

    assert [(hook["name"], hook["status"]) for hook in row["hooks"]] == [("far", "skipped")]
    with pytest.raises(HooktrayError, match="would send the event away"):
        typed("replay", house.last.id, "--hook", "far")


def test_a_hook_cannot_replay(lived: House, typed: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUN_VARIABLE, "1")

    with pytest.raises(HooktrayError, match="a hook cannot replay"):
        typed("replay", lived.last.id)
