"""Hooktray's own sounds, which docs/compose_sounds.py makes."""
