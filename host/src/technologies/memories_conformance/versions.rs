//! Versions, and writers that meet.

use std::thread;

use serde_json::json;

use super::{conflicts, get, id, keep, object};
use crate::core::ports::memories::{Memories, MemoryPatch, SharedMemories};

pub(super) fn another_version_than_the_expected_one_is_a_conflict(memory: &dyn Memories) {
    let name = "conformance:version";
    let of = |text: &str| object("conformance:version", text);
    let upsert = |text: &str, expected| memory.upsert(&id(name), &of(text), expected);
    conflicts(upsert("none", Some(1)));
    assert_eq!(get(memory, name), None);
    assert_eq!(upsert("one", Some(0)).unwrap().version, 1);
    conflicts(upsert("again", Some(0)));
    conflicts(upsert("ahead", Some(2)));
    assert_eq!(get(memory, name).unwrap().fields, of("one"));
    let two = upsert("two", Some(1)).unwrap();
    assert_eq!((two.version, &two.fields), (2, &of("two")));
    conflicts(upsert("late", Some(1)));
    assert_eq!(upsert("three", None).unwrap().version, 3);
    assert_eq!(get(memory, name).unwrap().fields, of("three"));
}

/// Threads of two memories on the same objects.
pub(super) fn of_many_writers_one_wins_each_version(open: &dyn Fn() -> SharedMemories) {
    let name = "conformance:race";
    let memories = [open(), open()];
    for version in 0..5 {
        let won: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|writer| {
                    let memory = &memories[writer % 2];
                    scope.spawn(move || {
                        let text = object("conformance:race", format!("{version} {writer}"));
                        match memory.upsert(&id(name), &text, Some(version)) {
                            Ok(kept) => {
                                assert_eq!(kept.version, version + 1);
                                1
                            }
                            error => {
                                conflicts(error);
                                0
                            }
                        }
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        assert_eq!(won, 1, "version {version}");
        for memory in &memories {
            assert_eq!(get(&**memory, name).unwrap().version, version + 1);
        }
    }
}

/// Each adds its own item to one list, and repeats what conflicts.
pub(super) fn nothing_is_lost_between_two_writers(open: &dyn Fn() -> SharedMemories) {
    const EACH: usize = 20;
    let name = "conformance:list";
    let memories = [open(), open()];
    keep(&*memories[0], name, &object("conformance:list", json!([])));
    thread::scope(|scope| {
        for (writer, memory) in memories.iter().enumerate() {
            scope.spawn(move || {
                for item in 0..EACH {
                    while !appended(&**memory, name, writer * EACH + item) {}
                }
            });
        }
    });
    let kept = get(&*memories[0], name).unwrap();
    let mut items: Vec<_> = kept
        .fields
        .content
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item.as_u64().unwrap())
        .collect();
    items.sort_unstable();
    assert!(items.into_iter().eq(0..2 * EACH as u64));
    assert_eq!(kept.version, 2 * EACH as u64 + 1);
}

fn appended(memory: &dyn Memories, name: &str, item: usize) -> bool {
    let read = get(memory, name).unwrap();
    let mut content = read.fields.content;
    content.as_array_mut().unwrap().push(json!(item));
    let patch = MemoryPatch {
        content: Some(content),
        ..MemoryPatch::default()
    };
    match memory.update(&id(name), &patch, Some(read.version)) {
        Ok(_) => true,
        error => {
            conflicts(error);
            false
        }
    }
}
