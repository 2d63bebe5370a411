//! What every memory must do, as checks that any implementation can be put through by a test of its own.
//!
//! They panic where a promise of [`Memories`] is not kept.

mod objects;
mod versions;
mod pages;
mod words;
mod many;

use serde_json::{Map, Value, json};

use crate::{
    core::ports::memories::{Memories, Memory, MemoryFields, MemoryId, SharedMemories},
    words::error::{Error, Kind},
};

/// The memory that is checked.
pub struct Candidate<'c> {
    /// Opens it, anew each time: all that are open at a time reach the same objects, and find what was kept before. The first one
    /// finds none.
    pub open: &'c dyn Fn() -> SharedMemories,
    /// Has some work done, in one commit if there is a way.
    pub at_once: &'c dyn Fn(&mut dyn FnMut(&dyn Memories)),
    /// How many objects it is filled with at the end: 100,000, unless there is a reason for fewer.
    pub objects: u32,
}

/// Puts an empty memory through all checks.
///
/// # Panics
/// A promise is not kept.
pub fn conforms(candidate: &Candidate<'_>) {
    let open = candidate.open;
    objects::an_object_comes_back_as_it_was_kept_and_after_a_restart(open);
    objects::what_is_added_has_an_id_of_its_own(&*open());
    objects::a_patch_changes_what_it_names(&*open());
    objects::a_use_is_recorded_and_changes_nothing_else(&*open());
    objects::what_is_deleted_is_gone(&*open());
    objects::what_is_out_of_bounds_changes_nothing(&*open());
    versions::another_version_than_the_expected_one_is_a_conflict(&*open());
    versions::of_many_writers_one_wins_each_version(open);
    versions::nothing_is_lost_between_two_writers(open);
    pages::a_filter_and_pages_show_each_object_once(&*open());
    pages::pages_lose_nothing_while_others_write(open);
    words::all_words_are_held(&*open());
    words::better_hits_come_first(&*open());
    words::no_text_is_an_instruction(&*open());
    words::unicode_is_found(&*open());
    words::cjk_is_found_by_its_characters(&*open());
    words::what_is_found_is_what_is_there(&*open());
    many::many_objects_are_paged_and_found(candidate);
}

fn id(text: &str) -> MemoryId {
    text.parse().unwrap()
}

/// An object of a scope, with a text.
fn object(scope: &str, content: impl Into<Value>) -> MemoryFields {
    MemoryFields {
        content: content.into(),
        summary: None,
        scope: Some(scope.to_owned()),
        categories: Vec::new(),
        metadata: Map::new(),
        source: "conformance".to_owned(),
    }
}

fn keep(memory: &dyn Memories, name: &str, object: &MemoryFields) -> Memory {
    memory.upsert(&id(name), object, None).unwrap()
}

fn get(memory: &dyn Memories, name: &str) -> Option<Memory> {
    memory.get(&id(name)).unwrap()
}

/// The ids that are found, in order.
fn found(memory: &dyn Memories, scope: &str, text: &str) -> Vec<String> {
    let hits = memory.search(text, Some(scope), 100).unwrap();
    hits.into_iter()
        .map(|hit| hit.object.id.to_string())
        .collect()
}

#[track_caller]
fn refused<T>(result: Result<T, Error>, code: &str, kind: Kind) {
    match result {
        Ok(_) => panic!("{code} was expected"),
        Err(error) => assert_eq!((error.code(), error.kind()), (code, kind), "{error:?}"),
    }
}

#[track_caller]
fn conflicts<T>(result: Result<T, Error>) {
    match result {
        Ok(_) => panic!("a conflict was expected"),
        Err(error) => assert_eq!(error.kind(), Kind::Conflict, "{error:?}"),
    }
}

fn rich() -> MemoryFields {
    MemoryFields {
        content: json!({"text": "\u{0}\u{1f600}\u{4e2d}\"\\\r\n", "n": [1, -2.5, null, true, {"": []}]}),
        summary: Some("in \u{e9}\u{301} few".to_owned()),
        scope: Some("conformance:rich %_*\"'".to_owned()),
        categories: vec!["z".to_owned(), "\u{6771}".to_owned(), "a b".to_owned()],
        metadata: json!({"k": {"deep": [1]}}).as_object().unwrap().clone(),
        source: "who".to_owned(),
    }
}
