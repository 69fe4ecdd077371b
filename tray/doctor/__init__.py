"""One list of checks with causes and remedies; what `status`, icon and menu say comes from it."""
