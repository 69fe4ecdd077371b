"""The passphrase: only its hash is kept, a wrong one changes nothing, and tries are limited where they are made."""

from __future__ import annotations

import math
import sqlite3

import psutil
import pytest
from clock import Clock
from house import House

from tray.approvals.passphrase import BITS, KEY, MIN_LENGTH, TRIES, TRY_WINDOW, Passphrase, generate
from tray.approvals.passphrase_words import WORDS
from tray.errors import HooktrayError
from tray.store.ledger import Ledger

CHEAP = 2**10  # of scrypt, in place of half a second for each try
SECRET = "seven quiet bridges"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def passphrase(house: House, clock: Clock) -> Passphrase:
    made = Passphrase(house.stores.ledger, clock, cost=CHEAP)
    made.set(SECRET, "page")
    return made


def test_only_a_salted_hash_is_kept_and_its_memory_is_released(house: House, passphrase: Passphrase) -> None:
    before = psutil.Process().memory_info().rss
    real = Passphrase(house.stores.ledger)
    real.set(SECRET, "page")
    definition = house.stores.ledger.state.setting_texts[KEY]
    passphrase.set(SECRET, "page")

    assert psutil.Process().memory_info().rss < before + 64 * 1024 * 1024
    assert definition.startswith("scrypt 131072 8 1 ")
    assert house.stores.ledger.state.setting_texts[KEY] != definition, "a salt of its own each time"
    assert SECRET.encode() not in house.stores.database.path.read_bytes()


def test_the_right_one_is_recognised_however_it_is_spaced(passphrase: Passphrase) -> None:
    assert passphrase.check("  seven quiet   bridges\n", "terminal 1")
    assert not passphrase.check("seven quiet bridge", "terminal 1")
    assert not passphrase.check("", "terminal 1")


def test_a_passphrase_needs_twelve_characters_and_without_one_no_guess_is_right(house: House) -> None:
    none = Passphrase(house.stores.ledger, cost=CHEAP)

    with pytest.raises(HooktrayError, match=str(MIN_LENGTH)):
        none.set("a" * (MIN_LENGTH - 1), "page")

    assert not none.is_set
    assert not none.check("", "terminal 1")


def test_tries_are_limited_at_one_terminal_and_nowhere_else(passphrase: Passphrase, clock: Clock) -> None:
    assert not any(passphrase.check("wrong", "terminal 1") for _ in range(TRIES))

    with pytest.raises(HooktrayError, match="too many"):
        passphrase.check(SECRET, "terminal 1")
    assert passphrase.check(SECRET, "terminal 2")
    clock.now += TRY_WINDOW
    assert passphrase.check(SECRET, "terminal 1")


def test_a_forgotten_one_is_wrong_and_undo_brings_it_back(house: House, passphrase: Passphrase) -> None:
    version = passphrase.forget("page")
    forgotten = passphrase.is_set, passphrase.check(SECRET, "terminal 1")
    house.stores.ledger.undo(version, "undo")

    assert forgotten == (False, False)
    assert passphrase.check(SECRET, "terminal 1")


def test_a_hash_that_was_changed_on_disk_does_not_count_and_is_noticed(house: House, passphrase: Passphrase) -> None:
    other = Passphrase(house.stores.ledger, cost=CHEAP)
    forged = other._hash("something else entirely", bytes(16))
    with sqlite3.connect(house.stores.database.path) as rows:
        rows.execute("UPDATE ledger SET definition = ? WHERE key = ?", (forged, KEY))
    rows.close()

    assert passphrase.check(SECRET, "terminal 1"), "the running tray goes by what it wrote"
    read_again = Ledger(house.stores.database)
    assert read_again.state.tampered
    assert not Passphrase(read_again, cost=CHEAP).check("something else entirely", "terminal 1")


def test_generated_ones_are_words_and_long_enough() -> None:
    made = {generate() for _ in range(50)}

    assert len(made) == 50
    words = {word for one in made for word in one.split()}
    assert words <= set(WORDS)
    assert {len(one.split()) * math.log2(len(WORDS)) >= BITS for one in made} == {True}
    assert all(word.isascii() and word.islower() and 3 <= len(word) <= 7 for word in WORDS)
    assert len(set(WORDS)) == len(WORDS)
