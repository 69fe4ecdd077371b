"""What a command asks to decide is looked up as the files are at that moment."""

from __future__ import annotations

from house import House
from ipc.tray_parts import reviews

from tray.ipc.approval_requests import ApprovalRequests


def test_a_script_that_was_missing_is_among_the_hooks_of_its_source_once_it_is_there(house: House) -> None:
    requests = ApprovalRequests(house.controls(), reviews(house))
    for name in ("guard", "late"):
        house.hook(name, on="tool_before", script="exit 0", approved=False)
    (house.paths.config.parent / "late.sh").unlink()
    house.catalog.refresh()
    house.script("late.sh", "exit 0")

    asked = requests.approve({"source": str(house.paths.config)})

    assert asked.in_menu == "2 hooks wait for your approval"
    assert "late.sh" in asked.question
