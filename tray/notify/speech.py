"""Pure but for the look at what is installed: how the system's own voice is asked to speak a short line."""

from __future__ import annotations

import shutil
import sys

from tray.text import sanitise

LINE_LIMIT = 120  # characters
MISSING = "no voice is installed: install speech-dispatcher or espeak-ng, or write `speak: false`"
# The text comes on stdin, so that no word of it is read as a part of the script.
SAPI = (
    "[Console]::InputEncoding = [Text.Encoding]::UTF8; Add-Type -AssemblyName System.Speech; "
    "$voice = New-Object System.Speech.Synthesis.SpeechSynthesizer; $voice.Volume = {volume}; "
    "$voice.Speak([Console]::In.ReadToEnd())"
)

Voice = tuple[tuple[str, ...], str]  # the command, and what it gets on stdin


def voices(line: str, volume: float, platform: str = sys.platform) -> list[Voice]:
    """The voices that are installed, in the order in which they are tried; `volume` is from 0 to 1."""
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
