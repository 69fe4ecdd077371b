"""Builds everything once, starts it and stops it in order; the only package that knows all the parts."""
