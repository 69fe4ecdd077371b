"""The whole product on the desk: a real tray process, real relays, real clicks."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import patient_relay
from desk import Desk, MenuRow, wait
from plain import Plain

from tray import relay
from tray.approvals.catalog import HookCatalog
from tray.cli import run_command
from tray.doctor.reports import hook_rows
from tray.engine.log_rows import log_row
from tray.engine.stores import open_stores
from tray.errors import IpcError
from tray.ipc.client import send_request
from tray.paths import locate
from tray.store.switch import SwitchState

PYTHON = sys.executable
PROGRAM = ("-m", "tray")
PERMISSION = {
    "session_id": "s-1",
    "cwd": "/w/api",
    "hook_event_name": "PermissionRequest",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf build"},
}
PAYLOADS = Path(__file__).parent / "agents" / "payloads"


class Live:
    """One tray with a home of its own, not made and not started yet: `fresh` does both."""

    def __init__(self, place: Desk | Plain, home: Path, *, program: Sequence[str] = PROGRAM) -> None:
        self.place = place
        self.home = home
        self.config = home / "config" / "hooktray.yaml"
        self.program = program  # what Python is to run

    @classmethod
    def fresh(
        cls,
        place: Desk | Plain,
        folder: Path,
        *,
        configuration: Mapping[str, Any] | str = "",
        starts: bool = True,
        program: Sequence[str] = PROGRAM,
    ) -> Self:
        live = cls(place, folder / "h", program=program)
        live.config.parent.mkdir(parents=True)
        live.configure(configuration)
        if starts:
            live.start()
        return live

    def start(self, *argv: str) -> None:
        self.process = self.place.start([PYTHON, "-I", *self.program, "--home", str(self.home), "run", *argv])
        wait(self.is_running, 60, "the tray answers")

    def is_running(self) -> bool:
        """What `hooktray status` asks, without a process for each time."""
        try:
            return bool(send_request(locate(str(self.home)).socket, {"op": "ping"}))
        except IpcError:
            return False

    def configure(self, configuration: Mapping[str, Any] | str) -> None:
        text = configuration if isinstance(configuration, str) else json.dumps(configuration, ensure_ascii=False)
        self.config.write_text(text)

    def script(self, name: str, text: str) -> Path:
        path = self.config.parent / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    # ---- the agent's side

    def relay(
        self, agent: str, event: str, payload: Mapping[str, Any] | bytes, *, is_hung: bool = False
    ) -> subprocess.CompletedProcess[bytes]:
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return self.place.run(self.relay_argv(agent, event, is_hung=is_hung), input=body, timeout=60)

    def start_relay(
        self, agent: str, event: str, payload: Mapping[str, Any], *, argv: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """Starts a relay and does not wait for its answer; `communicate` reads it."""
        process = subprocess.Popen(
            argv or self.relay_argv(agent, event),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(self.place.environment),
            cwd=self.place.folder,
        )
        assert process.stdin is not None
        with process.stdin as pipe:
            pipe.write(json.dumps(payload).encode())
        process.stdin = None  # so that communicate() takes it as said
        return process

    def relay_argv(self, agent: str, event: str, *, is_hung: bool = False) -> list[str]:
        """The relay waits for a slow tray; for one that `is_hung` it waits no longer than usual."""
        script = relay.__file__ if is_hung else patient_relay.__file__
        return [PYTHON, "-I", "-S", script, "--home", str(self.home), agent, event]

    # ---- the user's side

    @property
    def desk(self) -> Desk:
        assert isinstance(self.place, Desk), "there is no desktop here"
        return self.place

    def cli(self, *argv: str) -> subprocess.CompletedProcess[bytes]:
        return self.place.run(self.argv(*argv))

    def argv(self, *words: str) -> list[str]:
        return [PYTHON, "-I", "-m", "tray", "--home", str(self.home), *words]

    def rows(self, *argv: str) -> list[dict[str, Any]]:
        """What a reading command prints with `--json`, without a process; cli/test_tray_reports.py runs it."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.command(*argv, "--json")
        return [json.loads(line) for line in printed.getvalue().splitlines()]

    def cli_json(self, *argv: str) -> list[dict[str, Any]]:
        done = self.cli(*argv, "--json")
        assert done.returncode == 0, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]

    def log(self) -> list[dict[str, Any]]:
        """What `hooktray log --json` prints, without a process for each time; tests/cli/test_history.py runs that."""
        paths = locate(str(self.home))
        if not paths.database.exists():
            return []
        journal = open_stores(paths, create=False).journal
        return [json.loads(json.dumps(log_row(record))) for record in journal.recent(1000, brief=True)]

    def wait_log(self, count: int) -> list[dict[str, Any]]:
        def enough() -> list[dict[str, Any]]:
            rows = self.log()
            return rows if len(rows) >= count else []

        return wait(enough, 60, f"{count} rows")

    def states(self) -> dict[str, str]:
        """The state of each hook as `hooktray list --json` has it, in the place's environment, without a process."""
        paths = locate(str(self.home))
        with self._in_place():
            stores = open_stores(paths)
            catalog = HookCatalog(paths, stores.ledger, stores.copies)
            catalog.refresh()
            return {row["name"]: row["state"] for row in hook_rows(catalog)}

    def connect(self, *agents: str, environment: Mapping[str, str] | None = None) -> None:
        """What `hooktray connect AGENT --yes` does, without a process; tests/cli/test_agents.py runs that."""
        self.command("connect", *agents, "--yes", environment=environment)

    def command(self, *argv: str, environment: Mapping[str, str] | None = None) -> None:
        """What a command does that succeeds, without a process; not for commands that ask who started them.

        Its `environment` comes on top of the place's.
        """
        with self._in_place(environment), contextlib.chdir(self.place.folder):
            assert run_command(["--home", str(self.home), *argv]) == 0

    @contextlib.contextmanager
    def _in_place(self, environment: Mapping[str, str] | None = None) -> Iterator[None]:
        kept = dict(os.environ)
        os.environ.clear()
        os.environ.update({**self.place.environment, **(environment or {})})
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(kept)

    def approvals(self) -> dict[str, str]:
        """The digests of what the ledger has as approved, by name, without a process for each time."""
        ledger = open_stores(locate(str(self.home)), create=False).ledger
        return {one.hook.name: one.digest for one in ledger.state.approved.values()}

    def switch(self) -> SwitchState:
        """Whether hooks run, as `hooktray status` says, without a process for each time."""
        return open_stores(locate(str(self.home)), create=False).switch.state()

    def health(self) -> dict[str, Any]:
        """What the tray reports of itself to `hooktray status`."""
        return dict(send_request(locate(str(self.home)).socket, {"op": "health"}))

    def menu(self, *path: str) -> list[MenuRow]:
        rows = list(self.desk.menu_labels(self.item))
        for label in path:
            rows = list(next(row for row in rows if row.label.startswith(label)).children)
        return [row for row in rows if row.visible and not row.separator]

    def click(self, *path: str) -> None:
        self.desk.click(path, self.item)

    def approve(self, name: str) -> None:
        """What a person does: open the menu, go to Approvals, the hook, Approve."""

        def waiting() -> bool:
            return any(row.label.startswith(name) for row in self.menu("Approvals"))

        before = self.approvals().get(name)
        self.desk.wait(waiting, what=f"{name} waits")
        self.click("Approvals", name, "Approve")
        self.desk.wait(lambda: self.approvals().get(name) not in (None, before), what=f"{name} is approved")

    @property
    def item(self) -> Any:
        return self.desk.wait_item(self.process.pid)

    def suspend(self) -> None:
        """Returns when every thread of the tray stands still, until `resume`: the signal alone only asks for it."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def quit(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def recorded(agent: str, name: str) -> bytes:
    """A recorded payload as it was on the wire: one compact line."""
    return json.dumps(json.loads((PAYLOADS / agent / f"{name}.json").read_text()), ensure_ascii=False).encode()
