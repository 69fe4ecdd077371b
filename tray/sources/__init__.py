"""The places where hooks are declared: one declaration format, one file; each yields hooks with file and line."""
