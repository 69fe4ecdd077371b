"""The choice between the native relay and the portable one."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest
from relays import run, said

from tray import relay_program


@pytest.fixture
def native(tmp_path: Path) -> Path:
    return tmp_path / "hooktray-hook"


def test_a_native_relay_that_runs_is_taken(native: Path) -> None:
    native.write_text("#!/bin/sh\nexec true\n")
    native.chmod(0o755)

    assert relay_program.argv(("--home", "/h"), native) == [str(native), "--home", "/h"]


@pytest.mark.parametrize(
    ("content", "mode", "trouble"),
    [
        (b"", None, "not built"),
        (b"MZ\x90\0", 0o755, "does not run here"),
        (b"#!/bin/sh\n", 0o644, "does not run here"),
        (b"#!/nonexistent/sh\n", 0o755, "does not run here"),
        (b"#!/bin/sh\nexit 3\n", 0o755, "code 3"),
        (b"#!/bin/sh\necho hello\n", 0o755, "not a relay of ours"),
    ],
)
def test_one_that_does_not_run_leaves_the_portable_relay(
    native: Path, content: bytes, mode: int | None, trouble: str
) -> None:
    if mode is not None:
        native.write_bytes(content)
        native.chmod(mode)

    assert trouble in relay_program.problem(native)
    assert relay_program.argv((), native) == relay_program.portable()
    assert relay_program.portable()[0] == sys.executable


def test_the_native_relay_of_this_checkout_was_built_from_its_sources() -> None:
    assert not relay_program.is_stale(), relay_program.problem()


def test_a_native_relay_is_stale_when_a_source_changes_and_without_sources_it_never_is(
    native: Path, tmp_path: Path
) -> None:
    sources = tmp_path / "native"
    sources.mkdir()
    native.touch()
    assert not relay_program.is_stale(native, sources), "an installed package has none"

    (sources / "relay.c").write_bytes(b"int main;")
    assert relay_program.is_stale(native, sources), "built before digests were kept"

    native.with_name(relay_program.SOURCES_DIGEST).write_text(hashlib.sha256(b"int main;").hexdigest())
    assert not relay_program.is_stale(native, sources)

    (sources / "relay.c").write_bytes(b"int changed;")
    assert relay_program.is_stale(native, sources)


def test_the_portable_relay_runs(native: Path) -> None:
    assert said(run(relay_program.argv((), native))) == (b"", b"", 0)
