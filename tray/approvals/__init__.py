"""What a person decides about hooks, and which of these decisions are in force. Begin with catalog.py."""
