use std::{sync::Mutex, time::Duration};

use tempfile::TempDir;

use super::*;
use crate::{
    core::ports::{
        journal::{Journal as _, StoredRecord},
        memories::SharedMemories,
    },
    sqlite::open,
    technologies::{
        fixtures::{SetClock, assert_error},
        journal::SqliteJournal,
        memories_conformance::{Candidate, conforms},
    },
    words::{clock::Clock as _, digest::Digest, error::Kind, id::TaskId, stopwatch::Stopwatch},
};

struct Both {
    memories: SqliteMemories,
    journal: SqliteJournal,
    clock: Arc<SetClock>,
    folder: TempDir,
}

fn database(folder: &TempDir, clock: &Arc<SetClock>) -> Arc<MemoryDatabase> {
    let path = folder.path().join("memory.sqlite");
    let clock = Arc::clone(clock);
    let at = clock.now();
    Arc::new(MemoryDatabase::open(&path, open::BUSY, clock, at).unwrap())
}

fn both() -> Both {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::<SetClock>::default());
    let database = database(&folder, &clock);
    Both {
        memories: SqliteMemories::new(Arc::clone(&database)),
        journal: SqliteJournal::new(database),
        clock,
        folder,
    }
}

fn task() -> TaskId {
    "t".parse().unwrap()
}

fn id(text: &str) -> MemoryId {
    text.parse().unwrap()
}

fn records(sequences: std::ops::RangeInclusive<u64>) -> Vec<StoredRecord> {
    sequences
        .map(|sequence| StoredRecord {
            sequence,
            kind: "kind".into(),
            at: jiff::Timestamp::UNIX_EPOCH,
            body: "{}".into(),
            hash: Digest::of(sequence.to_string()),
        })
        .collect()
}

fn object(content: &str) -> MemoryFields {
    MemoryFields {
        content: content.into(),
        summary: None,
        scope: None,
        categories: vec!["c".to_owned()],
        metadata: serde_json::Map::new(),
        source: "test".to_owned(),
    }
}

#[test]
fn it_does_what_every_memory_must() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::default();
    let sequence = Mutex::new(0);
    let watch = Stopwatch::start();
    conforms(&Candidate {
        open: &|| -> SharedMemories { Arc::new(SqliteMemories::new(database(&folder, &clock))) },
        at_once: &|work| {
            let mut sequence = sequence.lock().unwrap();
            *sequence += 1;
            SqliteJournal::new(database(&folder, &clock))
                .append_with(&task(), &mut |memory| {
                    work(memory);
                    Ok(records(*sequence..=*sequence))
                })
                .unwrap();
        },
        objects: 100_000,
    });
    println!("{:?}", watch.elapsed());
}

#[test]
fn records_and_what_they_tell_of_the_memory_are_one_commit() {
    let both = both();
    let before = both.journal.syncs();
    both.journal
        .append_with(&task(), &mut |memory| {
            memory.upsert(&id("a"), &object("one"), Some(0))?;
            // It sees its own changes; nobody else does.
            assert_eq!(memory.search("one", None, 1)?.len(), 1);
            assert_eq!(both.memories.get(&id("a"))?, None);
            assert!(both.memories.search("one", None, 1)?.is_empty());
            memory.upsert(&id("a"), &object("two"), Some(1))?;
            Ok(records(1..=2))
        })
        .unwrap();
    assert_eq!(both.journal.syncs(), before + 1);
    assert_eq!(both.memories.get(&id("a")).unwrap().unwrap().version, 2);
    assert_eq!(both.journal.load(&task()).unwrap(), records(1..=2));
}

#[test]
fn an_error_of_the_work_or_of_the_records_undoes_both() {
    let both = both();
    both.journal.append(&task(), &records(1..=1)).unwrap();
    let refused = both.journal.append_with(&task(), &mut |memory| {
        memory.upsert(&id("a"), &object("x"), None)?;
        memory.upsert(&id("a"), &object("y"), Some(7))?;
        Ok(records(2..=2))
    });
    assert_error(refused.unwrap_err(), "memory-conflict", Kind::Conflict);
    let refused = both.journal.append_with(&task(), &mut |memory| {
        memory.upsert(&id("a"), &object("x"), None)?;
        Ok(records(3..=3))
    });
    assert_error(refused.unwrap_err(), "journal-not-next", Kind::Conflict);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        both.journal.append_with(&task(), &mut |memory| {
            memory.upsert(&id("a"), &object("x"), None)?;
            panic!("in the middle")
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(both.memories.get(&id("a")).unwrap(), None);
    assert!(both.memories.search("x", None, 1).unwrap().is_empty());
    assert_eq!(both.journal.load(&task()).unwrap(), records(1..=1));
    both.journal.append(&task(), &records(2..=2)).unwrap();
}

/// A plan that is refused is told to the model and journaled: the rest of the transaction stands.
#[test]
fn work_may_go_on_after_an_error_and_nothing_of_the_failed_call_stays() {
    let both = both();
    both.journal
        .append_with(&task(), &mut |memory| {
            memory.upsert(&id("a"), &object("x"), None)?;
            assert!(memory.upsert(&id("a"), &object("y"), Some(7)).is_err());
            assert!(
                memory
                    .update(&id("b"), &MemoryPatch::default(), None)
                    .is_err()
            );
            Ok(records(1..=1))
        })
        .unwrap();
    let kept = both.memories.get(&id("a")).unwrap().unwrap();
    assert_eq!((kept.version, kept.fields), (1, object("x")));
    // A failure in the middle of a call: its row is written, its words are not.
    let outside = open::read_write(
        &both.folder.path().join("memory.sqlite"),
        open::BUSY,
        |_| Ok(()),
    )
    .unwrap();
    outside
        .execute_batch("CREATE TRIGGER t BEFORE INSERT ON memory_categories BEGIN SELECT raise(ABORT, 'no'); END")
        .unwrap();
    both.journal
        .append_with(&task(), &mut |memory| {
            assert!(memory.upsert(&id("b"), &object("z"), None).is_err());
            Ok(records(2..=2))
        })
        .unwrap();
    assert_eq!(both.memories.get(&id("b")).unwrap(), None);
    assert_eq!(both.journal.load(&task()).unwrap(), records(1..=2));
}

/// What a kill leaves is what stands in the files at that time.
#[test]
fn a_kill_between_the_change_and_the_commit_leaves_neither() {
    let both = both();
    let copied = tempfile::tempdir().unwrap();
    let copy = || {
        for file in std::fs::read_dir(both.folder.path()).unwrap() {
            let file = file.unwrap();
            // The shared memory beside a log is made anew from it.
            if !file.file_name().to_string_lossy().ends_with("-shm") {
                std::fs::copy(file.path(), copied.path().join(file.file_name())).unwrap();
            }
        }
        let database = database(&copied, &both.clock);
        let there = SqliteMemories::new(Arc::clone(&database))
            .get(&id("a"))
            .unwrap();
        let records = SqliteJournal::new(database).load(&task()).unwrap();
        (there.is_some(), records.len())
    };
    both.journal
        .append_with(&task(), &mut |memory| {
            memory.upsert(&id("a"), &object("x"), None)?;
            assert_eq!(copy(), (false, 0));
            Ok(records(1..=1))
        })
        .unwrap();
    assert_eq!(copy(), (true, 1));
}

#[test]
fn no_records_make_durable_what_the_work_did_or_saw() {
    let both = both();
    for write in [true, false] {
        let before = both.journal.syncs();
        both.journal
            .append_with(&task(), &mut |memory| {
                if write {
                    memory.upsert(&id("a"), &object("x"), None)?;
                }
                Ok(Vec::new())
            })
            .unwrap();
        assert_eq!(both.journal.syncs(), before + 1);
    }
    assert!(both.memories.get(&id("a")).unwrap().is_some());
}

#[test]
fn a_change_is_one_sync_and_what_changes_nothing_costs_none() {
    let both = both();
    let syncs = |run: &dyn Fn()| {
        let before = both.journal.syncs();
        run();
        both.journal.syncs() - before
    };
    let patch = MemoryPatch::default();
    assert_eq!(syncs(&|| drop(both.memories.add(&object("x")).unwrap())), 1);
    assert_eq!(
        syncs(&|| drop(both.memories.upsert(&id("a"), &object("x"), None).unwrap())),
        1
    );
    assert_eq!(
        syncs(&|| drop(both.memories.update(&id("a"), &patch, None).unwrap())),
        1
    );
    assert_eq!(
        syncs(&|| assert_eq!(both.memories.touch(&[id("a"), id("a")]).unwrap(), 2)),
        1
    );
    assert_eq!(
        syncs(&|| {
            both.memories.get(&id("a")).unwrap();
            both.memories.search("x", None, 1).unwrap();
            assert!(
                both.memories
                    .upsert(&id("a"), &object("y"), Some(9))
                    .is_err()
            );
            assert!(!both.memories.delete(&id("b"), None).unwrap());
            assert_eq!(both.memories.touch(&[id("b")]).unwrap(), 0);
        }),
        0
    );
    // The next settlement knows that nothing came of them.
    both.journal.settle().unwrap();
    assert_eq!(syncs(&|| both.journal.settle().unwrap()), 0);
    assert_eq!(
        syncs(&|| assert!(both.memories.delete(&id("a"), None).unwrap())),
        1
    );
}

#[test]
fn times_are_those_of_the_clock() {
    let both = both();
    both.clock.advance(Duration::from_secs(5));
    let kept = both.memories.add(&object("x")).unwrap();
    assert_eq!(kept.created_at.as_second(), 5);
    both.clock.advance(Duration::from_secs(5));
    both.memories.touch(std::slice::from_ref(&kept.id)).unwrap();
    let used = both.memories.get(&kept.id).unwrap().unwrap();
    assert_eq!(used.last_used_at.unwrap().as_second(), 10);
    assert_eq!(
        (used.updated_at, used.created_at),
        (kept.updated_at, kept.created_at)
    );
    both.clock.advance(Duration::from_secs(5));
    let changed = both
        .memories
        .update(&kept.id, &MemoryPatch::default(), None)
        .unwrap();
    assert_eq!(
        (
            changed.updated_at.as_second(),
            changed.created_at.as_second()
        ),
        (15, 5)
    );
    // Later ids sort behind earlier ones.
    assert!(both.memories.add(&object("y")).unwrap().id > kept.id);
}

#[test]
fn a_memory_that_was_opened_for_reading_refuses_changes_and_a_changed_row_is_reported() {
    let both = both();
    both.memories.upsert(&id("a"), &object("x"), None).unwrap();
    let path = both.folder.path().join("memory.sqlite");
    let read = MemoryDatabase::open_read_only(&path, open::BUSY)
        .unwrap()
        .unwrap();
    let read = SqliteMemories::new(Arc::new(read));
    assert!(read.get(&id("a")).unwrap().is_some());
    assert_error(
        read.add(&object("y")).unwrap_err(),
        "memory-read-only",
        Kind::Bug,
    );
    let outside = open::read_write(&path, open::BUSY, |_| Ok(())).unwrap();
    outside
        .execute_batch("UPDATE memories SET metadata = '[]'")
        .unwrap();
    assert_error(
        both.memories.get(&id("a")).unwrap_err(),
        "row-malformed",
        Kind::Corrupt,
    );
}

#[test]
fn of_too_many_that_hold_the_words_the_last_ones_are_ranked() {
    let both = both();
    both.journal
        .append_with(&task(), &mut |memory| {
            memory.upsert(&id("first"), &object("word word word"), None)?;
            for number in 0..search::MAX_CANDIDATES {
                memory.upsert(&id(&format!("n{number}")), &object("word and others"), None)?;
            }
            Ok(records(1..=1))
        })
        .unwrap();
    let first = |hits: Vec<Hit>| hits[0].object.id.to_string();
    let last = format!("n{}", search::MAX_CANDIDATES - 1);
    assert_eq!(first(both.memories.search("word", None, 1).unwrap()), last);
    both.memories.delete(&id("n0"), None).unwrap();
    assert_eq!(
        first(both.memories.search("word", None, 1).unwrap()),
        "first"
    );
}

#[test]
fn the_memory_may_be_shared_by_threads() {
    fn is_shareable<T: Send + Sync>() {}
    is_shareable::<SqliteMemories>();
}
