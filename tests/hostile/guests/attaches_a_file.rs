//! Reaches for files through the database. Nothing works, and no file appears.

use hostile::{Answer, Failure, Guest, Step, Task, Transaction, try_all};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(_: &Task, _: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        try_all(tx, ATTACKS)
    }
}

const ATTACKS: &[&str] = &[
    "ATTACH 'stolen.sqlite' AS stolen",
    "ATTACH 'file:/tmp/wharf-zoo-attached?mode=rwc' AS a",
    "VACUUM INTO '/tmp/wharf-zoo-vacuum'",
    "PRAGMA temp_store_directory = '/tmp'",
    "PRAGMA journal_mode = DELETE",
    "SELECT load_extension('libc.so.6')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('/tmp/wharf-zoo-written', 'x')",
    "SELECT edit('x', 'sh')",
    "CREATE VIRTUAL TABLE f USING csv(filename='/etc/passwd')",
    "CREATE TEMP TABLE t (x)",
    "SELECT fts3_tokenizer('simple')",
];
