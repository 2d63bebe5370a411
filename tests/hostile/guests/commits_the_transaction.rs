//! Ends or divides the host's transaction with statements of its own, so that half a step would stay. None of them runs.

use hostile::{Answer, Failure, Guest, Step, Task, Transaction, try_all};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn perform(_: &Task, _: &Step, tx: &Transaction) -> Result<Answer, Failure> {
        try_all(tx, ATTACKS)
    }
}

const ATTACKS: &[&str] = &[
    "COMMIT",
    "END",
    "ROLLBACK",
    "BEGIN",
    "SAVEPOINT s",
    "RELEASE s",
    "ROLLBACK TO s",
    "INSERT INTO things (id) VALUES ('a'); COMMIT",
    "SELECT 1; COMMIT",
    "-- nothing",
    "/* COMMIT */",
    "EXPLAIN COMMIT",
];
