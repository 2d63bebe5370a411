//! What became of a plan from version to version: who changed which steps, and how they were before.
//!
//! Kept with the plan, newest last, as many entries as have room; from them every version back to the oldest entry can be
//! restored, except for the order of steps, and for what a single change of more than has room had before.

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
    /// How many more ids and steps there were, which had no room.
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to it"
)]
const fn is_zero(count: &usize) -> bool {
    *count == 0
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
            left_out: 0,
        }
    }

    fn bytes(&self) -> usize {
        serde_json::to_string(self).map_or(usize::MAX, |text| text.len() + 1)
    }

    /// No longer than half of the room, so that it does not drive out all that came before it: who and when always stays.
    fn fitted(mut self) -> Self {
        let mut bytes = self.bytes();
        while bytes > MAX_BYTES / 2 {
            bytes -= match (self.before.pop(), self.added.pop()) {
                (Some(step), added) => {
                    self.added.extend(added);
                    serde_json::to_string(&step).map_or(0, |text| text.len())
                }
                (None, Some(id)) => id.len(),
                (None, None) => break,
            };
            self.left_out += 1;
        }
        self
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
    entries.push(entry.fitted());
    let mut kept = 0;
    let mut room = MAX_BYTES;
    for entry in entries.iter().rev() {
        match room.checked_sub(entry.bytes()) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan(steps: usize) -> SharedPlan {
        let long = "x".repeat(1000);
        let step = |n: usize| json!({"id": format!("s{n}"), "title": long, "status": "pending", "note": long});
        let steps: Vec<_> = (0..steps).map(step).collect();
        serde_json::from_value(json!({ "steps": steps })).unwrap()
    }

    #[test]
    fn a_change_that_has_no_room_is_still_told_and_drives_out_nothing() {
        let entry = |version, before: &SharedPlan, after: &SharedPlan| {
            Entry::of(version, Timestamp::UNIX_EPOCH, "me", before, after)
        };
        let (none, many) = (SharedPlan::default(), plan(200));
        let metadata = with(Map::new(), entry(1, &none, &many));
        let metadata = with(metadata, entry(2, &many, &none));
        let entries = of(&metadata);
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].added.len(), 200);
        let last = &entries[1];
        assert_eq!((last.version, &*last.by), (2, "me"));
        assert!(!last.before.is_empty() && last.before.len() + last.left_out == 200);
        assert!(metadata[KEY].to_string().len() <= MAX_BYTES);
    }
}
