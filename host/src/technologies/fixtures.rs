//! What the tests of this folder share: a request, a workspace in a temporary folder, a clock that is set.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use tempfile::TempDir;

use super::workspace::Workspace;
use crate::{
    core::request::Request,
    words::{
        clock::Clock,
        digest::Digest,
        error::{Error, Kind},
    },
};

/// The component that [`request`] names.
pub(super) const COMPONENT: &[u8] = b"\0asm and so on";

/// A request for task `t1` by `operator` that names [`COMPONENT`].
pub(super) fn request(goal: &str) -> Request {
    let value = serde_json::json!({
        "id": "t1",
        "tenant": "acme",
        "principal": "operator",
        "goal": goal,
        "plugin": {"name": "p", "version": "1", "digest": Digest::of(COMPONENT)},
        "budgets": {"maxPlans": 3, "maxActions": 12, "deadlineSeconds": 600},
        "input": {"x": 1},
    });
    Request::read(&value.to_string()).unwrap()
}

/// A new workspace; it is removed with the folder.
pub(super) fn workspace() -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::create(&folder.path().join("w")).unwrap();
    (folder, workspace)
}

/// Asserts an error's code and kind, and that it says why and what to do.
#[track_caller]
pub(super) fn assert_error(error: impl Into<Error>, code: &str, kind: Kind) {
    let error = error.into();
    assert_eq!((error.code(), error.kind()), (code, kind), "{error:?}");
    assert!(!error.hint().is_empty() && !error.why().is_empty());
    assert!(
        !error.to_string().contains(&error.why()),
        "{error}: {}",
        error.why()
    );
}

/// A clock that stands still until it is told to go on.
#[derive(Debug, Default)]
pub(super) struct SetClock(AtomicI64);

impl SetClock {
    pub(super) fn advance(&self, time: Duration) {
        let milliseconds = i64::try_from(time.as_millis()).unwrap();
        self.0.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap()
    }
}
