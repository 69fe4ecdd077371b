"""What a tray reports of itself is read by its types."""

from __future__ import annotations

import pytest

from tray.errors import IpcError
from tray.ipc.health import parse_health


def test_what_a_tray_of_another_version_leaves_out_or_adds_is_no_mistake() -> None:
    found = parse_health({"pid": 7, "background": [[99, 12.0]], "weather": "fine"})

    assert found == {"pid": 7, "background": [(99, 12.0)]}


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({"pid": "7"}, r"Expected `int`, got `str` - at `\$\.pid`"),
        ({"problems": [{"text": 1}]}, r"at `\$\.problems\[0\]\.text`"),
        ({"problems": [{"text": "gone"}]}, r"missing required field .* at `\$\.problems\[0\]`"),
    ],
    ids=str,
)
def test_another_type_is_named_with_its_place_and_what_to_do(reply: dict[str, object], message: str) -> None:
    with pytest.raises(IpcError, match=f"the tray's report of itself cannot be read: .*{message}") as caught:
        parse_health(reply)

    assert "end it and start `hooktray run`" in caught.value.hint
