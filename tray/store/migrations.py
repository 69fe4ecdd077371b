"""The tables of the database: one script for each version."""

from __future__ import annotations

# One script for each version, oldest first; a script that has been released is never edited.
MIGRATIONS = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value);

    CREATE TABLE journal (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at REAL,
        agent TEXT, session TEXT, project TEXT, event TEXT, kind TEXT, verdict INTEGER, reason TEXT, ms REAL,
        hooks TEXT, rewrites TEXT, notes TEXT, remarks TEXT, problem TEXT, payload TEXT, digest TEXT,
        masked INTEGER, answer TEXT, offline INTEGER, alerted TEXT
    );
    CREATE INDEX journal_at ON journal (at);
    CREATE INDEX journal_agent ON journal (agent);
    CREATE INDEX journal_session ON journal (session);
    CREATE INDEX journal_event ON journal (event);
    CREATE INDEX journal_offline ON journal (offline) WHERE offline = 1;

    CREATE TABLE switch (key TEXT PRIMARY KEY, value INTEGER NOT NULL);
    CREATE TABLE pause (agent TEXT, session TEXT, until REAL NOT NULL, PRIMARY KEY (agent, session));
    CREATE TABLE switch_log (seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL, what TEXT, way TEXT);

    CREATE TABLE ledger (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL, act TEXT, key TEXT, digest TEXT, definition TEXT,
        position TEXT, way TEXT, chain TEXT
    );
    CREATE INDEX ledger_key ON ledger (key, seq)
    """,
    """
    CREATE TABLE session_mark (
        session TEXT NOT NULL, name TEXT NOT NULL, turn INTEGER NOT NULL, count INTEGER NOT NULL, at REAL NOT NULL,
        PRIMARY KEY (session, name)
    ) WITHOUT ROWID;
    CREATE TABLE session_note (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, hook TEXT NOT NULL, text TEXT NOT NULL,
        wake INTEGER NOT NULL, at REAL NOT NULL
    );
    CREATE INDEX session_note_session ON session_note (session, seq)
    """,
    "ALTER TABLE journal ADD COLUMN test INTEGER NOT NULL DEFAULT 0",
    """
    ALTER TABLE journal ADD COLUMN cwd TEXT NOT NULL DEFAULT '';
    ALTER TABLE journal ADD COLUMN ledger INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE journal ADD COLUMN queued REAL NOT NULL DEFAULT 0;
    ALTER TABLE journal ADD COLUMN asked REAL NOT NULL DEFAULT 0;
    ALTER TABLE journal ADD COLUMN masks TEXT NOT NULL DEFAULT '[]'
    """,
    """
    ALTER TABLE journal RENAME COLUMN remarks TO adjustments;
    ALTER TABLE journal RENAME COLUMN queued TO wait_ms;
    ALTER TABLE journal RENAME COLUMN asked TO hooks_ms
    """,
    """
    CREATE TABLE session (
        agent TEXT NOT NULL, session TEXT NOT NULL, project TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
        since REAL NOT NULL, machine TEXT NOT NULL, ended INTEGER NOT NULL, place TEXT NOT NULL,
        PRIMARY KEY (agent, session)
    ) WITHOUT ROWID
    """,
    """
    ALTER TABLE journal ADD COLUMN tool TEXT NOT NULL DEFAULT '';
    ALTER TABLE journal ADD COLUMN subject TEXT NOT NULL DEFAULT ''
    """,
    "ALTER TABLE session ADD COLUMN usage_limit TEXT NOT NULL DEFAULT ''",
)
VERSION = len(MIGRATIONS)
