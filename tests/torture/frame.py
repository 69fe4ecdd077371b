"""What every torture program counts, and how it says what came out.

A program is a module `tNN_name.py` with TITLE (what is attacked) and `torture(tally)`. It attacks what we ship, and
once or more its vulnerable control, the same thing without its defence: an attack that does not beat its control has
stopped attacking, and that is as wrong as a defence that fell.
"""

from __future__ import annotations

import importlib
import json
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
BUSY = 30  # times as long may anything take in the quick form: CI runs it while the machine does other things


@dataclass
class Tally:
    """One program's count. `lost`: what should have come out and did not; `wrong`: what should not have, and did."""

    full: bool
    folder: Path
    share: float = 1.0  # of the full counts, where a machine has no time for all
    inputs: int = 0
    faults: int = 0
    beaten: int = 0  # how often a control fell, as it must
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)  # what this machine cannot do
    measured: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)  # several attacks may run at once

    def many(self, quick: int, full: int) -> int:
        if not self.full:
            return quick
        return max(quick, round(full * self.share)) if full > quick else full  # a smaller one is a step, not a count

    @property
    def patience(self) -> int:
        """How many times as long as on a machine that does nothing else something may take."""
        return 1 if self.full else BUSY

    def attack(self, name: str, held: bool, *, faults: int = 1) -> None:
        """One input with its faults: did the defence hold?"""
        with self._lock:
            self.inputs += 1
            self.faults += faults
            if not held:
                self.wrong.append(name)

    def keep(self, name: str, kept: bool) -> None:
        """One input that nothing attacks: does the defence let it through?"""
        with self._lock:
            self.inputs += 1
            if not kept:
                self.lost.append(name)

    def control(self, name: str, fell: bool) -> None:
        """The same attack on the same thing without its defence."""
        with self._lock:
            self.beaten += fell
            if not fell:
                self.wrong.append(f"control {name} was not beaten: the attack does not attack")


@dataclass(frozen=True, slots=True)
class Program:
    id: str
    module: str


def programs(wanted: Sequence[str] = ()) -> list[Program]:
    """The programs that are there, in order; KeyError for an id that is not."""
    found = {path.stem[:3].upper(): path.stem for path in sorted(HERE.glob("t[0-9][0-9]_*.py"))}
    return [Program(id, found[id]) for id in (wanted or found)]


def run(
    program: Program, *, full: bool, share: float = 1.0, note: Callable[[dict[str, object]], object] = lambda _: None
) -> bool:
    """Run one and print its result twice: a JSON line for programs, a line for people. True when all held.

    `note` is given the result, too.
    """
    module = importlib.import_module(f"torture.{program.module}")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        tally = Tally(full, Path(folder), share)
        try:
            module.torture(tally)
        except Exception as error:  # noqa: BLE001 - a program that breaks off has shown nothing
            traceback.print_exc()
            tally.wrong.append(f"broke off: {error!r}")
    if not tally.beaten and not tally.not_run:
        tally.wrong.append("no control was attacked")
    found = result(program, str(module.TITLE), tally, time.monotonic() - started)
    note(found)
    print(json.dumps(found), flush=True)
    print(_line(program, str(module.TITLE), tally), flush=True)
    return not tally.wrong and not tally.lost


def result(program: Program, title: str, tally: Tally, seconds: float) -> dict[str, object]:
    return {
        "id": program.id,
        "title": title,
        "form": "full" if tally.full else "quick",
        "share": tally.share,
        "inputs": tally.inputs,
        "faults": tally.faults,
        "lost": len(tally.lost),
        "wrong": len(tally.wrong),
        "controls_beaten": tally.beaten,
        "seconds": round(seconds, 1),
        "not_run": tally.not_run,
        "measured": tally.measured,
        "what": [*tally.lost, *tally.wrong][:20],
    }


def _line(program: Program, title: str, tally: Tally) -> str:
    counts = f"{tally.inputs} inputs, {tally.faults} faults, {len(tally.lost)} lost, {len(tally.wrong)} wrong"
    said = [f"{program.id} {title}: {counts}; its controls fell {tally.beaten} times"]
    said += [f"  lost: {one}" for one in tally.lost] + [f"  wrong: {one}" for one in tally.wrong]
    return "\n".join([*said, *(f"  not run here: {one}" for one in tally.not_run)])
