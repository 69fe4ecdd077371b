"""Careful editing of other people's files: no byte of theirs is lost."""
