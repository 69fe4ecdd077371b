"""Sounds are really played, one after the other, and a machine without sound stays quiet about it."""

from __future__ import annotations

import array
import shutil
import struct
import wave
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from clock import Clock
from desk.sound import Recording
from every import every
from notify.parts import wait
from sources.packs import make

from tray.notify.alert import FixedSettings
from tray.notify.sound import SOUNDS, Player, SoundError, command, find, scale_volume
from tray.settings import Settings

pytestmark = pytest.mark.desktop


class Minutes(Clock):
    """A clock on which a minute passes between two looks: no sound is a repeat of the last one."""

    def time(self) -> float:
        self.now += 60
        return self.now

    monotonic = time


@pytest.fixture
def player() -> Iterator[Player]:
    player = Player(FixedSettings())
    yield player
    player.close()


@pytest.fixture
def no_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No sound server, and no program that could play one."""
    monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path}/nobody")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))


def length(name: str) -> float:
    with wave.open(str(SOUNDS / f"{name}.wav")) as file:
        return float(file.getnframes() / file.getframerate())


def square(path: Path, seconds: float) -> Path:
    """A tone that is as loud at its end as at its beginning."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 44_100, 0, "NONE", ""))
        file.writeframes(struct.pack("<100h", *([9_000] * 50 + [-9_000] * 50)) * round(441 * seconds))
    return path


def test_a_sound_is_heard_in_full_and_a_burst_of_it_once(recording: Recording, player: Player) -> None:
    for _ in range(20):
        player.play("chime")
    recording.wait_end(length("chime") - 0.1)

    assert player.last_error == ""
    # Of a machine that is late with its samples more is heard: windows at the edges of a gap count as full.
    assert recording.seconds_heard < 1.1  # twice it would be 1.2
    assert recording.peak == pytest.approx(0.5, abs=0.1)


def test_the_end_of_a_sound_is_not_cut(recording: Recording, player: Player, tmp_path: Path) -> None:
    player.play(str(square(tmp_path / "even.wav", 0.5)))
    recording.wait_end(0.48)

    assert recording.seconds_heard < 0.9  # twice it would be 1.0


def test_sounds_do_not_overlap(recording: Recording, player: Player) -> None:
    for name in ("chime", "bell", "low"):
        player.play(name)
    recording.wait_end(sum(map(length, ("chime", "bell", "low"))) - 0.3)

    assert recording.peak < 0.6  # two at once would reach full scale


def test_of_many_sounds_the_older_ones_are_dropped(recording: Recording) -> None:
    player = Player(FixedSettings(), clock=Minutes())  # an hour of the same sound, all at once
    for _ in range(20):
        player.play("tick")
    recording.wait_end(length("tick"))  # of each two thirds are loud enough to be heard

    player.close()
    assert recording.seconds_heard < 4.5 * length("tick")


def test_closing_ends_a_sound_in_the_middle(recording: Recording, player: Player, tmp_path: Path) -> None:
    player.play(str(square(tmp_path / "long.wav", 60)))
    wait(lambda: recording.seconds_heard > 0.1, "the sound begins")

    player.close()

    recording.wait_more(0.5)
    assert recording.seconds_heard < 30


def test_a_player_that_is_idle_holds_no_device(recording: Recording) -> None:
    ours = psutil.Process()
    with closing(Player(FixedSettings(), clock=Minutes())) as player:
        player.last_error = "none yet"
        player.play("tick")
        wait(lambda: not player.last_error, "the first sound is over, and its device closed")
        before = (ours.num_fds(), ours.num_threads())

        for _ in range(3):
            player.play("tick")
        recording.wait_end(2 * length("tick"))

        wait(lambda: (ours.num_fds(), ours.num_threads()) == before, "descriptors and threads are as before")


def test_what_miniaudio_cannot_read_the_platforms_own_player_plays(
    recording: Recording, player: Player, tmp_path: Path
) -> None:
    tone = struct.pack(">100h", *([6_000] * 50 + [-6_000] * 50)) * 220
    (tmp_path / "own.au").write_bytes(struct.pack(">4s5I", b".snd", 24, len(tone), 3, 44_100, 1) + tone)

    player.play(str(tmp_path / "own.au"))
    recording.wait_end(0.4)

    assert recording.seconds_heard < 0.9  # twice it would be 1.0


def test_without_sound_the_error_is_remembered_and_logged_once(
    no_sound: None, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    player = Player(FixedSettings(), clock=Minutes())
    for _ in range(2):
        player.last_error = ""
        player.play("bell")
        wait(lambda: player.last_error, "an error")
    player.close()

    assert "no other player could play it" in player.last_error
    assert len(caplog.records) == 1
    assert capfd.readouterr().err == ""


@every(
    ("error", "text"),
    [(ValueError("bad device"), "bad device"), (ArithmeticError(), "an unexpected error, see the log")],
)
def test_an_error_that_no_sound_system_should_raise_is_noted_and_the_next_sound_is_tried(
    error: Exception, text: str
) -> None:
    errors = [error]

    class BrokenSettings:
        @property
        def current(self) -> Settings:
            if errors:
                raise errors.pop()
            return Settings(volume=0.0)

    with closing(Player(BrokenSettings(), clock=Minutes())) as player:
        player.play("chime")
        wait(lambda: player.last_error, "an error")
        noted = player.last_error
        player.play("chime")
        wait(lambda: not player.last_error, "the next sound")

    assert noted == text


@every("name", ["../sounds/chime", "chime.wav", "/nowhere/ding.wav", "/dev/zero", ".", "*"])
def test_only_our_names_and_files_of_absolute_paths_are_sounds(name: str) -> None:
    with pytest.raises(SoundError):
        find(name)


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A sound pack whose only sound is softer than ours."""
    square(make(tmp_path / "pack") / "sounds" / "done.wav", 0.5)
    return tmp_path / "pack"


@pytest.mark.parametrize(
    ("category", "is_odd", "peak"),
    [("task.complete", False, 0.27), ("task.error", False, 0.5), ("task.complete", True, 0.5)],
)
def test_a_pack_plays_its_sound_and_a_missing_or_broken_one_is_replaced(
    recording: Recording, pack: Path, category: str, is_odd: bool, peak: float
) -> None:
    if is_odd:
        (pack / "sounds" / "done.wav").write_text("no sound")
    with closing(Player(FixedSettings(Settings(sound_pack=str(pack))))) as player:
        player.play("chime", category)
        recording.wait_end(0.4)

        assert recording.peak == pytest.approx(peak, abs=0.1)
        wait(lambda: ("sounds/done.wav" in player.last_error) is is_odd, "the file is named")


@pytest.mark.parametrize("voice", ["spd-say", "espeak-ng"])
def test_a_line_is_spoken_by_a_real_voice(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, voice: str
) -> None:
    """With that voice only; speech-dispatcher's server ends with its home."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / voice).symlink_to(str(shutil.which(voice)))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with closing(Player(FixedSettings(Settings(speak=True)))) as player:
        player.play("tick", "", "Turn ended, shop")
        recording.wait_end(length("tick") + 0.5)

        assert player.last_error == ""


def test_without_a_voice_what_to_install_is_said_and_the_sound_is_heard(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with closing(Player(FixedSettings(Settings(speak=True)))) as player:
        player.play("chime", "", "Turn ended")
        wait(lambda: player.last_error, "an error")

        assert "install speech-dispatcher or espeak-ng" in player.last_error
        assert recording.seconds_heard > 0.3


def test_the_volume_is_heeded_by_every_player() -> None:
    samples = array.array("h", [32_767, -32_768, 100])

    assert list(scale_volume(samples, 0.5)) == [16_383, -16_384, 50]
    assert scale_volume(samples, 1.0) is samples
    assert [" ".join(command(name, 0.5)) for name in ("pw-play", "paplay", "aplay", "afplay")] == [
        "pw-play --volume=0.500", "paplay --volume=32768", "aplay -q", "afplay -v 0.500",
    ]  # fmt: skip


def test_at_no_volume_nothing_is_opened(recording: Recording) -> None:
    player = Player(FixedSettings(Settings(volume=0.0)))
    player.play("chime")
    recording.wait_more(0.5)
    player.close()

    assert recording.seconds_heard == 0
    assert player.last_error == ""
