//! Filters and pages.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use super::{id, keep, object};
use crate::core::ports::memories::{
    Memories, MemoryFields, MemoryFilter, MemoryId, Page, SharedMemories,
};

/// The ids of all pages in turn.
pub(super) fn all(memory: &dyn Memories, filter: &MemoryFilter, limit: u32) -> Vec<MemoryId> {
    let mut ids = Vec::new();
    let mut after = None;
    loop {
        let page = memory.query(filter, &Page { after, limit }).unwrap();
        assert!(page.objects.len() <= limit as usize);
        ids.extend(page.objects.into_iter().map(|object| object.id));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
    ids
}

pub(super) fn a_filter_and_pages_show_each_object_once(memory: &dyn Memories) {
    let scopes = [Some("conformance:pages"), Some("conformance:page"), None];
    let categories = ["conformance:c", "conformance:cc"];
    for number in 0..36_usize {
        let filed = MemoryFields {
            scope: scopes[number % 3].map(str::to_owned),
            categories: categories
                .iter()
                .enumerate()
                .filter(|(bit, _)| number / 3 >> bit & 1 == 1)
                .map(|(_, category)| (*category).to_owned())
                .collect(),
            ..object("-", "paged")
        };
        // Neither in the order of the numbers nor of the writing.
        keep(
            memory,
            &format!("conformance:page/{}", number * 25 % 36),
            &filed,
        );
    }
    let count = |scope: Option<&str>, category: Option<&str>| {
        let filter = MemoryFilter {
            scope: scope.map(str::to_owned),
            category: category.map(str::to_owned),
        };
        let whole = all(memory, &filter, 100);
        for limit in [1, 5, 6, 12] {
            assert_eq!(all(memory, &filter, limit), whole);
        }
        whole.len()
    };
    assert_eq!(count(scopes[0], None), 12);
    assert_eq!(count(scopes[0], Some(categories[0])), 6);
    assert_eq!(count(None, Some(categories[0])), 18);
    assert_eq!(count(scopes[1], Some(categories[1])), 6);
    assert_eq!(count(None, Some("conformance")), 0);
    assert_eq!(count(Some("conformance:pag_"), None), 0);
    assert!(count(None, None) >= 36);
    // Moved from one scope and category to another.
    let moved = MemoryFields {
        categories: vec![categories[1].to_owned()],
        ..object("conformance:page", "moved")
    };
    let filter = MemoryFilter {
        scope: scopes[0].map(str::to_owned),
        category: Some(categories[0].to_owned()),
    };
    let first = all(memory, &filter, 100).remove(0);
    keep(memory, first.as_str(), &moved);
    assert_eq!(count(scopes[0], Some(categories[0])), 5);
    assert_eq!(count(scopes[0], None), 11);
    assert_eq!(count(scopes[1], None), 13);
}

/// What is there all the time is shown, and nothing twice, whatever comes and goes meanwhile.
pub(super) fn pages_lose_nothing_while_others_write(open: &dyn Fn() -> SharedMemories) {
    let scope = "conformance:moving";
    let (reader, writer) = (open(), open());
    let name = |number: u32| format!("conformance:moving/{number:03}");
    let stay: BTreeSet<MemoryId> = (0..60).step_by(2).map(|number| id(&name(number))).collect();
    for id in &stay {
        keep(&*reader, id.as_str(), &object(scope, "stays"));
    }
    let done = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            for number in (1..60).step_by(2).chain((1..60).step_by(4)) {
                let object = object(scope, "comes and goes");
                if writer.upsert(&id(&name(number)), &object, Some(0)).is_err() {
                    writer.delete(&id(&name(number)), None).unwrap();
                }
                // The order is not that of the changes.
                keep(&*writer, &name(number - 1), &self::object(scope, "stays"));
            }
            done.store(true, Ordering::Release);
        });
        let filter = MemoryFilter {
            scope: Some(scope.to_owned()),
            category: None,
        };
        loop {
            let last = done.load(Ordering::Acquire);
            let shown: BTreeSet<_> = all(&*reader, &filter, 7).into_iter().collect();
            assert!(shown.is_superset(&stay));
            if last {
                break;
            }
        }
    });
}
