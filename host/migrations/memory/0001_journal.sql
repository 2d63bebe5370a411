-- The record of every task: append-only, each record's hash covers the one before it.
CREATE TABLE journal (
    task     TEXT    NOT NULL,
    sequence INTEGER NOT NULL,  -- from 1 upwards, without gaps
    kind     TEXT    NOT NULL,  -- the kind of event
    at       TEXT    NOT NULL,  -- RFC 3339, UTC
    body     TEXT    NOT NULL,  -- the event: JSON
    hash     TEXT    NOT NULL,  -- of the chain up to and with this record
    PRIMARY KEY (task, sequence)
) STRICT;

-- A page to change: a commit that changes none is not synced.
CREATE TABLE wharf_barrier (
    commits INTEGER NOT NULL  -- barriers committed so far
) STRICT;
INSERT INTO wharf_barrier (commits) VALUES (0);
