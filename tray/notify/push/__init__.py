"""Notifications that go to the user's phone or chat through Apprise, while nobody is at the desktop or always."""
