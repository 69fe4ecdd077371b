#!/usr/bin/env python3
"""Masks personal data in what an agent sends out: e-mail addresses, phone, card and account numbers.

Answers in: starchild. Needs Python 3.10.
An outbound message goes out with the masked text; a reply is shown with it. When it breaks it exits 1, which is
"failed"; with `failure: block` an outbound message then stays where it is.

Declare:
    - {event: outbound_message, name: pii in messages, command: ./pii_redaction.py, failure: block}
    - {event: response_end, name: pii in replies, command: ./pii_redaction.py}
    - {event: message_display, name: pii on screen, command: ./pii_redaction.py}
Try:
    echo '{"event":"on_outbound_message","notification":"ask jo@corp.test"}' |
        hooktray test on_outbound_message --agent starchild --hook "pii in messages" --payload -
"""

import json
import re
import sys

FIELDS = ("notification", "response")
EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])")
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
SOCIAL = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")
PHONE = re.compile(
    r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d+\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){2,4}|\(\d{3}\) ?\d{3}-\d{4})(?![\w-])"
)


def main() -> None:
    event = json.load(sys.stdin)
    for field in FIELDS:
        text = event.get(field)
        if isinstance(text, str) and masked(text) != text:
            print(json.dumps({field: masked(text)}))
            return


def masked(text: str) -> str:
    text = EMAIL.sub("[e-mail]", text)
    text = IBAN.sub(lambda found: "[account]" if _is_iban(found[0]) else found[0], text)
    text = CARD.sub(lambda found: "[card]" if _is_card(found[0]) else found[0], text)
    text = SOCIAL.sub("[social security number]", text)
    return PHONE.sub("[phone]", text)


def _is_card(number: str) -> bool:
    """By the check digit, so that order and build numbers stay readable."""
    digits = [int(sign) for sign in number if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


def _is_iban(number: str) -> bool:
    plain = number.replace(" ", "")
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


if __name__ == "__main__":
    main()
