"""Pure: makes foreign text safe to show (sanitise, …, escape_markup) and safe to keep (redact, redact_value)."""

from tray.text.display import escape_markup, first_line, printable, sanitise
from tray.text.redaction import Redacted, mask_text, redact, redact_value

__all__ = ["Redacted", "escape_markup", "first_line", "mask_text", "printable", "redact", "redact_value", "sanitise"]
