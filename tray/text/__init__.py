"""Pure: makes foreign text safe to show (sanitise, printable, first_line) and safe to keep (redact, redact_value)."""

from tray.text.display import first_line, printable, sanitise
from tray.text.redaction import Redacted, mask_text, redact, redact_value

__all__ = ["Redacted", "first_line", "mask_text", "printable", "redact", "redact_value", "sanitise"]
