"""One folder or file for each agent: everything that Hooktray knows of it. `registry.AGENTS` lists them."""
