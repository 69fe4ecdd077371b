"""Starts Hooktray without the files by which an environment runs code at each start of Python.

    python -I -S isolated.py FOLDERS WORD...     FOLDERS: where our packages are, joined as in PATH

With -I and -S Python reads no PYTHON* variable, no user site, no .pth file and no `sitecustomize`; so nothing is
found that is not named here. It runs as a script and imports nothing of ours before the folders are known.
"""

from __future__ import annotations

import importlib
import os
import sys


def main(argv: list[str]) -> None:
    folders, *words = argv
    sys.path.extend(folder for folder in folders.split(os.pathsep) if folder)
    sys.argv[:] = ["hooktray", *words]
    importlib.import_module("tray.__main__").command()


if __name__ == "__main__":
    main(sys.argv[1:])
