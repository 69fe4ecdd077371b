"""A library is imported without what it can do without, and others find that again."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tray.hidden_modules import hidden, lazy_patterns


def test_a_hidden_module_is_as_if_it_were_not_installed_and_is_found_again_afterwards() -> None:
    code = """if True:
        import sys
        from tray.hidden_modules import hidden
        with hidden("ssl"):
            import asyncio
        print("ssl" in sys.modules)
        import ssl
        print(ssl.OPENSSL_VERSION_INFO > (0,))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert done.stdout == "False\nTrue\n", done.stderr


def test_what_is_imported_already_stays() -> None:
    with hidden("subprocess", "no_such_module"):
        assert sys.modules["subprocess"] is subprocess
        with pytest.raises(ModuleNotFoundError):
            import no_such_module  # type: ignore[import-not-found]  # noqa: F401
    assert "no_such_module" not in sys.modules


def test_a_tray_has_no_tls_in_its_loop_and_its_page_works_without() -> None:
    code = """if True:
        import sys
        from tray.app.start import _import_lean
        _import_lean()
        import tray.app.runtime
        print(*sys.modules.keys() & {"ssl", "typing_extensions", "psutil", "regex", "html", "PIL", "Xlib", "pystray"})
        import tray.web.server
        print("ssl" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert done.stdout == "\nTrue\n", done.stderr


def test_patterns_are_lazy_only_meanwhile() -> None:
    with lazy_patterns():
        broken = re.compile("(")
    with pytest.raises(re.error):
        broken.search("")
    with pytest.raises(re.error):
        re.compile("(")


def test_the_library_of_sounds_loads_no_client_of_the_web_until_somebody_uses_it() -> None:
    code = """if True:
        import sys
        from tray.hidden_modules import load_lazily
        load_lazily("html", "urllib.request")
        import miniaudio
        print("http.client" in sys.modules, "html.entities" in sys.modules)
        from urllib.request import getproxies
        print("http.client" in sys.modules, miniaudio.urllib.request.getproxies is getproxies)
        from html.entities import html5
        print(miniaudio.html.escape("<"))
    """
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert done.stdout == "False False\nTrue True\n&lt;\n", done.stderr
