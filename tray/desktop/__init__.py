"""The tray icon and its menu, on whatever the desktop offers."""
