//! What became of a plan from version to version: who changed which steps, and how they were before.
//!
//! Kept with the plan, newest last, as many entries as have room; from them every version back to the oldest entry can be
//! restored, except for the order of steps.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::plan::{SharedPlan, SharedStep};

/// Bytes of all entries together, as JSON; under what the metadata of an object may have.
const MAX_BYTES: usize = 15 * 1024;

const KEY: &str = "history";

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    /// The version that it made.
    version: u64,
    /// When.
    at: Timestamp,
    /// Who.
    by: String,
    /// Ids of steps that were not there before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    added: Vec<String>,
    /// Steps that were changed or removed, as they were before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<SharedStep>,
}

impl Entry {
    pub(super) fn of(
        version: u64,
        at: Timestamp,
        by: &str,
        before: &SharedPlan,
        after: &SharedPlan,
    ) -> Self {
        let there = |plan: &SharedPlan, id: &str| plan.steps.iter().any(|step| step.id == id);
        let added = after.steps.iter().filter(|step| !there(before, &step.id));
        let changed = before
            .steps
            .iter()
            .filter(|step| !after.steps.contains(step));
        Self {
            version,
            at,
            by: by.to_owned(),
            added: added.map(|step| step.id.clone()).collect(),
            before: changed.cloned().collect(),
        }
    }
}

/// The entries in the metadata of a plan's object.
pub(super) fn of(metadata: &Map<String, Value>) -> Vec<Entry> {
    metadata
        .get(KEY)
        .and_then(|entries| serde_json::from_value(entries.clone()).ok())
        .unwrap_or_default()
}

/// The metadata with one more entry, and without the oldest that have no room any more.
pub(super) fn with(mut metadata: Map<String, Value>, entry: Entry) -> Map<String, Value> {
    let mut entries = of(&metadata);
    entries.push(entry);
    let mut kept = 0;
    let mut room = MAX_BYTES;
    for entry in entries.iter().rev() {
        let bytes = serde_json::to_string(entry).map_or(usize::MAX, |text| text.len() + 1);
        match room.checked_sub(bytes) {
            Some(left) => room = left,
            None => break,
        }
        kept += 1;
    }
    let entries = entries.split_off(entries.len() - kept);
    metadata.insert(
        KEY.to_owned(),
        serde_json::to_value(entries).expect("an entry can be written as JSON"),
    );
    metadata
}
