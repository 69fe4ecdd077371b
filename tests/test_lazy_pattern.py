"""A lazy pattern does what a compiled one does, and is compiled only when it is used."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tray.lazy_pattern import lazy_pattern


def test_it_finds_what_a_pattern_finds() -> None:
    pattern = lazy_pattern(r"(?P<word>[a-z]+)-(\d+)", re.IGNORECASE)

    assert pattern.pattern == r"(?P<word>[a-z]+)-(\d+)"
    found = pattern.search(" AB-12")
    assert found is not None
    assert (found["word"], found[2]) == ("AB", "12")
    assert pattern.fullmatch("ab-1") is not None
    assert pattern.match("-1") is None
    assert pattern.sub("x", "a-1 b-2") == "x x"
    assert [one[0] for one in pattern.finditer("a-1 b-2")] == ["a-1", "b-2"]
    assert (pattern.split("a-1"), pattern.groups) == (["", "a", "1", ""], 2)


def test_it_is_compiled_at_its_first_use_and_not_before() -> None:
    broken = lazy_pattern("(")

    assert broken.pattern == "("
    with pytest.raises(re.error):
        broken.search("")


def test_importing_what_an_event_needs_compiles_no_pattern_of_ours() -> None:
    program = """if True:
        import re, sys
        real, compiled = re._compiler.compile, []
        def record(pattern, flags=0):
            caller = sys._getframe(1)
            while caller.f_globals["__name__"].partition(".")[0] == "re":
                caller = caller.f_back
            compiled.append(caller.f_globals["__name__"])
            return real(pattern, flags)
        re._compiler.compile = record
        import tray.once, tray.app, tray.language
        from tray.agents.registry import known_agents
        list(known_agents())
        ours = [name for name in compiled if name.startswith("tray.")]
        print("string" in compiled, [name for name in ours if name != "tray.lazy_pattern"], len(ours) < 3)
    """
    argv = [sys.executable, "-I", "-c", program]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "True [] True\n"
