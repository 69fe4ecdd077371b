"""The open notifications are found in what dbus-monitor writes, whatever else is there."""

from __future__ import annotations

from desktops.announced import open_notifications

NAME = "path=/org/freedesktop/Notifications; interface=org.freedesktop.Notifications"


def call(serial: int, words: str, sender: str = ":1.7") -> str:
    return (
        f"method call time=1.5 sender={sender} -> destination=org.freedesktop.Notifications serial={serial} "
        f'{NAME}; member=Notify\n   string "Hooktray"\n   uint32 0\n   string "{words}"\n'
    )


def reply(serial: int, number: int, caller: str = ":1.7") -> str:
    head = f"method return time=1.6 sender=:1.2 -> destination={caller} serial=90 reply_serial={serial}"
    return f"{head}\n   uint32 {number}\n"


def closed(number: int) -> str:
    head = (
        f"signal time=1.7 sender=:1.2 -> destination=(null destination) serial=91 {NAME}; member=NotificationClosed"
    )
    return f"{head}\n   uint32 {number}\n   uint32 2\n"


def found(*messages: str) -> dict[int, str]:
    """The third argument of each."""
    return {number: sent.split('"')[3] for number, sent in open_notifications("".join(messages)).items()}


def test_what_the_server_accepted_is_open() -> None:
    assert found(call(5, "a"), reply(5, 31), call(6, "b"), reply(6, 32)) == {31: "a", 32: "b"}


def test_what_it_refused_or_has_not_answered_is_not() -> None:
    error = 'error time=1.6 sender=:1.2 -> destination=:1.7 error_name=org.x reply_serial=5\n   string "no"\n'

    assert found(call(5, "a"), error, call(6, "b")) == {}


def test_an_answer_to_somebody_elses_call_is_none() -> None:
    assert found(call(5, "a"), reply(5, 31, caller=":1.8")) == {}


def test_what_is_closed_is_not_open_and_what_is_replaced_is_the_later_one() -> None:
    sent = [call(5, "a"), reply(5, 31), call(6, "b"), reply(6, 31), call(7, "c"), reply(7, 33)]

    assert found(*sent, closed(33)) == {31: "b"}


def test_a_line_that_is_not_written_whole_waits() -> None:
    whole = call(5, "a") + reply(5, 31)

    assert all(found(whole[:length]) in ({}, {31: "a"}, {3: "a"}) for length in range(len(whole) + 1))
