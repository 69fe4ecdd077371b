"""The IPC server of the tray, for relays and the CLI of the same user only, and the wire format."""
