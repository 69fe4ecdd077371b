"""The results of trials stay whole when several are written at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tray.store.trial_results import TrialResults


def test_trials_that_end_at_the_same_time_are_all_written_down(tmp_path: Path) -> None:
    names = [f"hook-{number}" for number in range(40)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: TrialResults(tmp_path).record(name, "digest", "it failed"), names))

    assert set(TrialResults(tmp_path).failures()) == {(name, "digest") for name in names}
