"""Attacks on the whole product, each a program: `python tests/torture [--quick | --full] [T03 T07 …]`."""
