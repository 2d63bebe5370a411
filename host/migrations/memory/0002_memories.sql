-- What agents remember: one row per object.
CREATE TABLE memories (
    number       INTEGER NOT NULL PRIMARY KEY,  -- grows in the order in which the objects were first kept
    id           TEXT    NOT NULL UNIQUE,       -- exactly as it was given
    content      TEXT    NOT NULL,              -- JSON
    summary      TEXT,
    scope        TEXT,
    categories   TEXT    NOT NULL,              -- a JSON array of texts
    metadata     TEXT    NOT NULL,              -- a JSON object
    source       TEXT    NOT NULL,              -- who or what it comes from
    created_at   TEXT    NOT NULL,              -- RFC 3339, UTC
    updated_at   TEXT    NOT NULL,              -- RFC 3339, UTC
    last_used_at TEXT,                          -- RFC 3339, UTC; null: never
    usage_count  INTEGER NOT NULL,
    version      INTEGER NOT NULL               -- from 1 upwards
) STRICT;
CREATE INDEX memories_by_scope ON memories (scope, id) WHERE scope IS NOT NULL;

-- The categories once more, a row each, with the object's scope: found by index, in the order of the ids.
CREATE TABLE memory_categories (
    category TEXT NOT NULL,
    id       TEXT NOT NULL,
    scope    TEXT,
    PRIMARY KEY (category, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_categories_by_scope ON memory_categories (scope, category, id) WHERE scope IS NOT NULL;

-- The words, under the object's number. It keeps no text: what is searched is made from the row. Needs SQLite 3.43; the tables
-- above do not.
CREATE VIRTUAL TABLE memory_words USING fts5 (
    scope,    -- the scope's digest, as one word
    summary,
    content,
    content = '',
    contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 2"
);
