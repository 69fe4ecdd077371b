"""Notifications that go to the user's phone or chat through Apprise, while the user is away or always."""
