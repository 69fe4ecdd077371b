"""The list of what was masked says where, what and which, and never a part of the secret itself."""

from __future__ import annotations

import json
import random
import sys
import time

import pytest
from house import PRE_TOOL_USE, House

from tray.engine import record
from tray.engine.record import Masks
from tray.text import redact

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def places(text: str) -> list[str]:
    masks = Masks()
    masks.redact(text, "payload", is_json=True)
    return [str(one["place"]) for one in masks.found]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ('{"a": {"b": [1, "x %s y"]}}', ["payload.a.b[1]"]),
        ('{"a": "%s", "b": "%s"}', ["payload.a", "payload.b"]),
        ('{"a": "clean"}', []),
        ('["x", {"%s": 1}]', ["payload[1] (a key)"]),
        ("token %s", ["payload"]),
    ],
)
def test_a_mask_names_the_masked_places(payload: str, expected: list[str]) -> None:
    assert sorted(places(payload.replace("%s", SECRET))) == expected


def test_a_row_lists_every_mask_with_its_kind_and_fingerprint_and_no_part_of_it(house: House) -> None:
    house.hook("echo", on="tool_before", script=f"cat >/dev/null; echo {SECRET} >&2; exit 1")

    house.relay("claude-code", "PreToolUse", PRE_TOOL_USE | {"tool_input": {"command": f"curl -H {SECRET} x"}})

    row = house.last
    found = {str(one["place"]): one for one in row.masks}
    assert row.masked == 1
    assert {"payload.tool_input.command", "hooks[0].stderr"} <= set(found)
    assert len({one["fingerprint"] for one in row.masks}) == 1
    assert SECRET[4:16] not in repr(row)
    assert all(set(one) == {"place", "kind", "fingerprint"} for one in row.masks)


def test_a_mask_that_an_agent_wrote_itself_is_none(house: House) -> None:
    house.relay(
        "claude-code", "PreToolUse", PRE_TOOL_USE | {"tool_input": {"command": "[masked token 0123456789ab]"}}
    )

    assert (house.last.masked, house.last.masks) == (0, ())


def test_a_row_says_by_which_approvals_it_was_judged_and_where_its_time_went(house: House) -> None:
    house.hook("slow", on="tool_before", script="cat >/dev/null; sleep 0.05")
    house.tool()

    row = house.last
    assert row.ledger == house.stores.ledger.state.version > 0
    assert 50 <= row.hooks_ms <= row.ms
    assert 0 <= row.wait_ms <= row.ms - row.hooks_ms + 0.01
    assert row.cwd == "/"


@pytest.mark.skipif(sys.platform == "win32", reason="its clock moves in steps of 16 ms")
def test_a_large_payload_with_many_secrets_and_keys_takes_no_more_for_each_of_them() -> None:
    """Each key and each mask once, not each with each: 2,000 keys took seconds."""

    def seconds(count: int) -> float:
        text = json.dumps({f"key {n}": [f"password=hunter{n}x{n}"] for n in range(count)})
        masks = Masks()
        started = time.process_time()
        masks.redact(text, "payload", is_json=True)
        taken = time.process_time() - started
        assert len(masks.found) == count
        assert masks.found[-1]["place"] == f"payload.key {count - 1}[0]"
        return taken

    few, many = (min(seconds(count) for _ in range(3)) for count in (250, 2000))

    assert many < 3 * 8 * few  # each with each would take 64 times as long


def test_a_secret_at_the_end_of_what_a_row_keeps_of_a_payload_is_masked(house: House) -> None:
    body = json.dumps(
        PRE_TOOL_USE | {"tool_input": {"command": "x" * (record.PAYLOAD - 250) + f" {SECRET} " + "y" * 99999}}
    )
    at = body.index(SECRET)
    body = body.replace("x" * 300, "x" * (300 + record.PAYLOAD - 20 - at), 1)

    house.relay("claude-code", "PreToolUse", json.loads(body))

    row = house.last
    assert SECRET[:12] not in row.payload
    assert "[masked github" in row.payload
    assert f"of {len(json.dumps(json.loads(body)).encode())} bytes" in row.payload


REFUSAL = "echo 'no-secrets: secrets stay' >&2; exit 2"


def test_the_name_of_a_hook_is_no_secret(house: House) -> None:
    house.hook("no-secrets", on="tool_before", script=REFUSAL)

    house.relay("claude-code", "PreToolUse", PRE_TOOL_USE)

    row = house.last
    assert row.reason == "no-secrets: no-secrets: secrets stay"
    assert row.hooks[0]["name"] == "no-secrets"
    assert row.hooks[0]["reason"] == "no-secrets: secrets stay"
    assert row.answer["exact"]
    assert row.masks == ()


def test_beside_a_hooks_name_a_secret_is_masked_all_the_same(house: House) -> None:
    house.hook("secret", on="tool_before", script=f"echo 'secret: {SECRET} and password: hunter22' >&2; exit 2")

    house.relay("claude-code", "PreToolUse", PRE_TOOL_USE | {"tool_input": {"command": "secret: hunter23"}})

    row = house.last
    kept = json.dumps([row.payload, row.reason, dict(row.hooks[0]), dict(row.answer)])
    assert SECRET not in kept
    assert "hunter22" not in kept
    assert "hunter23" not in kept


CUTS = (
    *(SECRET, "password", "--token hunter2222x", "pw: |", "Bearer", "-u", "me:hunter2x", "true", "no-secrets: x"),
    *("'", "="),
)


def test_texts_redacted_together_are_redacted_as_each_by_itself() -> None:
    chance = random.Random(1)
    for _ in range(600):
        texts = [" ".join(chance.choices(CUTS, k=chance.randint(0, 2))) for _ in range(4)]

        together = Masks().redact_all({str(n): (text, 1000) for n, text in enumerate(texts)})

        assert list(together.values()) == [redact(text).text for text in texts]
