-- Finished tasks that were removed, one row each: a task is removed, or it is gone. Rows are added in the transaction that
-- takes the task's journal away, and are never changed or removed.
CREATE TABLE wharf_removed (
    number      INTEGER NOT NULL PRIMARY KEY,  -- grows in the order of the removals
    task        TEXT    NOT NULL UNIQUE,
    fingerprint TEXT    NOT NULL,  -- SHA-256 of the task's canonical request
    status      TEXT    NOT NULL,  -- how it had ended
    sequence    INTEGER NOT NULL,  -- of its last journal record
    head        TEXT    NOT NULL,  -- the journal's hash there
    ledger      TEXT    NOT NULL,  -- SHA-256 of the ledger rows that it left
    fuel        INTEGER NOT NULL,  -- that its plugin's calls had burnt
    finished_at TEXT    NOT NULL,  -- RFC 3339, UTC
    removed_at  TEXT    NOT NULL   -- RFC 3339, UTC
) STRICT;
