"""`hooktray approvals`: what the user approved, as a file for another machine, and back as proposals."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from pathlib import Path
from typing import Annotated

from tray.approvals.catalog import HookCatalog
from tray.cli.agents import refuse_agents
from tray.cli.command_line import Argument, Json
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.language import count, say
from tray.model.hook import ApprovalState
from tray.paths import Paths
from tray.store.approval_file import Export, import_approvals, of_bundle, parse, read, render

File = Annotated[Path, Argument(metavar="FILE", help="The file.")]


def export_file(paths: Paths, file: File) -> None:
    paths.prepare()
    stores = open_stores(paths, create=False)
    with contextlib.closing(stores.journal):
        exports = [of_bundle(one, stores.copies.bundle(one.digest)) for one in stores.ledger.in_order()]
    if not exports:
        raise HooktrayError(say("no hook is approved"), hint=say("`hooktray list` shows where each hook stands"))
    try:
        with file.open("xb") as out:
            file.chmod(0o600)
            out.write(render(exports, str(Path.home())))
    except FileExistsError as error:
        why = say("{file}: is there already", file=file)
        raise HooktrayError(why, hint=say("name another file, or remove this one")) from error
    except OSError as error:
        with contextlib.suppress(OSError):
            file.unlink()
        why = say("{file}: cannot be written: {why}", file=file, why=error.strerror or error)
        raise HooktrayError(why, hint=say("name a file in a folder of yours, on a disk with room")) from error
    print(count("{n} approval written to {file}", "{n} approvals written to {file}", len(exports), file=file))
    print("  " + say("It holds your scripts as they were approved: keep it where only you can read it."))


def import_file(paths: Paths, file: File, as_json: Json = False) -> None:
    refuse_agents("approvals import")
    exports = parse(read(file), str(file), str(Path.home()))
    paths.prepare()
    stores = open_stores(paths)
    with contextlib.closing(stores.journal):
        import_approvals(paths.database, exports)
        catalog = HookCatalog(paths, stores.ledger, stores.copies)
        catalog.refresh()
        results = [(one, _result(one, catalog)) for one in exports]
    if as_json:
        for one, result in results:
            hook = one.approved.hook
            row = {"name": hook.name, "source": str(hook.source), "digest": one.approved.digest, "result": result}
            print(json.dumps(row, ensure_ascii=False))
        return
    _print_results(Counter(result for _, result in results))


def _result(one: Export, catalog: HookCatalog) -> str:
    """The state of an imported approval: `waits`, `approved`, `changed` or `not declared`."""
    state = next((state for state in catalog.states if state.key == one.approved.hook.key), None)
    if state is None:
        return "not declared"
    if state.digest != one.approved.digest:
        return "changed"
    return "approved" if state.state is ApprovalState.APPROVED else "waits"


def _print_results(found: Counter[str]) -> None:
    lines = {
        "waits": count(
            "{n} hook waits with exactly the imported content.",
            "{n} hooks wait with exactly the imported content.",
            found["waits"],
        ),
        "approved": count("{n} hook is approved already.", "{n} hooks are approved already.", found["approved"]),
        "changed": count(
            "{n} hook is another one here: it has a review of its own.",
            "{n} hooks are other ones here: each has a review of its own.",
            found["changed"],
        ),
        "not declared": count(
            "{n} hook is declared in no source here.",
            "{n} hooks are declared in no source here.",
            found["not declared"],
        ),
    }
    for result, line in lines.items():
        if found[result]:
            print(line)
    if found["waits"]:
        print("  " + say("One review approves them: the menu, Approvals, or `hooktray approve unchanged`."))
