"""Hooktray's own sounds, and the composer that makes them."""
