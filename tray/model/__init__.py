"""The words everyone uses; no I/O, and nothing of ours is imported here."""
