"""Shell lines: one splitter, and the values of placeholders in them."""
