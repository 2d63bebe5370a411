-- Whose database this is. One row.
CREATE TABLE wharf_workspace (
    id     TEXT NOT NULL,  -- random, 32 hexadecimal digits; tells workspaces apart in shared stores
    tenant TEXT NOT NULL   -- the one tenant that may use it
) STRICT;
CREATE UNIQUE INDEX wharf_workspace_one ON wharf_workspace ((1));

-- Every business operation that was performed, once each. Rows are added in the transaction of their effect and
-- are never changed or removed.
CREATE TABLE wharf_ledger (
    plugin           TEXT    NOT NULL,  -- the plugin's installed name
    subject          TEXT    NOT NULL,  -- what the operation was performed on
    operation_key    TEXT    NOT NULL,  -- the plugin's semantic name of the operation
    task             TEXT    NOT NULL,  -- the task that performed it
    principal        TEXT    NOT NULL,  -- who asked for that task
    fingerprint      TEXT    NOT NULL,  -- SHA-256 of the task's canonical request
    input_digest     TEXT    NOT NULL,  -- SHA-256 of the request's canonical `input`
    tool             TEXT    NOT NULL,  -- the tool that performed it
    arguments_digest TEXT    NOT NULL,  -- SHA-256 of the step's canonical arguments
    data             TEXT    NOT NULL,  -- the record: JSON, as the plugin wrote it
    sequence         INTEGER NOT NULL,  -- the journal record that intended it
    at               TEXT    NOT NULL,  -- RFC 3339, UTC
    PRIMARY KEY (plugin, subject, operation_key)
) STRICT;
CREATE INDEX wharf_ledger_task ON wharf_ledger (task, sequence);

-- The last journal record of each task that is known to be durable.
CREATE TABLE wharf_anchors (
    task     TEXT    NOT NULL PRIMARY KEY,
    sequence INTEGER NOT NULL,  -- of the journal record
    head     TEXT    NOT NULL   -- the journal's hash there
) STRICT;

-- A page to change: a commit that changes none is not synced.
CREATE TABLE wharf_barrier (
    commits INTEGER NOT NULL  -- barriers committed so far
) STRICT;
INSERT INTO wharf_barrier (commits) VALUES (0);

-- The tables and views that a plugin's migrations created: all that the plugin may touch.
CREATE TABLE wharf_tables (
    name   TEXT NOT NULL COLLATE NOCASE PRIMARY KEY,
    plugin TEXT NOT NULL,  -- its owner
    kind   TEXT NOT NULL CHECK (kind IN ('table', 'view'))
) STRICT;
CREATE INDEX wharf_tables_plugin ON wharf_tables (plugin);

-- The numbered schema changes of plugins. The host's own stand in wharf_migrations.
CREATE TABLE wharf_plugin_migrations (
    plugin     TEXT    NOT NULL,
    version    INTEGER NOT NULL,  -- from 1 upwards, without gaps
    checksum   TEXT    NOT NULL,  -- SHA-256 of its statements
    applied_at TEXT    NOT NULL,  -- RFC 3339, UTC
    PRIMARY KEY (plugin, version)
) STRICT;

-- What the trusted side filled into a plugin's tables, once.
CREATE TABLE wharf_seeds (
    plugin     TEXT NOT NULL PRIMARY KEY,
    checksum   TEXT NOT NULL,  -- SHA-256 of the statements
    applied_at TEXT NOT NULL   -- RFC 3339, UTC
) STRICT;
