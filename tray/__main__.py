"""The `hooktray` command. What agents wait for, and the tray, are dispatched before anything heavy is imported."""

from __future__ import annotations

import codecs
import contextlib
import gc
import io
import os
import sys
import time
from collections.abc import Sequence

RUN_ARGV = (["run"], ["run", "--headless"])
# The commands whose libraries may register functions with `atexit`. Without a command, too, the tray may start.
WITH_LIBRARIES: tuple[list[str], ...] = ([], ["push-send"], ["run"])


def command() -> None:
    """Run `main` and end the process with its exit code.

    Events and most commands skip the interpreter's own shutdown, which takes a fifth of their time. `run`,
    `push-send` and a process in which another thread runs do not skip it.
    """
    code = main()
    _, argv = _home(sys.argv[1:])
    threads = sys.modules.get("threading")
    if argv[:1] in WITH_LIBRARIES or (threads is not None and threads.active_count() > 1):
        sys.exit(code)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # closed, or none on Windows without a console
        sys.exit(code)
    os._exit(code)


def main() -> int:
    """Exit code: 0 ok, 1 the user's problem, 2 usage, 3 our bug; of `relay` and `once` the agent's own."""
    if sys.platform == "win32":
        _pipe_utf8()
    home, argv = _home(sys.argv[1:])
    if argv[:1] == ["relay"]:
        from tray.relay import main as relay

        return relay([*home, *argv[1:]])
    if argv[:1] == ["once"]:
        gc.disable()  # it lives for one event, and looks for garbage fifty times while it imports its modules
        from tray.own_environment import strip_environment

        # Before anything else is imported: libraries read the environment when they are imported.
        environment = strip_environment(os.environ)
        try:
            from tray.once import main as once
        except Exception as error:  # noqa: BLE001 - a broken installation: the relay's table decides
            return _report_broken(argv, error)
        return once([*home, *argv[1:]], environment)
    try:
        return _run_command(home, argv)
    except Exception as error:  # noqa: BLE001 - the outermost handler of commands and of the tray
        from tray.cli import report_failure

        return report_failure(error)


def _report_broken(argv: Sequence[str], error: Exception) -> int:
    """Append to the tray's log, whose folder the relay names, why the one-shot engine cannot be imported."""
    folder = argv[argv.index("--logs") + 1] if "--logs" in argv[:-1] else ""
    line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} ERROR hooktray once: cannot be imported: {error!r}\n"
    if folder:
        with contextlib.suppress(OSError), open(f"{folder}/hooktray.log", "a", encoding="utf-8") as log:  # noqa: PTH123
            log.write(line)
    return 1


def _pipe_utf8() -> None:
    """What reads our output expects UTF-8 on every system; the code page of a Windows has no Chinese name."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8", errors="replace")


def _print_anything() -> None:
    """Escape characters that the encoding of the output lacks as in JSON, so that none ends a command."""
    codecs.register_error("hooktray", _escaped)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="hooktray")


def _escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """Returns the escaped characters; in UTF-8, the byte itself for a byte of a name that is not UTF-8."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    if error.encoding.lower().replace("-", "") == "utf8" and all("\udc80" <= sign <= "\udcff" for sign in text):
        return text.encode("utf-8", "surrogateescape"), error.end
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2)), error.end


def _home(argv: list[str]) -> tuple[list[str], list[str]]:
    """The option --home as two words, and the words after it."""
    if argv[:1] == ["--home"]:
        return argv[:2], argv[2:]
    if argv and argv[0].startswith("--home="):
        return ["--home", argv[0].removeprefix("--home=")], argv[1:]
    return [], argv


def _run_command(home: Sequence[str], argv: Sequence[str]) -> int:
    """Run a command that no agent waits for, or the tray."""
    if argv == ["push-send"]:
        from tray.notify.push.sender import main as push

        return push()
    if argv in RUN_ARGV:
        return _run(home, argv)
    _print_anything()
    gc.set_threshold(100_000, 20, 20)  # a short command has no garbage worth collecting
    from tray.cli import main as cli

    return cli()


def _run(home: Sequence[str], argv: Sequence[str]) -> int:
    """The plain forms of `run`: the libraries that read command lines would stay in the tray as long as it lives."""
    gc.disable()  # until the parts are built: none of them is garbage
    from tray.app.start import start
    from tray.errors import HooktrayError
    from tray.paths import locate

    try:
        return start(locate(home[1] if home else None), headless=argv[-1] == "--headless")
    except HooktrayError as error:
        print(f"hooktray: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    command()
