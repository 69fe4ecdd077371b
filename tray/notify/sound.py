"""Plays short sounds one after another on a thread of its own; a failure is remembered, never raised."""

from __future__ import annotations

import array
import contextlib
import difflib
import logging
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import wave
from collections import deque
from collections.abc import Callable, Generator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tray.clock import Clock
from tray.errors import BUILT_IN_ERRORS, ConfigError
from tray.notify.alert import FixedSettings, SettingsInForce
from tray.sources.sound_pack import load, read_pack
from tray.text import sanitise
from tray.threads import run_logged, start_thread

if sys.platform == "win32":
    import winsound

SOUNDS = Path(__file__).parent / "sounds"
QUEUE_LIMIT = 3  # sounds in the queue; older ones make room
MAX_SECONDS = 10.0  # seconds of a user's own file that are played
DEVICE_TIMEOUT = 5.0  # more seconds for a slow device
CLOSE_TIMEOUT = 2.0  # seconds until a thread stuck in the sound system is left behind
ERROR_LIMIT = 32  # distinct errors that are logged
RATE, CHANNELS, SAMPLE = 44_100, 2, 2  # what a device is opened with: Hz, channels, bytes
BUFFER = 40  # milliseconds
CHUNK = 16_384  # frames that the decoder gives at once
TAIL = RATE * BUFFER * 4 // 1000  # frames of silence that push the last sound out of the device's buffers

REPEAT_SECONDS = 1.0  # seconds in which the same sound is not played again
UNEXPECTED = "an unexpected error, see the log"
PLAYERS = {"linux": ("pw-play", "paplay", "aplay"), "darwin": ("afplay",)}

LINE_LIMIT = 120  # characters
NO_VOICE = "no voice is installed: install speech-dispatcher or espeak-ng, or write `speak: false`"
# The text comes on stdin, so that no word of it is read as a part of the script.
SAPI = (
    "[Console]::InputEncoding = [Text.Encoding]::UTF8; Add-Type -AssemblyName System.Speech; "
    "$voice = New-Object System.Speech.Synthesis.SpeechSynthesizer; $voice.Volume = {volume}; "
    "$voice.Speak([Console]::In.ReadToEnd())"
)

log = logging.getLogger(__name__)


class Sounding(msgspec.Struct, frozen=True):
    """What to play: one of our sounds or a file, of a sound pack that of a category instead, and a line."""

    name: str
    category: str = ""
    line: str = ""


Voice = tuple[tuple[str, ...], str]  # the command of the system's voice, and its stdin


class SoundError(Exception):
    """A sound was not played, and why."""


# The built-in ones are those of miniaudio when it finds another version of the system's library.
PLAYER_ERRORS = (SoundError, *BUILT_IN_ERRORS)


class Player:
    """One queue and one thread, started by the first sound; the device is open only while a sound plays."""

    def __init__(self, settings: SettingsInForce, folder: Path = SOUNDS, clock: Clock = time) -> None:
        self.last_error = ""
        self._settings = settings
        self._last_from_pack = ""
        self._known_pack = ("", "")
        self._clock = clock
        self._last_played: dict[str, float] = {}
        self._folder = folder
        self._queue: deque[Sounding] = deque(maxlen=QUEUE_LIMIT)
        self._sounding = Sounding("")  # what the thread plays
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._halt = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._logged: set[str] = set()

    def play(self, name: str, category: str = "", line: str = "") -> None:
        """Queue one of our sounds, or the absolute path of a file; "" is silence, whatever the others are."""
        with self._changed:
            if not name or self._halt.is_set() or not self._is_due(name):
                return
            self._queue.append(Sounding(name, category, line))
            self._changed.notify()
            if self._thread is None:
                self._start()

    @property
    def pack_line(self) -> str:
        """What the sound pack is; read once for each path."""
        path = self._settings.current.sound_pack
        if path != self._known_pack[0]:
            try:
                self._known_pack = (path, read_pack(path).line if path else "")
            except ConfigError:
                return ""  # it may come
        return self._known_pack[1]

    def close(self) -> None:
        """Stop at once, also in the middle of a sound."""
        with self._changed:
            self._halt.set()
            self._queue.clear()
            self._changed.notify()
            thread, process = self._thread, self._process
        if process is not None:
            process.terminate()
        if thread is not None:
            thread.join(CLOSE_TIMEOUT)

    def _is_due(self, name: str) -> bool:
        """A burst of alerts of one class is one sound."""
        now = self._clock.monotonic()
        if now - self._last_played.get(name, now - REPEAT_SECONDS) < REPEAT_SECONDS:
            return False
        self._last_played = {one: at for one, at in self._last_played.items() if now - at < REPEAT_SECONDS} | {
            name: now
        }
        return True

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="hooktray-sound", daemon=True)
        try:
            start_thread(thread)
        except RuntimeError as error:  # the system has no thread left
            self._fail(f"no thread for sounds: {error}")
        else:
            self._thread = thread

    def _run(self) -> None:
        run_logged(iter(self._next, None), "a sound could not be played")

    def _next(self) -> Callable[[], None] | None:
        """Take the next sound from the queue, and return what plays it; None once the player is closed."""
        with self._changed:
            while not (self._queue or self._halt.is_set()):
                self._changed.wait()
            if self._halt.is_set():
                return None
            self._sounding = self._queue.popleft()
            return self._play_now

    def _play_now(self) -> None:
        problem = UNEXPECTED
        try:
            problem = self._play_steps(self._sounding)
        finally:
            if problem:
                self._fail(problem)
            else:
                self.last_error = ""

    def _play_steps(self, one: Sounding) -> str:
        """The pack's sound or our own, then the spoken line. Returns the first problem; "" when there was none."""
        problems = []
        for step in (self._sound_of_pack, self._own_sound, self._speak):
            try:
                one = step(one)
            except PLAYER_ERRORS as error:
                problems.append(str(error) or type(error).__name__)
        return next(iter(problems), "")

    def _sound_of_pack(self, one: Sounding) -> Sounding:
        """Play the pack's sound, if it has one of this category; then our own is not played."""
        path = self._settings.current.sound_pack if one.category else ""
        if not path:
            return one
        try:
            pack = read_pack(path)
            sounds = [sound for sound in pack.sounds.get(one.category, ()) if sound.file != self._last_from_pack]
            sounds = sounds or list(pack.sounds.get(one.category, ()))
            if not sounds:
                return one
            chosen = random.choice(sounds)
            load(pack, chosen)
        except ConfigError as error:
            raise SoundError(error.message) from error
        self._sound(pack.folder / chosen.file)
        self._last_from_pack = chosen.file
        return replace(one, name="")

    def _own_sound(self, one: Sounding) -> Sounding:
        if one.name:
            self._sound(find(one.name, self._folder))
        return one

    def _speak(self, one: Sounding) -> Sounding:
        volume = self._volume
        if one.line and volume and self._settings.current.speak and not self._halt.is_set():
            installed = voices(one.line, volume)
            if not any(self._spawn(list(argv), text) for argv, text in installed):
                raise SoundError("the system's voice failed" if installed else NO_VOICE)
        return one

    @property
    def _volume(self) -> float:
        return min(max(self._settings.current.volume, 0.0), 1.0)

    def _sound(self, path: Path) -> None:
        volume = self._volume
        if volume == 0:
            return
        try:
            _device(path, self._halt, volume)
        except SoundError as error:
            if self._halt.is_set() or self._program(path, volume):
                return
            raise SoundError(f"{path.name}: {error}, and no other player could play it") from error

    def _program(self, path: Path, volume: float) -> bool:
        """Whether one of the platform's own players played it."""
        if sys.platform == "win32":
            return _winsound(path)
        found = (name for name in PLAYERS.get(sys.platform, ()) if shutil.which(name))
        return any(self._spawn([*command(name, volume), str(path)]) for name in found)

    def _spawn(self, argv: list[str], text: str = "") -> bool:
        quiet = subprocess.DEVNULL
        with self._changed:
            if self._halt.is_set():
                return True
            try:
                self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)
            except OSError:
                return False
        try:
            self._process.communicate(text.encode(), timeout=MAX_SECONDS)
            return self._process.returncode == 0 or self._halt.is_set()
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return True
        finally:
            with self._changed:
                self._process = None

    def _fail(self, error: str) -> None:
        self.last_error = error
        if error not in self._logged and len(self._logged) < ERROR_LIMIT:
            self._logged.add(error)
            log.warning("sound: %s", error)


def sound_problem() -> str:
    """Why no sound can be played here; "" when one was played, which is silence."""
    with tempfile.TemporaryDirectory(prefix="hooktray-") as folder:
        path = Path(folder) / "silence.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(CHANNELS)
            file.setsampwidth(SAMPLE)
            file.setframerate(RATE)
            file.writeframes(bytes(CHANNELS * SAMPLE * RATE // 20))
        try:
            Player(FixedSettings())._sound(path)
        except SoundError as error:
            return str(error)
    return ""


def find(name: str, folder: Path = SOUNDS) -> Path:
    """The file of one of our sounds, or of the user's own; SoundError names the nearest sound."""
    path = Path(name).expanduser() if name.startswith("~") else Path(name)
    if not path.is_absolute():
        names = sorted(sound.stem for sound in folder.glob("*.wav"))
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
            raise SoundError(f"no sound is called {name!r}: {hint}")
        return folder / f"{name}.wav"
    if not path.is_file():
        raise SoundError(f"{name}: no such sound file")
    return path


def command(player: str, volume: float) -> list[str]:
    """A player of the platform's with the volume as it takes it; aplay has none."""
    options = {
        "pw-play": [f"--volume={volume:.3f}"],
        "paplay": [f"--volume={round(volume * 65536)}"],
        "aplay": ["-q"],
        "afplay": ["-v", f"{volume:.3f}"],
    }
    return [player, *options[player]]


def scale_volume(chunk: array.array[int], volume: float) -> array.array[int]:
    """16-bit samples at that share of their loudness."""
    return chunk if volume == 1 else array.array("h", [int(sample * volume) for sample in chunk])


def _device(path: Path, halt: threading.Event, volume: float) -> None:
    """Through miniaudio, imported with the first sound."""
    try:
        import miniaudio
    except ImportError as error:
        raise SoundError(f"miniaudio is missing: {error}") from error
    done = threading.Event()
    try:
        source = miniaudio.stream_file(str(path), nchannels=CHANNELS, sample_rate=RATE)
        device = miniaudio.PlaybackDevice(
            nchannels=CHANNELS, sample_rate=RATE, buffersize_msec=BUFFER, backends=_systems(), app_name="Hooktray"
        )
        try:
            frames = _frames(source, done, halt, volume)
            next(frames)
            device.start(frames)
            if not done.wait(MAX_SECONDS + DEVICE_TIMEOUT):
                raise SoundError(f"the {device.backend} device took no sound")
        finally:
            context = device._context
            device.close()
            # The library never ends its context, which keeps five descriptors open for each sound.
            miniaudio.lib.ma_context_uninit(context)
    except miniaudio.MiniaudioError as error:
        raise SoundError(" ".join(map(str, error.args))) from error


def _systems() -> list[object]:
    """Sound systems to try, [] for the platform's own. ALSA without a card would only fill stderr."""
    import miniaudio

    if sys.platform != "linux":
        return []
    alsa = [miniaudio.Backend.ALSA] if any(Path("/dev/snd").glob("pcm*p")) else []
    return [miniaudio.Backend.PULSEAUDIO, *alsa]


def _frames(
    source: Generator[array.array[int], int, None], done: threading.Event, halt: threading.Event, volume: float
) -> Generator[object, int, None]:
    """The decoded sound, then enough silence to push it out; runs on the device's own thread."""
    import miniaudio

    left = round(MAX_SECONDS * RATE)
    wanted = yield b""
    while left > 0 and not halt.is_set():
        try:
            chunk = source.send(min(wanted, left, CHUNK))
        except (StopIteration, miniaudio.MiniaudioError):  # the end, or a file damaged further on
            break
        left -= wanted
        wanted = yield scale_volume(chunk, volume)
    silent = 0
    while silent < TAIL and not halt.is_set():
        silent += wanted
        wanted = yield b""
    done.set()
    while True:
        yield b""


def _winsound(path: Path) -> bool:
    if sys.platform == "win32":
        with contextlib.suppress(RuntimeError):
            winsound.PlaySound(str(path), winsound.SND_FILENAME | winsound.SND_NODEFAULT)
            return True
    return False


def voices(line: str, volume: float, platform: str = sys.platform) -> list[Voice]:
    """The system's voices that are installed, in the order in which they are tried; `volume` is from 0 to 1."""
    text = sanitise(line, LINE_LIMIT)
    share = round(volume * 100)
    if platform == "darwin":
        known: list[Voice] = [(("say", "-f", "-"), text)]
    elif platform == "win32":
        script = SAPI.format(volume=share)
        known = [(("powershell", "-NoProfile", "-NonInteractive", "-Command", script), text)]
    else:
        known = [
            (("spd-say", "--wait", "--application-name", "hooktray", "--volume", str(share - 100), "--", text), ""),
            (("espeak-ng", "-a", str(share), "--stdin"), text),
        ]
    return [(argv, text) for argv, text in known if shutil.which(argv[0])]
