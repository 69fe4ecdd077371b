"""The local web page: what was decided and why, hooks and their approval; started when it is first opened."""
