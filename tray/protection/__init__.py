"""Self-protection: no tool call of an agent switches its guards off. Begin with self_protection.py."""
