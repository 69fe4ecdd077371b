"""Pure: makes foreign text safe to show (sanitise, printable, first_line) and safe to keep (redact, redact_value)."""

from tray.text.secrets import Redacted, masked, redact, redact_value
from tray.text.shown import first_line, printable, sanitise

__all__ = ["Redacted", "first_line", "masked", "printable", "redact", "redact_value", "sanitise"]
