"""The schema of the database and its version."""

from __future__ import annotations

VERSION = 9  # increase it with each change of SCHEMA; the tray sets databases of other versions aside
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value);

CREATE TABLE journal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at REAL,
    agent TEXT, session TEXT, project TEXT, event TEXT, kind TEXT, verdict INTEGER, reason TEXT, ms REAL,
    hooks TEXT, rewrites TEXT, notes TEXT, adjustments TEXT, problem TEXT, payload TEXT, digest TEXT,
    masked INTEGER, answer TEXT, offline INTEGER, alerted TEXT, test INTEGER NOT NULL DEFAULT 0,
    cwd TEXT NOT NULL DEFAULT '', ledger INTEGER NOT NULL DEFAULT 0, wait_ms REAL NOT NULL DEFAULT 0,
    hooks_ms REAL NOT NULL DEFAULT 0, masks TEXT NOT NULL DEFAULT '[]', tool TEXT NOT NULL DEFAULT '',
    subject TEXT NOT NULL DEFAULT ''
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
CREATE INDEX ledger_key ON ledger (key, seq);

CREATE TABLE session (
    agent TEXT NOT NULL, session TEXT NOT NULL, project TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
    since REAL NOT NULL, machine TEXT NOT NULL, ended INTEGER NOT NULL, place TEXT NOT NULL,
    usage_limit TEXT NOT NULL DEFAULT '', PRIMARY KEY (agent, session)
) WITHOUT ROWID;
CREATE TABLE session_mark (
    session TEXT NOT NULL, name TEXT NOT NULL, turn INTEGER NOT NULL, count INTEGER NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (session, name)
) WITHOUT ROWID;
CREATE TABLE session_note (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, hook TEXT NOT NULL, text TEXT NOT NULL,
    wake INTEGER NOT NULL, at REAL NOT NULL
);
CREATE INDEX session_note_session ON session_note (session, seq)
"""
