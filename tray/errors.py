"""The errors that people read: what went wrong, where, and what to do next."""

import errno

FULL = frozenset({errno.EDQUOT, errno.EFBIG, errno.ENOSPC})  # errors of a full disk or quota
MAKE_ROOM = "make room on this disk and try again"
# What libraries raise beside errors of their own, for values or a system that they do not expect.
BUILT_IN_ERRORS = (AttributeError, EOFError, ImportError, LookupError, OSError, RuntimeError, TypeError, ValueError)
PACKAGE_ERRORS = (Exception, SystemExit)  # the code of a package may raise any of them


class HooktrayError(Exception):
    """A problem of the user's, shown without a traceback; everything else is our bug."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class ConfigError(HooktrayError):
    """A file that the user wrote has a value that we cannot take."""


class IpcError(HooktrayError):
    """The tray cannot be reached, or does not answer as it should."""


class StoreError(HooktrayError):
    """The database cannot be opened or is not one of ours."""


def store_error(path: object, error: OSError) -> StoreError:
    """Returns the error about a file of Hooktray that could not be opened or written."""
    hint = MAKE_ROOM if error.errno in FULL else "check the folder's permissions and the free space"
    return StoreError(f"{path}: {error.strerror or error}", hint=hint)


class AgentError(HooktrayError):
    """An agent of a package failed."""
