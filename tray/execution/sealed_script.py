"""A script's bytes behind a descriptor without write access: what was checked is what its interpreter reads."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import PurePath

if sys.platform != "win32":
    import fcntl

LOWEST = 64  # descriptor numbers below are left to what scripts open by number
# Python puts the folder of the name that the kernel shows, `/memfd:hooktray`, on its path: there is none.
NAME = "hooktray/{name}"


class SealedScript:
    """An open descriptor, inherited by processes that are given it, and closed with the last user of this object.

    `path` names it within such a process. With `is_shared` any number of processes can read it at once.
    """

    def __init__(self, descriptor: int, path: str, original: str, *, is_shared: bool) -> None:
        self.descriptor, self.path, self.original, self.is_shared = descriptor, path, original, is_shared

    def __del__(self) -> None:
        os.close(self.descriptor)


def seal(whole: bytes, original: str) -> SealedScript | None:
    """These bytes of the script `original`, sealed; None where the system has no way to do that."""
    with contextlib.suppress(OSError, AttributeError):
        if sys.platform == "linux":
            return _memory_file(whole, original)
        if sys.platform != "win32":
            return unlinked_file(whole, original)
    return None


if sys.platform == "linux":

    def _memory_file(whole: bytes, original: str) -> SealedScript | None:
        flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
        opened = os.memfd_create(NAME.format(name=PurePath(original).name[:100]), flags)
        try:
            _write(opened, whole)
            seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
            fcntl.fcntl(opened, fcntl.F_ADD_SEALS, seals)
            return _script(opened, "/proc/self/fd/{}", original, is_shared=True)
        finally:
            os.close(opened)


if sys.platform != "win32":

    def unlinked_file(whole: bytes, original: str) -> SealedScript | None:
        """For systems without sealed memory, such as macOS: a file without a name, opened for reading only.

        Who opens `/dev/fd/N` there shares its position, so each process needs a file of its own.
        """
        import tempfile  # half as long to import as all of this package

        handle, path = tempfile.mkstemp(prefix="hooktray-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(whole)
            opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.unlink(path)  # noqa: PTH108 - as a text, like its neighbours
        try:
            is_same = os.read(opened, len(whole) + 1) == whole  # no process wrote into it while it had a name
            os.lseek(opened, 0, os.SEEK_SET)
            return _script(opened, "/dev/fd/{}", original, is_shared=False) if is_same else None
        finally:
            os.close(opened)

    def _script(opened: int, path: str, original: str, *, is_shared: bool) -> SealedScript | None:
        descriptor = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, LOWEST)
        script = SealedScript(descriptor, path.format(descriptor), original, is_shared=is_shared)
        return script if os.path.exists(script.path) else None  # noqa: PTH110 - without /proc that path does not exist

    def _write(opened: int, whole: bytes) -> None:
        view = memoryview(whole)
        while view:
            view = view[os.write(opened, view) :]
