"""What a person decides about hooks, and what of it holds. Begin with roster.py."""
