"""The door: where relays and the CLI knock, owner-only, and the wire they speak."""
