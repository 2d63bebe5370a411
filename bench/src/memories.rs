//! What the memory costs beside bare rusqlite that does the same work, and how long a search takes over many objects.
//!
//! Both have the same schema, made by the host's own migrations, the same objects and the same durability. The bare program prepares
//! its statements once, shares one writing connection behind a lock, as the host does, and each of its threads has a reading
//! connection of its own. It takes rows apart and builds them as whoever uses them must: JSON is parsed and written. It checks no
//! bounds and no version, and opens nothing twice.

use std::{
    fmt::{self, Display, Formatter},
    fs,
    hint::black_box,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use rusqlite::{Connection, params};
use serde::Serialize;
use serde_json::{Value, json};
use wharf::{
    core::ports::{
        journal::Journal as _,
        memories::{Memories as _, MemoryFields, MemoryId},
    },
    technologies::{
        journal::SqliteJournal, memories::SqliteMemories, memory_database::MemoryDatabase,
    },
    words::clock::SystemClock,
};

use crate::statistics::{Spread, median, quantile};

/// Objects that are searched.
const OBJECTS: u32 = 100_000;
/// Objects that are read and written, so many that neighbours in time are far apart.
const KEYS: u32 = 10_000;
/// Searches of each kind.
const SEARCHES: u32 = 300;
/// How long one contender does one thing in a round.
const TURN: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(30);

/// What is done again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Get,
    Upsert,
}

impl Call {
    const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Upsert => "upsert",
        }
    }
}

/// One call from so many threads, per second of all of them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rate {
    call: &'static str,
    threads: usize,
    bare_per_second: Spread,
    memory_per_second: Spread,
    /// The time of the memory in that of the bare program, of each round.
    to_bare: Spread,
}

/// One kind of search.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Search {
    name: &'static str,
    hits: usize,
    p50_millis: f64,
    p99_millis: f64,
}

/// All of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Memories {
    rounds: u32,
    rates: Vec<Rate>,
    fill_seconds: f64,
    searches: Vec<Search>,
}

/// Measures in new folders inside `folder`.
pub(crate) fn measure(folder: &Path, rounds: u32) -> Result<Memories> {
    let (fill_seconds, searches) = searches(&folder.join("many"))?;
    eprintln!("measuring get and upsert ...");
    let (bare, memory) = (folder.join("bare"), folder.join("memory"));
    drop(open(&bare)?);
    let bare = Bare::open(&bare.join("memory.sqlite"))?;
    let memory = open(&memory)?;
    for key in 0..KEYS {
        bare.upsert(key)?;
        memory.upsert(&id(key)?, &object(key), None)?;
    }
    let kinds = [
        (Call::Get, 1),
        (Call::Get, 64),
        (Call::Upsert, 1),
        (Call::Upsert, 64),
    ];
    let rates = kinds
        .into_iter()
        .map(|(call, threads)| rate(call, threads, rounds, &bare, &memory))
        .collect::<Result<_>>()?;
    Ok(Memories {
        rounds,
        rates,
        fill_seconds,
        searches,
    })
}

fn rate(
    call: Call,
    threads: usize,
    rounds: u32,
    bare: &Bare,
    memory: &SqliteMemories,
) -> Result<Rate> {
    let of_bare = || match call {
        Call::Get => in_turn(threads, || bare.reader(), Bare::get),
        Call::Upsert => in_turn(threads, || Ok(()), |(), key| bare.upsert(key)),
    };
    let of_memory = || {
        in_turn(
            threads,
            || Ok(()),
            |(), key| {
                match call {
                    Call::Get => drop(black_box(memory.get(&id(key)?)?.context("there is one")?)),
                    Call::Upsert => {
                        drop(black_box(memory.upsert(&id(key)?, &object(key), None)?))
                    }
                }
                Ok(())
            },
        )
    };
    let (mut bares, mut memories, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms up; whoever ran first runs last.
    for round in 0..=rounds {
        let (bare, memory) = if round % 2 == 0 {
            let bare = of_bare()?;
            (bare, of_memory()?)
        } else {
            let memory = of_memory()?;
            (of_bare()?, memory)
        };
        if round > 0 {
            bares.push(bare);
            memories.push(memory);
            ratios.push(bare / memory);
        }
    }
    Ok(Rate {
        call: call.name(),
        threads,
        bare_per_second: Spread::of(&bares),
        memory_per_second: Spread::of(&memories),
        to_bare: Spread::of(&ratios),
    })
}

/// Has so many threads do it with keys far apart until their time is over; how often all of them did it in a second.
fn in_turn<T>(
    threads: usize,
    begin: impl Fn() -> Result<T> + Sync,
    run: impl Fn(&T, u32) -> Result<()> + Sync,
) -> Result<f64> {
    let next = AtomicU32::new(0);
    let start = std::sync::Barrier::new(threads);
    let rates = thread::scope(|scope| {
        let spawned: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let own = begin();
                    start.wait();
                    let own = own?;
                    let (begun, mut done) = (Instant::now(), 0_u32);
                    while begun.elapsed() < TURN {
                        let key = next.fetch_add(1, Ordering::Relaxed).wrapping_mul(7919) % KEYS;
                        run(&own, key)?;
                        done += 1;
                    }
                    Ok(f64::from(done) / begun.elapsed().as_secs_f64())
                })
            })
            .collect();
        let rates = spawned
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"));
        rates.collect::<Result<Vec<f64>>>()
    })?;
    Ok(rates.iter().sum())
}

/// Plain rusqlite on the host's schema.
struct Bare {
    writer: Mutex<Connection>,
    path: std::path::PathBuf,
}

impl Bare {
    fn open(path: &Path) -> Result<Self> {
        let writer = Connection::open(path)?;
        writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
        Ok(Self {
            writer: Mutex::new(writer),
            path: path.to_owned(),
        })
    }

    fn reader(&self) -> Result<Connection> {
        Ok(Connection::open(&self.path)?)
    }

    fn get(reader: &Connection, key: u32) -> Result<()> {
        let mut statement = reader.prepare_cached(
            "SELECT id, content, summary, scope, categories, metadata, source, created_at, updated_at, last_used_at, usage_count, version
             FROM memories WHERE id = ?1",
        )?;
        statement.query_row([name(key)], |row| {
            let json = |column| {
                let text: &str = row.get_ref(column)?.as_str()?;
                Ok::<_, rusqlite::Error>(serde_json::from_str::<Value>(text).expect("JSON is kept"))
            };
            black_box((json(1)?, json(4)?, json(5)?));
            for column in [0, 2, 3, 6, 7, 8, 9] {
                black_box(row.get::<_, Option<String>>(column)?);
            }
            black_box((row.get::<_, i64>(10)?, row.get::<_, i64>(11)?));
            Ok(())
        })?;
        Ok(())
    }

    fn upsert(&self, key: u32) -> Result<()> {
        let object = object(key);
        let content = serde_json::to_string(&object.content)?;
        let categories = serde_json::to_string(&object.categories)?;
        let text = object.content["text"].as_str().context("it has a text")?;
        let now = Timestamp::now().to_string();
        let writer = self.writer.lock().expect("no thread panics");
        writer.prepare_cached("BEGIN IMMEDIATE")?.execute(())?;
        let (number, new): (i64, bool) = writer
            .prepare_cached(
                "INSERT INTO memories (id, content, summary, scope, categories, metadata, source, created_at, updated_at, usage_count, version)
                 VALUES (?1, ?2, ?3, ?4, ?5, '{}', ?6, ?7, ?7, 0, 1)
                 ON CONFLICT (id) DO UPDATE SET content = excluded.content, summary = excluded.summary, updated_at = excluded.updated_at,
                 version = version + 1 RETURNING number, version = 1",
            )?
            .query_row(
                params![name(key), content, object.summary, object.scope, categories, object.source, now],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
        if new {
            for category in &object.categories {
                writer
                    .prepare_cached(
                        "INSERT INTO memory_categories (category, id, scope) VALUES (?1, ?2, ?3)",
                    )?
                    .execute(params![category, name(key), object.scope])?;
            }
        }
        writer
            .prepare_cached("INSERT OR REPLACE INTO memory_words (rowid, scope, summary, content) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![number, object.scope, object.summary, text])?;
        writer.prepare_cached("COMMIT")?.execute(())?;
        Ok(())
    }
}

fn open(folder: &Path) -> Result<SqliteMemories> {
    Ok(SqliteMemories::new(database(folder)?))
}

fn database(folder: &Path) -> Result<Arc<MemoryDatabase>> {
    fs::create_dir_all(folder)?;
    let path = folder.join("memory.sqlite");
    let clock = Arc::new(SystemClock);
    Ok(Arc::new(MemoryDatabase::open(
        &path,
        PATIENCE,
        clock,
        Timestamp::now(),
    )?))
}

fn name(key: u32) -> String {
    format!("object:{key:06}")
}

fn id(key: u32) -> Result<MemoryId> {
    Ok(name(key).parse()?)
}

/// A note of ordinary length: two words that all have, 38 of a vocabulary in which some are frequent, one of its own, a place in CJK.
fn object(key: u32) -> MemoryFields {
    // A generator of Lehmer's, so that every run has the same objects.
    let mut state = u64::from(key) * 2 + 1;
    let mut words = vec!["the note".to_owned()];
    for _ in 0..38 {
        state = state * 48_271 % 0x7fff_ffff;
        let share = state as f64 / f64::from(0x7fff_ffff_u32);
        words.push(format!("w{}", (5000.0 * share.powi(3)) as u32));
    }
    words.push(format!("own{key}"));
    words.push(
        if key.is_multiple_of(2) {
            "\u{6771}\u{4eac}\u{90fd}\u{5e81}"
        } else {
            "\u{4eac}\u{90fd}\u{5e02}"
        }
        .to_owned(),
    );
    MemoryFields {
        content: json!({"text": words.join(" "), "n": key}),
        summary: Some(format!("note {key}")),
        scope: Some(format!("scope:{}", key % 100)),
        categories: vec!["notes".to_owned()],
        metadata: serde_json::Map::new(),
        source: "bench".to_owned(),
    }
}

/// The text to look for in a turn, and in which scope.
type Sought = dyn Fn(u32) -> (String, Option<String>);

fn searches(folder: &Path) -> Result<(f64, Vec<Search>)> {
    eprintln!("filling a memory with {OBJECTS} objects ...");
    let begun = Instant::now();
    let database = database(folder)?;
    let memory = SqliteMemories::new(Arc::clone(&database));
    let journal = SqliteJournal::new(database);
    for first in (0..OBJECTS).step_by(1000) {
        journal.append_with(&"fill".parse()?, &mut |memory| {
            for key in first..first + 1000 {
                let id = name(key).parse().expect("it is one");
                memory.upsert(&id, &object(key), None)?;
            }
            Ok(Vec::new())
        })?;
    }
    let filled = begun.elapsed().as_secs_f64();
    eprintln!("measuring searches ...");
    let kinds: [(&str, &Sought); 8] = [
        ("rare word", &|turn| {
            (format!("own{}", turn * 331 % OBJECTS), None)
        }),
        ("word of a few hundred", &|turn| {
            (format!("w{}", 4000 + turn), None)
        }),
        ("word of all", &|_| ("the".to_owned(), None)),
        ("CJK word of half", &|_| {
            ("\u{6771}\u{4eac}".to_owned(), None)
        }),
        ("CJK character of all", &|_| ("\u{4eac}".to_owned(), None)),
        ("two words of all", &|_| ("the note".to_owned(), None)),
        ("word of all, rare word", &|turn| {
            (format!("the own{}", turn * 331 % OBJECTS), None)
        }),
        ("word of all in a scope", &|turn| {
            ("the".to_owned(), Some(format!("scope:{}", turn % 100)))
        }),
    ];
    let searches = kinds.into_iter().map(|(name, sought)| {
        let (mut times, mut hits) = (Vec::new(), 0);
        for turn in 0..SEARCHES {
            let (text, scope) = sought(turn);
            let begun = Instant::now();
            let found = memory.search(&text, scope.as_deref(), 10)?;
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            ensure!(!found.is_empty(), "{name}: nothing is found");
            hits = hits.max(found.len());
        }
        Ok(Search {
            name,
            hits,
            p50_millis: median(&times),
            p99_millis: quantile(&times, 0.99),
        })
    });
    Ok((filled, searches.collect::<Result<_>>()?))
}

impl Display for Memories {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            rounds,
            fill_seconds,
            ..
        } = self;
        writeln!(
            f,
            "memory beside bare rusqlite, {rounds} rounds; calls per second of all threads, medians; ratios with the quartiles of the rounds\n"
        )?;
        writeln!(
            f,
            "| call   | threads | bare /s | memory /s |     time to bare        |"
        )?;
        writeln!(
            f,
            "|-------:|--------:|--------:|----------:|------------------------:|"
        )?;
        for rate in &self.rates {
            let Spread { low, median, high } = rate.to_bare;
            let ratio = format!("{median:.2} ({low:.2} to {high:.2})");
            let (bare, memory) = (rate.bare_per_second.median, rate.memory_per_second.median);
            writeln!(
                f,
                "| {:>6} | {:>7} | {bare:>7.0} | {memory:>9.0} | {ratio:>23} |",
                rate.call, rate.threads
            )?;
        }
        writeln!(
            f,
            "|    aim |         |         |           |             at most 1.3 |"
        )?;
        writeln!(
            f,
            "\nsearches over {OBJECTS} objects, {SEARCHES} of each kind for 10 hits; filled in {fill_seconds:.0} s in commits of 1,000\n"
        )?;
        writeln!(f, "| sought                 | hits | p50 ms | p99 ms |")?;
        writeln!(f, "|-----------------------:|-----:|-------:|-------:|")?;
        for search in &self.searches {
            writeln!(
                f,
                "| {:>22} | {:>4} | {:>6.2} | {:>6.2} |",
                search.name, search.hits, search.p50_millis, search.p99_millis
            )?;
        }
        writeln!(f, "|                    aim |      |        | under 20 |")
    }
}
