"""Who is on the other end: a person, an agent, a hook. Begin with person.py."""
