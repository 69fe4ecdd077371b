"""What a hook can be: a module for each kind of action, none of which gives the outcome a meaning."""
