//! Changing or asking for what belongs to the connection or the file.

use super::{Attack, Refusal::Denied, attack};

const PRAGMA: super::Refusal = Denied("may not be used");

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        "make the schema writable",
        PRAGMA,
        &[
            "PRAGMA writable_schema = ON",
            "PRAGMA main.writable_schema(1)",
            "PRAGMA writable_schema = RESET",
        ],
    ),
    attack("trust the schema", PRAGMA, &["PRAGMA trusted_schema = ON"]),
    attack(
        "give durability up",
        PRAGMA,
        &[
            "PRAGMA journal_mode = DELETE",
            "PRAGMA journal_mode = OFF",
            "PRAGMA synchronous = OFF",
            "PRAGMA locking_mode = EXCLUSIVE",
            "PRAGMA fullfsync = 0",
            "PRAGMA wal_autocheckpoint = 0",
        ],
    ),
    attack(
        "switch constraints off",
        PRAGMA,
        &[
            "PRAGMA foreign_keys = OFF",
            "PRAGMA ignore_check_constraints = ON",
        ],
    ),
    attack(
        "defer constraints",
        PRAGMA,
        &["PRAGMA defer_foreign_keys = ON"],
    ),
    attack(
        "raise a limit by a pragma",
        PRAGMA,
        &[
            "PRAGMA max_page_count = 4294967294",
            "PRAGMA hard_heap_limit = 0",
            "PRAGMA soft_heap_limit = 0",
            "PRAGMA threads = 8",
            "PRAGMA cache_size = 1000000",
            "PRAGMA mmap_size = 1000000000",
            "PRAGMA busy_timeout = 1",
            "PRAGMA analysis_limit = 0",
        ],
    ),
    attack(
        "have temporary tables elsewhere",
        PRAGMA,
        &[
            "PRAGMA temp_store = MEMORY",
            "PRAGMA temp_store_directory = '/etc'",
            "PRAGMA data_store_directory = '/etc'",
        ],
    ),
    attack(
        "write a number into the file's head",
        PRAGMA,
        &[
            "PRAGMA user_version = 7",
            "PRAGMA application_id = 7",
            "PRAGMA schema_version = 7",
            "PRAGMA encoding = 'UTF-16'",
        ],
    ),
    attack(
        "ask for settings",
        PRAGMA,
        &[
            "PRAGMA synchronous",
            "PRAGMA user_version",
            "PRAGMA compile_options",
            "PRAGMA function_list",
            "PRAGMA collation_list",
            "PRAGMA data_version",
            "PRAGMA page_count",
            "PRAGMA freelist_count",
        ],
    ),
    attack(
        "ask for tables",
        PRAGMA,
        &[
            "PRAGMA table_list",
            "PRAGMA table_info(wharf_ledger)",
            "PRAGMA index_list('wharf_ledger')",
            "PRAGMA foreign_key_check",
            "PRAGMA database_list",
        ],
    ),
    attack(
        "have the file looked through or tidied up",
        PRAGMA,
        &[
            "PRAGMA integrity_check",
            "PRAGMA quick_check(wharf_ledger)",
            "PRAGMA wal_checkpoint(TRUNCATE)",
            "PRAGMA optimize",
            "PRAGMA incremental_vacuum",
            "PRAGMA shrink_memory",
        ],
    ),
    attack(
        "let other statements of it write only",
        PRAGMA,
        &[
            "PRAGMA query_only = ON",
            "PRAGMA read_uncommitted = ON",
            "PRAGMA recursive_triggers = ON",
            "PRAGMA case_sensitive_like = ON",
            "PRAGMA legacy_alter_table = ON",
            "PRAGMA cell_size_check = OFF",
            "PRAGMA secure_delete = OFF",
        ],
    ),
    attack(
        "a pragma that there is not",
        PRAGMA,
        &["PRAGMA nothing", "PRAGMA temp.nothing = 1"],
    ),
    attack(
        "attach a database in memory",
        Denied("attached"),
        &["ATTACH ':memory:' AS other", "ATTACH DATABASE '' AS other"],
    ),
    attack(
        "attach a file",
        Denied("attached"),
        &[
            "ATTACH 'x.sqlite' AS other",
            "ATTACH 'file:x.sqlite?mode=rwc' AS other",
            "ATTACH 'memory.sqlite' AS memory",
        ],
    ),
    attack(
        "attach what an expression names",
        // SQLite finds fault with the expression before it asks anybody.
        Denied("of a kind that may not be used"),
        &[
            "ATTACH (SELECT 'x' || '.sqlite') AS other",
            "ATTACH ?1 AS other",
        ],
    ),
    attack(
        "detach the file",
        Denied("attached"),
        &["DETACH main", "DETACH DATABASE temp"],
    ),
    attack(
        "rebuild the file",
        Denied("kind"),
        &["VACUUM", "VACUUM main"],
    ),
    attack(
        "copy the file",
        Denied("kind"),
        &[
            "VACUUM INTO 'copy.sqlite'",
            "VACUUM main INTO (SELECT 'copy.sqlite')",
            "VACUUM INTO 'file:copy.sqlite?mode=rwc'",
        ],
    ),
    attack(
        "explain",
        Denied("kind"),
        &[
            "EXPLAIN SELECT 1",
            "EXPLAIN INSERT INTO counters VALUES ('a', 1)",
        ],
    ),
    attack(
        "explain the plan",
        Denied("kind"),
        &["EXPLAIN QUERY PLAN SELECT * FROM items"],
    ),
    attack(
        "explain what may not be read",
        Denied("may not be used here"),
        &["EXPLAIN SELECT * FROM wharf_ledger"],
    ),
];
