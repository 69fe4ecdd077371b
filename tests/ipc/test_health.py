"""A reply with what the tray reports about itself is checked by its types."""

from __future__ import annotations

import pytest

from tray.errors import IpcError
from tray.ipc.health import parse_health


def test_a_reply_may_lack_keys_and_have_unknown_ones() -> None:
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
def test_an_error_names_the_wrong_type_its_place_and_what_to_do(reply: dict[str, object], message: str) -> None:
    with pytest.raises(IpcError, match=f"the tray's report of itself cannot be read: .*{message}") as caught:
        parse_health(reply)

    assert "end it and start `hooktray run`" in caught.value.hint
