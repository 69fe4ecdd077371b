"""Checks the passphrase, which shows that the user asks. A row of the ledger has its hash and nothing else."""

from __future__ import annotations

import hashlib
import math
import secrets
import threading
import time
import unicodedata
from collections import deque

from tray.approvals.passphrase_words import WORDS
from tray.clock import Clock
from tray.errors import HooktrayError
from tray.language import phrase, say
from tray.store.ledger import Ledger, LedgerAction

KEY = "setting:passphrase"
COST, BLOCK_SIZE, PARALLEL = 2**17, 8, 1  # of scrypt: 128 MB and about half a second
MEMORY_LIMIT = 2 * 128 * COST * BLOCK_SIZE  # bytes
KEY_SIZE, SALT_SIZE = 32, 16  # bytes
BITS = 60  # that a generated passphrase has at least
MIN_LENGTH = 12  # characters of one's own
TRIES, TRY_WINDOW = 5, 60.0  # wrong ones at one terminal in so many seconds
MAX_PLACES = 256  # whose tries are remembered
TOO_SHORT = phrase("a passphrase of your own has at least {n} characters")


class Passphrase:
    """Checks the passphrase, and writes a new one into the ledger. The caller that sets one was judged before."""

    def __init__(self, ledger: Ledger, clock: Clock = time, *, cost: int = COST) -> None:
        self._ledger = ledger
        self._clock = clock
        self._cost = cost
        self._lock = threading.Lock()
        self._hashing = threading.Lock()  # one hash at a time holds the memory
        self._tries: dict[str, deque[float]] = {}

    @property
    def is_set(self) -> bool:
        return bool(self._definition)

    @property
    def _definition(self) -> str:
        """A row that was altered on disk does not count: the ledger checks it."""
        state = self._ledger.state
        return state.setting_texts.get(KEY, "") if KEY in state.settings else ""

    def check(self, text: str, place: str) -> bool:
        """Whether this is the passphrase. Raises HooktrayError after too many wrong ones at the same place."""
        self._count_try(place)
        definition = self._definition
        try:
            salt = bytes.fromhex(definition.split()[4])
        except (IndexError, ValueError):
            return False
        is_right = secrets.compare_digest(self._hash(_normal(text), salt).encode(), definition.encode())
        if is_right:
            with self._lock:
                self._tries.pop(place, None)
        return is_right

    def set(self, text: str, channel: str) -> int:
        """Put this one in force; returns the number of its row."""
        text = _normal(text)
        if len(text) < MIN_LENGTH:
            raise HooktrayError(say(TOO_SHORT, n=MIN_LENGTH), hint=say("take a longer one, or a generated one"))
        definition = self._hash(text, secrets.token_bytes(SALT_SIZE))
        return self._append(LedgerAction.APPROVE, definition, channel)

    def forget(self, channel: str) -> int:
        return self._append(LedgerAction.REVOKE, "", channel)

    def _append(self, action: LedgerAction, definition: str, channel: str) -> int:
        digest = hashlib.sha256(definition.encode()).hexdigest()
        return self._ledger.append(action, KEY, digest, definition=definition, channel=channel).version

    def _count_try(self, place: str) -> None:
        now = self._clock.monotonic()
        with self._lock:
            self._tries = {key: times for key, times in self._tries.items() if times[-1] > now - TRY_WINDOW}
            times = self._tries.setdefault(place, deque(maxlen=TRIES))
            if len(times) == TRIES and times[0] > now - TRY_WINDOW:
                seconds = math.ceil(times[0] + TRY_WINDOW - now)
                why = say("too many wrong passphrases here")
                raise HooktrayError(why, hint=say("try again in {n} seconds, or elsewhere", n=seconds))
            times.append(now)
            if len(self._tries) > MAX_PLACES:
                self._tries.pop(next(iter(self._tries)))

    def _hash(self, text: str, salt: bytes) -> str:
        """The name of the hash, its parameters, salt and value. Other threads go on meanwhile."""
        with self._hashing:
            key = hashlib.scrypt(
                text.encode(), salt=salt, n=self._cost, r=BLOCK_SIZE, p=PARALLEL, maxmem=MEMORY_LIMIT, dklen=KEY_SIZE
            )
        return f"scrypt {self._cost} {BLOCK_SIZE} {PARALLEL} {salt.hex()} {key.hex()}"


def generate() -> str:
    """A new passphrase of words."""
    number = math.ceil(BITS / math.log2(len(WORDS)))
    return " ".join(secrets.choice(WORDS) for _ in range(number))


def _normal(text: str) -> str:
    """However the keyboard wrote it, with single blanks between the words."""
    return " ".join(unicodedata.normalize("NFC", text).split())
