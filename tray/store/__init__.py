"""What survives a restart: the journal, the switch and the ledger, in one SQLite file."""
