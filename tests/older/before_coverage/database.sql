BEGIN TRANSACTION;
CREATE TABLE journal (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at REAL,
        agent TEXT, session TEXT, project TEXT, event TEXT, kind TEXT, verdict INTEGER, reason TEXT, ms REAL,
        hooks TEXT, rewrites TEXT, notes TEXT, remarks TEXT, problem TEXT, payload TEXT, digest TEXT,
        masked INTEGER, answer TEXT, offline INTEGER, alerted TEXT
    , test INTEGER NOT NULL DEFAULT 0, cwd TEXT NOT NULL DEFAULT '', ledger INTEGER NOT NULL DEFAULT 0, queued REAL NOT NULL DEFAULT 0, asked REAL NOT NULL DEFAULT 0, masks TEXT NOT NULL DEFAULT '[]');
CREATE TABLE ledger (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL, act TEXT, key TEXT, digest TEXT, definition TEXT,
        position TEXT, way TEXT, chain TEXT
    );
INSERT INTO "ledger" VALUES(1,1.79540894337589573858e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#alone','ed071cecbc4866cbfa6477c6f3f5d9e24166d2a90441932f9d4c33535168376c','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./alone.sh", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "Bash"}, "name": "alone", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 0]','tray','f344543eb9b9748e37fc5c4e36ed232be8b492ed75a33f702870f85e831017b8');
INSERT INTO "ledger" VALUES(2,1.7954089434817013741e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#logging','974abd0dcedfbf6d9e03efbca64dbbbaed643ecba1a2dd53056994ef230f08a9','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./logging.sh ./audit.log", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "Bash"}, "name": "logging", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 1]','tray','c0bf2bd832b2b57f157e849fb6bab5a4d7ec2d12e876c6ab8c612f3143aaef44');
INSERT INTO "ledger" VALUES(3,1.79540894364014601706e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#loading','61b2df33e65c4ae525e763c0925ea791f4c52724ac48fe67dfc515e26f402744','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./loading.py", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "Bash"}, "name": "loading", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 2]','tray','6ecfc0651118b557a4d56159b127fa19382cfa700f96c7fb6fbf04d6820ce703');
INSERT INTO "ledger" VALUES(4,1.795408943736166954e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#open','21c2f5c8981ed64968c373ea711684b0a30e6fa1ee66c9e361bbd892635d013f','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./open.sh", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "Bash"}, "name": "open", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 3]','tray','f1c15ed4c57e8e47a6069bd90c29383d73cf7b50792fe7c25d9a59f60ac69792');
INSERT INTO "ledger" VALUES(5,1.79540894384002780916e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#strict','364414df14f2415c37cee3472c5b6f3e610ad59afe2a5bed3cdddbb41934383e','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./strict.sh", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "block", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "Bash"}, "name": "strict", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 4]','tray','d9b5b7e21e3c56bc251d47c74b3d340da6f21e11444c0ee312dfe6b895d4389a');
INSERT INTO "ledger" VALUES(6,1.79540894394753694539e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#rule','4ae408cd0e9f8feac8972d66d6e9fe6740485e11054ddfb4187542e44b107b3d','{"action": {"reason": "", "verdict": 3}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Rule", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "WebFetch"}, "name": "rule", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 5]','tray','aeafb3d0b2fcb49f64860e0ca852f9fa5a30d4d4b40b2c67a5abee3ee0f8e327');
INSERT INTO "ledger" VALUES(7,1.79540894402863740919e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#post','5e2b29700fce696d03153e443b2ec8a1e2a5f3935cd5553d7192bd5685c4faea','{"action": {"allow_local": [], "headers": [], "url": "https://hooks.example/x"}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Http", "match": {"agents": [], "event": "tool_before", "format": "", "native": "", "pattern": "", "project": "", "tool": "WebSearch"}, "name": "post", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 6]','tray','a2881d165b21153b025b5c7ff475738f7eb939113b4787b38dafef4cfe1f72ee');
INSERT INTO "ledger" VALUES(8,1.79540894408272266391e+09,'approve','hooktray:{HOME}/config/hooktray.yaml#done','31a37eab9da15a473e8493ee9b276670d959147c687e70de56e373535f73bc5d','{"action": {"folder": "{HOME}/config", "format": "", "interpreter": "", "line": "./done.sh", "plugin": "", "shell": false, "storage": ""}, "background": 600.0, "dialect": "starchild", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "turn_end", "format": "", "native": "", "pattern": "", "project": "", "tool": ""}, "name": "done", "source": {"kind": "hooktray", "path": "{HOME}/config/hooktray.yaml"}, "timeout": 20.0}','[0, 7]','tray','36c0cdfcee99eb8033e3b027a9e292c983a52b4bbec4820b32e57a1e4944187c');
INSERT INTO "ledger" VALUES(9,1.79540894414723134044e+09,'approve','claude-code:{HOME}/config/claude/settings.json#plain','f86019c21623ba533b700eb26ff03bc063345c3a22d97ace7a4214c3a70ae750','{"action": {"folder": "{HOME}/config/claude", "format": "claude-code", "interpreter": "/bin/sh", "line": "{HOME}/config/claude/plain.sh", "plugin": "", "shell": true, "storage": ""}, "background": 600.0, "dialect": "claude-code", "enabled": true, "env": [], "failure": "allow", "files": [], "kind": "Command", "match": {"agents": [], "event": "tool_before", "format": "claude-code", "native": "PreToolUse", "pattern": "", "project": "", "tool": "Bash"}, "name": "plain", "source": {"kind": "claude-code", "path": "{HOME}/config/claude/settings.json"}, "timeout": 600.0}','[1, 0]','tray','ba60cc2e30d843d0f5babb2e7fc540c8c7114bdb7b06ef9467d2c53775ca9d42');
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
PRAGMA user_version = 4;
