"""Who works, who waits and who is done; which tool calls ran unjudged; whether the user is there."""
