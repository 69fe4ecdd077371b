"""The states of sessions, tool calls that ran unjudged, and the files that show that the user is there."""
