"""Who is on the other end: the user, an agent or a hook. Begin with person.py."""
