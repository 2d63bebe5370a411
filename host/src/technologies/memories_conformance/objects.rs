//! One object at a time.

use serde_json::{Map, Value, json};

use super::{conflicts, get, id, keep, object, refused, rich};
use crate::{
    core::ports::memories::{
        MAX_CATEGORIES, MAX_CONTENT_BYTES, MAX_DEPTH, MAX_LABEL_CHARS, MAX_METADATA_BYTES,
        MAX_PAGE, MAX_SEARCH_CHARS, MAX_SUMMARY_CHARS, Memories, MemoryFields, MemoryFilter,
        MemoryId, MemoryPatch, Page, SharedMemories,
    },
    words::error::Kind,
};

pub(super) fn an_object_comes_back_as_it_was_kept_and_after_a_restart(
    open: &dyn Fn() -> SharedMemories,
) {
    let name = "conformance:object/A.b_c-1";
    let memory = open();
    assert_eq!(get(&*memory, name), None);
    let kept = keep(&*memory, name, &rich());
    assert_eq!(
        (kept.id.as_str(), kept.version, kept.usage_count),
        (name, 1, 0)
    );
    assert_eq!(
        (kept.last_used_at, kept.created_at),
        (None, kept.updated_at)
    );
    assert_eq!(kept.fields, rich());
    assert_eq!(get(&*memory, name).as_ref(), Some(&kept));
    assert_eq!(get(&*memory, &name.to_lowercase()), None);
    drop(memory);
    let memory = open();
    assert_eq!(get(&*memory, name).as_ref(), Some(&kept));
    // Whatever is JSON.
    for content in [
        json!(""),
        json!(null),
        json!(0),
        json!(false),
        json!([]),
        json!({}),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(0.1),
    ] {
        let plain = MemoryFields {
            scope: None,
            ..object("-", content)
        };
        let replaced = keep(&*memory, name, &plain);
        assert_eq!(get(&*memory, name).as_ref(), Some(&replaced));
        assert_eq!(replaced.fields, plain);
        assert_eq!(replaced.created_at, kept.created_at);
    }
    assert_eq!(get(&*memory, name).unwrap().version, 10);
}

pub(super) fn what_is_added_has_an_id_of_its_own(memory: &dyn Memories) {
    let added = [0, 1, 2].map(|_| memory.add(&rich()).unwrap());
    for one in &added {
        assert_eq!(one.version, 1);
        // UUIDv7, in its usual form.
        assert_eq!((one.id.as_str().len(), &one.id.as_str()[14..15]), (36, "7"));
        assert_eq!(memory.get(&one.id).unwrap().as_ref(), Some(one));
        assert_eq!(added.iter().filter(|other| other.id == one.id).count(), 1);
    }
}

pub(super) fn a_patch_changes_what_it_names(memory: &dyn Memories) {
    let name = "conformance:patch";
    let patch = MemoryPatch::default();
    refused(
        memory.update(&id(name), &patch, None),
        "memory-unknown",
        Kind::InvalidInput,
    );
    keep(memory, name, &rich());
    let patch = MemoryPatch {
        content: Some(json!("new")),
        scope: Some(None),
        ..MemoryPatch::default()
    };
    let patched = memory.update(&id(name), &patch, Some(1)).unwrap();
    let expected = MemoryFields {
        content: json!("new"),
        scope: None,
        ..rich()
    };
    assert_eq!((patched.version, &patched.fields), (2, &expected));
    let patch = MemoryPatch {
        summary: Some(None),
        categories: Some(vec!["other".to_owned()]),
        metadata: Some(Map::new()),
        source: Some("else".to_owned()),
        ..MemoryPatch::default()
    };
    let patched = memory.update(&id(name), &patch, None).unwrap();
    let expected = MemoryFields {
        summary: None,
        categories: vec!["other".to_owned()],
        metadata: Map::new(),
        source: "else".to_owned(),
        ..expected
    };
    assert_eq!((patched.version, &patched.fields), (3, &expected));
    conflicts(memory.update(&id(name), &patch, Some(2)));
    assert_eq!(get(memory, name), Some(patched));
}

pub(super) fn a_use_is_recorded_and_changes_nothing_else(memory: &dyn Memories) {
    let (used, other) = ("conformance:use", "conformance:use-other");
    let before = keep(memory, used, &rich());
    let unused = keep(memory, other, &rich());
    let ids = [used, "conformance:use-unknown", used].map(id);
    assert_eq!(memory.touch(&ids).unwrap(), 2);
    assert_eq!(memory.touch(&[]).unwrap(), 0);
    let after = get(memory, used).unwrap();
    assert!(after.last_used_at.unwrap() >= before.created_at);
    assert_eq!(after.usage_count, 2);
    assert_eq!(
        (after.version, after.updated_at, &after.fields),
        (1, before.updated_at, &before.fields)
    );
    assert_eq!(get(memory, other), Some(unused));
    // Use outlives a change.
    let changed = keep(memory, used, &object("conformance:use", "x"));
    assert_eq!(
        (changed.usage_count, changed.last_used_at, changed.version),
        (2, after.last_used_at, 2)
    );
}

pub(super) fn what_is_deleted_is_gone(memory: &dyn Memories) {
    let name = "conformance:delete";
    let scope = "conformance:delete";
    let filed = MemoryFields {
        categories: vec!["deleted".to_owned()],
        ..object(scope, "ephemeral")
    };
    assert!(!memory.delete(&id(name), Some(7)).unwrap());
    keep(memory, name, &filed);
    conflicts(memory.delete(&id(name), Some(2)));
    assert!(memory.delete(&id(name), Some(1)).unwrap());
    assert_eq!(get(memory, name), None);
    assert!(!memory.delete(&id(name), None).unwrap());
    let filter = MemoryFilter {
        scope: None,
        category: Some("deleted".to_owned()),
    };
    let page = Page {
        after: None,
        limit: 10,
    };
    assert!(memory.query(&filter, &page).unwrap().objects.is_empty());
    assert!(memory.search("ephemeral", None, 10).unwrap().is_empty());
    // Kept again, it begins anew.
    assert_eq!(keep(memory, name, &filed).version, 1);
}

pub(super) fn what_is_out_of_bounds_changes_nothing(memory: &dyn Memories) {
    let scope = "conformance:bounds";
    let name = "conformance:bounds";
    let at_bound = MemoryFields {
        content: json!("x".repeat(MAX_CONTENT_BYTES - 2)),
        summary: Some("\u{6771}".repeat(MAX_SUMMARY_CHARS)),
        scope: Some(format!("{scope:\u{6771}<MAX_LABEL_CHARS$}")),
        categories: (0..MAX_CATEGORIES)
            .map(|n| format!("{n:0>MAX_LABEL_CHARS$}"))
            .collect(),
        metadata: [("k".to_owned(), json!("x".repeat(MAX_METADATA_BYTES - 8)))]
            .into_iter()
            .collect(),
        source: "\u{6771}".repeat(MAX_LABEL_CHARS),
    };
    assert_eq!(keep(memory, name, &at_bound).fields, at_bound);
    assert_eq!(get(memory, name).unwrap().fields, at_bound);
    let nested = |depth| (0..depth).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let deep = MemoryFields {
        content: nested(MAX_DEPTH),
        ..object(scope, "")
    };
    keep(memory, name, &deep);
    let stays = get(memory, name);
    assert_eq!(stays.as_ref().unwrap().fields, deep);
    let good = || object(scope, "good");
    let beyond = [
        object(scope, "x".repeat(MAX_CONTENT_BYTES - 1)),
        object(scope, nested(MAX_DEPTH + 1)),
        MemoryFields {
            summary: Some("x".repeat(MAX_SUMMARY_CHARS + 1)),
            ..good()
        },
        MemoryFields {
            scope: Some("x".repeat(MAX_LABEL_CHARS + 1)),
            ..good()
        },
        MemoryFields {
            scope: Some(" ".to_owned()),
            ..good()
        },
        MemoryFields {
            source: String::new(),
            ..good()
        },
        MemoryFields {
            source: "x".repeat(MAX_LABEL_CHARS + 1),
            ..good()
        },
        MemoryFields {
            categories: (0..=MAX_CATEGORIES).map(|n| n.to_string()).collect(),
            ..good()
        },
        MemoryFields {
            categories: vec!["a".to_owned(), "a".to_owned()],
            ..good()
        },
        MemoryFields {
            categories: vec!["\t".to_owned()],
            ..good()
        },
        MemoryFields {
            categories: vec!["x".repeat(MAX_LABEL_CHARS + 1)],
            ..good()
        },
        MemoryFields {
            metadata: [("k".to_owned(), json!("x".repeat(MAX_METADATA_BYTES)))]
                .into_iter()
                .collect(),
            ..good()
        },
        MemoryFields {
            metadata: [("k".to_owned(), nested(MAX_DEPTH))].into_iter().collect(),
            ..good()
        },
    ];
    let (code, kind) = ("memory-out-of-bounds", Kind::InvalidInput);
    for object in &beyond {
        refused(memory.add(object), code, kind);
        refused(memory.upsert(&id(name), object, None), code, kind);
        let patch = MemoryPatch {
            content: Some(object.content.clone()),
            summary: Some(object.summary.clone()),
            scope: Some(object.scope.clone()),
            categories: Some(object.categories.clone()),
            metadata: Some(object.metadata.clone()),
            source: Some(object.source.clone()),
        };
        refused(memory.update(&id(name), &patch, None), code, kind);
    }
    assert_eq!(get(memory, name), stays);
    let filter = MemoryFilter {
        scope: Some(scope.to_owned()),
        category: None,
    };
    for limit in [0, MAX_PAGE + 1] {
        let page = Page { after: None, limit };
        refused(memory.query(&filter, &page), code, kind);
        refused(memory.search("x", None, limit), code, kind);
    }
    let long = "x".repeat(MAX_SEARCH_CHARS + 1);
    refused(memory.search(&long, None, 1), code, kind);
    let page = Page {
        after: None,
        limit: MAX_PAGE,
    };
    assert_eq!(memory.query(&filter, &page).unwrap().objects.len(), 1);
    for wrong in ["", "a b", "a\n", "\u{e9}", "a*", &"x".repeat(201)] {
        assert!(wrong.parse::<MemoryId>().is_err(), "{wrong:?}");
    }
}
