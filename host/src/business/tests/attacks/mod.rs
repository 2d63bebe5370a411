//! Attacks on the confinement of a plugin's SQL, as data: one entry for each way that something could be reached, with the
//! texts that try it and the refusal that is expected.
//!
//! Each text runs in a call of its own, which ends well: what it has done would be committed. Before and after, everything
//! in the database is compared byte by byte, and the operator must have been told.

mod bombs;
mod definitions;
mod functions;
mod reach;
mod scripts;
mod settings;
mod transactions;

use std::collections::BTreeSet;

use self::Refusal::{Denied, Limit, Lost};
use super::{state::state, *};
use crate::words::events::events;

/// One mechanism.
pub(super) struct Attack {
    /// What is tried, unlike any other's.
    pub(super) mechanism: &'static str,
    pub(super) refusal: Refusal,
    /// Its spellings.
    pub(super) texts: &'static [&'static str],
}

/// How an attack ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Refusal {
    /// The plugin is told that it may not, with these words.
    Denied(&'static str),
    /// The plugin is told that it used up a limit, with these words.
    Limit(&'static str),
    /// The call is over, with this code.
    Lost(&'static str),
}

pub(super) const fn attack(
    mechanism: &'static str,
    refusal: Refusal,
    texts: &'static [&'static str],
) -> Attack {
    Attack {
        mechanism,
        refusal,
        texts,
    }
}

/// What is refused as long as its statement begins to run.
fn all() -> impl Iterator<Item = &'static Attack> {
    [
        reach::ATTACKS,
        settings::ATTACKS,
        definitions::ATTACKS,
        functions::ATTACKS,
        transactions::ATTACKS,
        bombs::ATTACKS,
    ]
    .into_iter()
    .flatten()
}

const MORE: &str = "
    CREATE TABLE promises (id INTEGER PRIMARY KEY, kept INTEGER REFERENCES items (id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE traps (kind TEXT);
    CREATE VIEW deep1 AS SELECT a.id FROM items a, items b;
    CREATE VIEW deep2 AS SELECT a.id FROM deep1 a, deep1 b, deep1 c, deep1 d;
    CREATE VIEW deep3 AS SELECT a.id FROM deep2 a, deep2 b, deep2 c, deep2 d;";

/// Two plugins, one of them with rows.
fn unseeded() -> Fixture {
    let fixture = Fixture::with(SqlLimits {
        sql_millis: some(150),
        rows_per_query: some(1000),
        bytes_per_call: some(512 * 1024),
        ..SqlLimits::standard()
    });
    let store = &fixture.store;
    let (p, q) = ("p".parse().unwrap(), "q".parse().unwrap());
    let list = migrations(&[TABLES, MORE]);
    store.install(&p, &list, at()).unwrap();
    let others =
        "CREATE VIEW glimpse AS SELECT x FROM others; CREATE INDEX others_x ON others (x);";
    let list = migrations(&["CREATE TABLE others (x)", others]);
    store.install(&q, &list, at()).unwrap();
    store
        .seed(&q, "INSERT INTO others VALUES ('theirs')", at())
        .unwrap();
    fixture
}

/// Two plugins with rows, a ledger row, and triggers that attack from inside.
fn field() -> Fixture {
    let fixture = unseeded();
    let rows = "
        INSERT INTO items (name, n, body) VALUES ('one', 1, '[1]'), ('two', 2, '[2]'), ('three', 3, NULL);
        INSERT INTO counters VALUES ('one', 1);
        INSERT INTO parts VALUES (1, 'part');
        CREATE TRIGGER roll BEFORE INSERT ON traps WHEN NEW.kind = 'rollback' BEGIN SELECT RAISE(ROLLBACK, 'trap'); END;
        CREATE TRIGGER loops AFTER INSERT ON traps WHEN NEW.kind = 'endless' BEGIN
            INSERT INTO counters SELECT 'x' || count(*), 1 FROM deep3;
        END;";
    fixture
        .store
        .seed(&"p".parse().unwrap(), rows, at())
        .unwrap();
    fixture.add("honest", "honest");
    fixture
}

/// Everything in the file, and the names of what lies beside it.
pub(super) fn everything(fixture: &Fixture) -> String {
    let mut files: Vec<_> = std::fs::read_dir(fixture.folder.path())
        .unwrap()
        .map(|entry| format!("{:?}", entry.unwrap().file_name()))
        .collect();
    files.sort();
    format!(
        "{files:?}\n{}",
        state(&fixture.outside(), "attacker", |_| true)
    )
}

impl Refusal {
    fn check<T: std::fmt::Debug>(self, result: Result<T, SqlFault>) -> Result<(), String> {
        let right = match (&result, self) {
            (Err(SqlFault::Denied(told)), Denied(words)) => told.contains(words),
            (Err(SqlFault::Limit(told)), Limit(words)) => told.contains(words),
            (Err(SqlFault::Fatal(error)), Lost(code)) => error.code() == code,
            _ => false,
        };
        if right {
            Ok(())
        } else {
            Err(format!("{result:?}"))
        }
    }

    /// How the event calls it.
    const fn name(self) -> &'static str {
        match self {
            Denied(_) => "denied",
            Limit(_) => "limit",
            Lost(code) => code,
        }
    }
}

/// Runs the text in a call that ends well, by both doors where it does not end the transaction, and says what was wrong.
fn writes(fixture: &Fixture, number: usize, attack: &Attack, text: &str) -> Result<(), String> {
    let before = everything(fixture);
    let mut verdict = Ok(());
    let (ended, told) = events(|| {
        let key = format!("attack-{number}");
        fixture
            .store
            .perform(&operation("attacker", &key), &mut |sql| {
                verdict = match attack.refusal {
                    Denied(_) => attack
                        .refusal
                        .check(sql.query(text, &[]))
                        .and(attack.refusal.check(sql.execute(text, &[]))),
                    _ => attack.refusal.check(run(&*sql, text)),
                };
                // What would stand on its own, if the host did not look.
                if let Lost(_) = attack.refusal {
                    let after = sql.execute("INSERT INTO counters VALUES ('escaped', 1)", &[]);
                    let told = std::mem::replace(&mut verdict, Ok(()));
                    verdict = told.and(attack.refusal.check(after));
                }
                done()
            })
    });
    verdict?;
    match (attack.refusal, ended) {
        (Lost(code), Err(error)) if error.code() == code => {}
        (
            Denied(_) | Limit(_),
            Ok(Performed::Done {
                replayed: false, ..
            }),
        ) => {}
        (_, ended) => return Err(format!("the call ended otherwise: {ended:?}")),
    }
    is_told(&told, attack, text, " task=\"attacker\" tool=\"tool\"")?;
    let after = everything(fixture);
    if before == after {
        Ok(())
    } else {
        Err(format!("{before}\nbecame\n{after}"))
    }
}

/// The same in a read, which is refused whatever it is that a write is refused, by the same or another word.
fn reads(fixture: &Fixture, attack: &Attack, text: &str) -> Result<(), String> {
    let before = everything(fixture);
    let (result, told) = events(|| fixture.reading(|sql| run(sql, text)));
    match result {
        Err(SqlFault::Denied(_) | SqlFault::Limit(_)) => {}
        other => return Err(format!("in a read: {other:?}")),
    }
    is_told(&told, attack, text, "")?;
    let after = everything(fixture);
    if before == after {
        Ok(())
    } else {
        Err(format!("{before}\nbecame\n{after}"))
    }
}

fn is_told(told: &[String], attack: &Attack, text: &str, by: &str) -> Result<(), String> {
    let name = match by {
        "" => String::new(),
        _ => format!("refused=\"{}\"", attack.refusal.name()),
    };
    // The first characters, as the event's debug form writes them.
    let start: String = text
        .chars()
        .take(30)
        .take_while(|c| c.is_ascii() && !c.is_control() && !"\"'\\".contains(*c))
        .collect();
    let is = |line: &String| {
        line.contains("WARN")
            && line.contains(&format!("plugin=\"p\"{by}"))
            && line.contains(&name)
            && line.contains(&start)
    };
    if told.iter().any(is) {
        Ok(())
    } else {
        Err(format!("the operator was told {told:?}"))
    }
}

#[test]
fn no_attack_gets_through_and_each_is_told_to_the_plugin_and_to_the_operator() {
    let fixture = field();
    let mut failures = Vec::new();
    let mut number = 0;
    for attack in all() {
        for text in attack.texts {
            number += 1;
            let mut result = writes(&fixture, number, attack, text);
            if !matches!(attack.refusal, Lost(_)) {
                result = result.and(reads(&fixture, attack, text));
            }
            if let Err(why) = result {
                failures.push(format!("{}: {text:.200}: {why}", attack.mechanism));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{}\n{}",
        failures.len(),
        failures.join("\n")
    );
    let sound: String = fixture
        .outside()
        .query_row("PRAGMA integrity_check", (), |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
}

#[test]
fn the_attacks_are_more_than_ninety_and_no_mechanism_is_counted_twice() {
    let mechanisms: Vec<_> = all()
        .map(|attack| attack.mechanism)
        .chain(scripts::mechanisms())
        .collect();
    let distinct: BTreeSet<_> = mechanisms.iter().collect();
    assert_eq!(distinct.len(), mechanisms.len());
    assert!(distinct.len() >= 90, "{}", distinct.len());
    let texts: Vec<_> = all().flat_map(|attack| attack.texts).collect();
    let distinct: BTreeSet<_> = texts.iter().collect();
    assert_eq!(distinct.len(), texts.len());
}
