"""A stand-in for the toasts of Windows that records them, under winrt's names.

tests/wine/test_toasts.py holds each of these names against the real winrt.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from types import ModuleType
from typing import Any
from xml.etree import ElementTree


class Object:
    """What Windows hands to a listener."""

    def as_(self, kind: type) -> Any:
        assert isinstance(self, kind)
        return self


def unbox_string(boxed: Any) -> str:
    return str(boxed)


class NotificationSetting(enum.IntEnum):
    ENABLED = 0
    DISABLED_FOR_USER = 2


class ToastDismissalReason(enum.IntEnum):
    USER_CANCELED = 0


class ToastNotificationMode(enum.IntEnum):
    UNRESTRICTED = 0
    PRIORITY_ONLY = 1


class ToastNotificationPriority(enum.IntEnum):
    DEFAULT = 0
    HIGH = 1


class CoreApplication:
    id = ""


class XmlDocument:
    def load_xml(self, xml: str, /) -> None:
        self._root = ElementTree.fromstring(xml)


class ToastActivatedEventArgs(Object):
    user_input: Any = {}

    def __init__(self, arguments: str) -> None:
        self._arguments = arguments

    @property
    def arguments(self) -> str:
        return self._arguments


class ToastDismissedEventArgs(Object):
    reason = ToastDismissalReason.USER_CANCELED


class ToastFailedEventArgs(Object):
    error_code: Any = None


Listener = Callable[[Any, Any], None]


class ToastNotification(Object):
    tag = group = ""
    priority = ToastNotificationPriority.DEFAULT

    def __init__(self, content: XmlDocument, /) -> None:
        self._content = content._root

    def add_activated(self, handler: Listener, /) -> None:
        self._activated = handler

    def add_dismissed(self, handler: Listener, /) -> None:
        self._dismissed = handler

    def add_failed(self, handler: Listener, /) -> None:
        self._failed = handler


class ToastNotifier:
    def __init__(self, windows: Toasts) -> None:
        self._windows = windows

    @property
    def setting(self) -> NotificationSetting:
        return self._windows.setting

    def show(self, notification: ToastNotification, /) -> None:
        self._windows.shown.append(notification)


class ToastNotificationHistory:
    def __init__(self, windows: Toasts) -> None:
        self._windows = windows

    def remove_grouped_tag_with_id(self, tag: str, group: str, application_id: str, /) -> None:
        self._windows.removed.append((tag, group, application_id))


class ToastNotificationManagerForUser:
    def __init__(self, windows: Toasts) -> None:
        self._windows = windows

    @property
    def notification_mode(self) -> ToastNotificationMode:
        if self._windows.mode is None:
            raise OSError("No such interface supported")  # as of an earlier Windows
        return self._windows.mode

    @property
    def history(self) -> ToastNotificationHistory:
        return ToastNotificationHistory(self._windows)

    def create_toast_notifier_with_id(self, application_id: str, /) -> ToastNotifier:
        self._windows.names.append(application_id)
        return ToastNotifier(self._windows)


class ToastNotificationManager:
    _windows: Toasts

    @classmethod
    def get_default(cls) -> ToastNotificationManagerForUser:
        return ToastNotificationManagerForUser(cls._windows)


class Toasts:
    """What was shown and taken away, under which names, and what the user's setting is."""

    def __init__(self) -> None:
        self.shown: list[ToastNotification] = []
        self.removed: list[tuple[str, str, str]] = []
        self.names: list[str] = []
        self.setting = NotificationSetting.ENABLED
        self.mode: ToastNotificationMode | None = ToastNotificationMode.UNRESTRICTED
        ToastNotificationManager._windows = self

    @property
    def texts(self) -> list[list[str]]:
        return [[one.text or "" for one in toast._content.iter("text")] for toast in self.shown]

    def labels(self, number: int) -> list[str]:
        return [one.attrib["content"] for one in self.shown[number]._content.iter("action")]

    def press(self, number: int, label: str) -> None:
        """As Windows reports a button."""
        toast = self.shown[number]
        (words,) = (
            one.attrib["arguments"] for one in toast._content.iter("action") if one.attrib["content"] == label
        )
        toast._activated(toast, ToastActivatedEventArgs(words))


CLASSES: dict[str, tuple[Any, ...]] = {
    "winrt.system": (Object, unbox_string),
    "winrt.windows.applicationmodel.core": (CoreApplication,),
    "winrt.windows.data.xml.dom": (XmlDocument,),
    "winrt.windows.ui.notifications": (
        NotificationSetting,
        ToastActivatedEventArgs,
        ToastDismissalReason,
        ToastDismissedEventArgs,
        ToastFailedEventArgs,
        ToastNotification,
        ToastNotificationHistory,
        ToastNotificationManager,
        ToastNotificationManagerForUser,
        ToastNotificationMode,
        ToastNotificationPriority,
        ToastNotifier,
    ),
}


def modules() -> dict[str, ModuleType]:
    """To be put into sys.modules."""
    found = {name: ModuleType(name) for name in CLASSES}
    for name, kinds in CLASSES.items():
        for kind in kinds:
            setattr(found[name], kind.__name__, kind)
    return found


def names() -> list[tuple[str, str, str]]:
    """Module, class and member of everything that is stood in for; no member is the class itself."""
    return [
        (module, kind.__name__, member)
        for module, kinds in CLASSES.items()
        for kind in kinds
        for member in ("", *(one for one in vars(kind) if isinstance(kind, type) and not one.startswith("_")))
    ]
