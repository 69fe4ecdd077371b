BEGIN TRANSACTION;
CREATE TABLE journal (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at REAL,
        agent TEXT, session TEXT, project TEXT, event TEXT, kind TEXT, verdict INTEGER, reason TEXT, ms REAL,
        hooks TEXT, rewrites TEXT, notes TEXT, adjustments TEXT, problem TEXT, payload TEXT, digest TEXT,
        masked INTEGER, answer TEXT, offline INTEGER, alerted TEXT
    , test INTEGER NOT NULL DEFAULT 0, cwd TEXT NOT NULL DEFAULT '', ledger INTEGER NOT NULL DEFAULT 0, wait_ms REAL NOT NULL DEFAULT 0, hooks_ms REAL NOT NULL DEFAULT 0, masks TEXT NOT NULL DEFAULT '[]');
CREATE TABLE ledger (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL, act TEXT, key TEXT, digest TEXT, definition TEXT,
        position TEXT, way TEXT, chain TEXT
    );
INSERT INTO "ledger" VALUES(1,1.79540895203596687318e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#alone','8c16751c7264120adf70a98d7da2de40fbdcb38aaaf749aed70cd0f773d29426','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./alone.sh", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "Bash"}, "name": "alone", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 0]','tray','e0dfc4b8c82da4bbaeaa1be73615a5b7e4c2538e17f6a225fffa65c3f79d6116');
INSERT INTO "ledger" VALUES(2,1.79540895217441606518e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#logging','9311a6a388034fcefca397a4fb381a713daf296b6bd60d88460ad300b9b6119e','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./logging.sh ./audit.log", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "Bash"}, "name": "logging", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 1]','tray','2ee0355ad96a97ee3cd58186ed09877b6dde6f8036802d15b6dc2ad8d7104f75');
INSERT INTO "ledger" VALUES(3,1.79540895229952073095e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#loading','c22f7177b5139ea384b02f9379396aa36fbf6c1d4dbc05f724fb3762cc91f156','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./loading.py", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "Bash"}, "name": "loading", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 2]','tray','67dbdc7f07b05b10c50716dca84846aedb5d446499ed4bfb17189724d0201fac');
INSERT INTO "ledger" VALUES(4,1.79540895246274089815e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#open','15924224afb25eeb14ecac864a6f4489706706528189aa139a463fc7b7da44aa','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./open.sh", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "Bash"}, "name": "open", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 3]','tray','555a0eebac527ba3eae5f63f951d436f8b6b23added45d71aec55e37b17bf446');
INSERT INTO "ledger" VALUES(5,1.79540895255378103257e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#strict','f9d717f4e9ca7fa9b876fc120b2f3c9d05b404e09d44d6a5b7697017ef4edac5','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./strict.sh", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "block", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "Bash"}, "name": "strict", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 4]','tray','9616d0952465c0a135aded12d944f3ee8d4566aaa0c04d7a41860b5a72abb926');
INSERT INTO "ledger" VALUES(6,1.79540895262086534498e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#rule','eaec36dd1bfab5a932f298dff368168f20b912971098d21e6018be9f35c70795','{"action": {"reason": "", "verdict": 3}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Rule", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "WebFetch"}, "name": "rule", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 5]','tray','d8f4c8d0bbced2f2169119bb14a0daf48bd8d15323895b3c3f9af444781b46b6');
INSERT INTO "ledger" VALUES(7,1.79540895271516513821e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#post','a52074bb6dca4810fb92027ed44194b6a33430b9b58d3ee26e3e2863ffcc78e9','{"action": {"allow_local": [], "headers": [], "url": "https://hooks.example/x"}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Http", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "WebSearch"}, "name": "post", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 6]','tray','cd4e7399a59fe5474c80d5a26bb519a635d890e572b9523b50b290d1b023e31e');
INSERT INTO "ledger" VALUES(8,1.79540895283732986455e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#done','d98e8ee7ad0f80f5c89fc14fd53a124b3021e7057d2787f121d0ca30e587bcea','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./done.sh", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "turn_end", "format": "", "native": "", "pattern": "", "project": "", "tool": ""}, "name": "done", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 7]','tray','07948a93b7ed2820e2fa75dc909053697166a81314327c0ea0440ac942e2dcb5');
INSERT INTO "ledger" VALUES(9,1.79540895294864511488e+09,'approve','claude-code:{HOME}/config/claude/settings.json#plain','15f9ff665fae20ebed043336f679f54eb18906f151170d5019e4fc853f0d7b5c','{"action": {"folder": "{HOME}/config/claude", "format": "claude-code", "interpreter": "/bin/sh", "line": "{HOME}/config/claude/plain.sh", "plugin": "", "shell": true, "storage": ""}, "background": 600.0, "dialect": "claude-code", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "claude-code", "native": "PreToolUse", "pattern": "", "project": "", "tool": "Bash"}, "name": "plain", "source": {"kind": "claude-code", "path": "{HOME}/config/claude/settings.json"}, "timeout": 600.0}','[1, 0]','tray','d6b6d9ddea3148829d98f750c19277138171d6a1fadf8f0a91ca1ab3c6f4a60f');
CREATE TABLE meta (key TEXT PRIMARY KEY, value);
CREATE TABLE pause (agent TEXT, session TEXT, until REAL NOT NULL, PRIMARY KEY (agent, session));
CREATE TABLE session_mark (
        session TEXT NOT NULL, name TEXT NOT NULL, turn INTEGER NOT NULL, count INTEGER NOT NULL, at REAL NOT NULL,
        PRIMARY KEY (session, name)
    ) WITHOUT ROWID;
CREATE TABLE session_note (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, hook TEXT NOT NULL, text TEXT NOT NULL,
        wake INTEGER NOT NULL, at REAL NOT NULL
    );
CREATE TABLE switch (key TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE switch_log (seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL, what TEXT, way TEXT);
CREATE INDEX journal_at ON journal (at);
CREATE INDEX journal_agent ON journal (agent);
CREATE INDEX journal_session ON journal (session);
CREATE INDEX journal_event ON journal (event);
CREATE INDEX journal_offline ON journal (offline) WHERE offline = 1;
CREATE INDEX ledger_key ON ledger (key, seq)
    ;
CREATE INDEX session_note_session ON session_note (session, seq)
    ;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('ledger',9);
COMMIT;
PRAGMA user_version = 5;
