"""Whatever keeps an event from its hooks: each check once, for the doctor, commands, menu, icon and page."""
