//! As many objects as a memory is made for.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Candidate, found, get, id, object, pages};
use crate::core::ports::memories::{MemoryFields, MemoryFilter};

/// How many are kept at once.
const AT_ONCE: u32 = 1000;

pub(super) fn many_objects_are_paged_and_found(candidate: &Candidate<'_>) {
    let scope = "conformance:many";
    let name = |number: u32| format!("conformance:many/{number:06}");
    let objects = candidate.objects;
    let of = |number: u32| MemoryFields {
        summary: Some(format!("note {number}")),
        categories: vec![format!("conformance:tenth/{}", number % 10)],
        ..object(
            scope,
            json!({"text": format!("the common text of unique{number} \u{6771}\u{4eac}"), "n": number}),
        )
    };
    for first in (0..objects).step_by(AT_ONCE as usize) {
        (candidate.at_once)(&mut |memory| {
            for number in first..objects.min(first + AT_ONCE) {
                memory
                    .upsert(&id(&name(number)), &of(number), Some(0))
                    .unwrap();
            }
        });
    }
    let memory = (candidate.open)();
    let filter = |category: Option<&str>| MemoryFilter {
        scope: Some(scope.to_owned()),
        category: category.map(str::to_owned),
    };
    let ids = pages::all(&*memory, &filter(None), 100);
    assert!(
        ids.into_iter()
            .eq((0..objects).map(|number| id(&name(number))))
    );
    let tenth = pages::all(&*memory, &filter(Some("conformance:tenth/3")), 100);
    assert_eq!(tenth.len() as u32, (objects + 6) / 10);
    for number in [0, objects / 2, objects - 1] {
        assert_eq!(
            found(&*memory, scope, &format!("unique{number}")),
            [name(number)]
        );
        assert_eq!(
            found(&*memory, scope, &format!("common unique{number} \u{4eac}")),
            [name(number)]
        );
        assert_eq!(get(&*memory, &name(number)).unwrap().fields, of(number));
    }
    // What nearly all of them hold is found as well, as many as were asked for and each once.
    for text in ["common", "\u{6771}\u{4eac}", "the common text"] {
        let hits = found(&*memory, scope, text);
        assert_eq!(hits.len() as u32, objects.min(100), "{text}");
        let distinct: BTreeSet<_> = hits.iter().collect();
        assert_eq!(distinct.len(), hits.len());
        assert_eq!(found(&*memory, scope, text), hits);
    }
}
