"""What an agent hook's model may see: the files below one folder, read without following anything out of it."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePath

import regex

from tray.errors import HooktrayError
from tray.execution.request_job import Deadline
from tray.text import printable, redact

SIZE = 1024 * 1024  # bytes of a file
ANSWER_SIZE = 32 * 1024  # characters of one answer
FILES = 5000  # looked at for one answer
MATCHES = 200
LINE = 2000  # characters of a line that a pattern is held against
PATTERN = 500  # characters of a pattern
PATTERN_TIME = 0.05  # seconds for one line
IGNORED_FOLDERS = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
DIRECTORY_FLAG = getattr(os, "O_DIRECTORY", 0)


class ProjectFolder:
    """Reads only below `root`, until the deadline is over. All that comes out is redacted and bounded."""

    def __init__(self, root: str, deadline: Deadline | None = None) -> None:
        self._deadline = deadline
        self._root = Path(os.path.realpath(root)) if root and os.path.isdir(root) else None  # noqa: PTH112
        # A folder that holds a whole home is not a project.
        if self._root is not None and Path(os.path.realpath(Path.home())).is_relative_to(self._root):
            self._root = None

    def read(self, path: str, line: int = 1) -> str:
        """The file from this line on."""
        lines = self._text(path).splitlines()
        return _cut("\n".join(lines[max(line, 1) - 1 :]))

    def grep(self, pattern: str, path: str = ".") -> str:
        """Each line that the pattern is found in, with its file and number."""
        if len(pattern) > PATTERN:
            raise HooktrayError(f"the pattern is over {PATTERN} characters")
        try:
            wanted = regex.compile(pattern)
        except (regex.error, RecursionError) as error:
            raise HooktrayError(f"not a pattern: {error}") from error
        found: list[str] = []
        for name in self._files(path):
            found += self._matches(wanted, name)
            if len(found) >= MATCHES:
                break
        return _cut("\n".join(found[:MATCHES])) or "nothing found"

    def glob(self, pattern: str) -> str:
        """The files whose path below the folder is of this shape."""
        shapes = (pattern, pattern.removeprefix("**/"))
        found = (name for name in self._files(".") if any(fnmatch.fnmatchcase(name, shape) for shape in shapes))
        return _cut(redact("\n".join(found)).text) or "nothing found"

    def _matches(self, wanted: regex.Pattern[str], name: str) -> Iterator[str]:
        try:
            lines = self._text(name).splitlines()
            for number, line in enumerate(lines, 1):
                if wanted.search(line[:LINE], timeout=PATTERN_TIME):
                    yield f"{name}:{number}: {line[:LINE]}"
        except TimeoutError:
            raise HooktrayError("the pattern takes too long") from None
        except HooktrayError:  # too large, or not for us: the search goes on
            return

    def _text(self, path: str) -> str:
        handle = self._open(path)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise HooktrayError(f"{path}: not a file")
        with os.fdopen(handle, "rb") as file:
            content = file.read(SIZE + 1)
        if len(content) > SIZE:
            raise HooktrayError(f"{path}: over {SIZE} bytes")
        return redact(content.decode("utf-8", "replace")).text

    def _open(self, path: str) -> int:
        """Step by step from the folder on: what is a link by now was none when the path was judged."""
        root, below = self._place(path)
        try:
            if os.open not in os.supports_dir_fd:
                return os.open(root / below, os.O_RDONLY | NO_LINK)
            handle = os.open(root, os.O_RDONLY | DIRECTORY_FLAG | NO_LINK)
            for part in below.parts:
                above, handle = handle, _step(handle, part)
                os.close(above)
        except (OSError, ValueError) as error:
            cause = getattr(error, "strerror", None) or error
            raise HooktrayError(f"{path}: cannot be read: {cause}") from error
        return handle

    def _place(self, path: str) -> tuple[Path, PurePath]:
        """The folder, and where below it the path leads once its links are followed."""
        if self._root is None:
            raise HooktrayError("there is no project folder to look into")
        try:
            real = Path(os.path.realpath(self._root / path))
            return self._root, real.relative_to(self._root)
        except (ValueError, OSError):
            raise HooktrayError(f"{path}: outside of the project folder") from None

    def _files(self, path: str) -> Iterator[str]:
        root, below = self._place(path)
        if (root / below).is_file():
            yield below.as_posix()
            return
        count = 0
        for folder, inner, names in os.walk(root / below):
            inner[:] = sorted(set(inner) - IGNORED_FOLDERS)
            for name in sorted(names):
                count += 1
                if count > FILES:
                    return
                if self._deadline is not None and self._deadline.cause:
                    raise HooktrayError("the time is over")
                yield (PurePath(folder) / name).relative_to(root).as_posix()


def _step(handle: int, part: str) -> int:
    try:
        return os.open(part, os.O_RDONLY | NO_LINK, dir_fd=handle)
    except OSError:
        os.close(handle)
        raise


def _cut(text: str) -> str:
    shown = printable(text, ANSWER_SIZE)
    return f"{shown}\n(cut after {ANSWER_SIZE} characters)" if len(text) > ANSWER_SIZE else shown
