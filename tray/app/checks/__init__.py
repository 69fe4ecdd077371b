"""What can stand between an event and its hooks: each check once, for the doctor, commands, menu, icon and page."""
