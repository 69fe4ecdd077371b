"""The states of agents' sessions; which tool calls ran unjudged; whether the user is there."""
