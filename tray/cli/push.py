"""`hooktray push`: where notifications are pushed to, a test of it, and a URL for the secret store."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from getpass import getpass

from tray.approvals.guarded_settings import settings_in_force
from tray.cli.command_line import Json
from tray.cli.views import table
from tray.errors import HooktrayError
from tray.notify.push import message
from tray.notify.push.sender import SendRequest
from tray.notify.push.sender_process import PushProcesses
from tray.paths import Paths
from tray.settings import PushTarget
from tray.sources import configuration
from tray.store import push_secrets
from tray.store.db import open_db
from tray.store.ledger import Ledger
from tray.text import push_urls
from tray.text.push_urls import label


def show(paths: Paths, as_json: Json = False) -> None:
    targets = _targets(paths)
    if as_json:
        for one in targets:
            print(
                json.dumps({"service": label(one.url), "when": one.when, "classes": one.classes}, ensure_ascii=False)
            )
    elif targets:
        cells = [(label(one.url), one.when, " ".join(one.classes)) for one in targets]
        table(("SERVICE", "WHEN", "CLASSES"), cells)
    else:
        print("Nothing is pushed. `push:` in hooktray.yaml counts once you have confirmed it: see docs/push.md.")


def test(paths: Paths) -> int:
    targets = _targets(paths)
    if not targets:
        raise HooktrayError(
            "nothing is pushed yet", hint="write `push:` into hooktray.yaml and confirm it: `hooktray approve push`"
        )
    if not message.is_installed():
        raise HooktrayError("push needs Apprise, which is not installed", hint=message.PIP)
    failed = False
    with closing(PushProcesses()) as processes:
        for one in targets:
            result = processes.run(SendRequest(folder=str(paths.state), message=message.trial(one))).result
            problem = result.problem if result else "no answer"
            print(f"{label(one.url)}  {problem or 'sent'}")
            failed = failed or bool(problem)
    return 1 if failed else 0


def add(paths: Paths) -> None:
    paths.prepare()
    if sys.stdin.isatty():  # not echoed, and never an argument: other users could read that
        url = getpass("The service's Apprise URL (it is not shown): ").strip()
    else:
        url = sys.stdin.readline().strip()
    if problem := push_urls.problem(url):
        raise HooktrayError(problem, hint="give it as Apprise does: `ntfy://topic`")
    place = push_secrets.keep(url, paths.state)
    print(f"Kept in {place}. Write this into {paths.config}, then confirm it: hooktray approve push", file=sys.stderr)
    print(f'push:\n  - {{url: "{push_urls.reference(url)}", when: away, classes: [needs_you, asked, turn_end]}}')


def _targets(paths: Paths) -> list[PushTarget]:
    """Those in force: what a person has confirmed."""
    paths.prepare()
    state = Ledger(open_db(paths.database)).state
    return settings_in_force(configuration.load(paths).settings, state).push
