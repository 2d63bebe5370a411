//! A person's decision about the call that a task waits with.

use super::{
    super::{builder::Host, run::RunError},
    opening,
};
use crate::{
    core::{
        agent::state::WaitingCall,
        chain::{Decision, Event, Record},
        ports::journal::Journal as _,
    },
    words::{
        digest::Digest,
        error::{Error, Facts, Fault, Kind},
        id::{PrincipalId, TaskId},
    },
};

pub(super) fn decide(
    host: &Host,
    task: &TaskId,
    approved: bool,
    by: PrincipalId,
    call: Option<Digest>,
) -> Result<WaitingCall, Error> {
    let unknown = || RunError::UnknownTask { task: task.clone() };
    let lock = host.lock_existing(task)?.ok_or_else(unknown)?;
    let stores = host.existing_stores()?.ok_or_else(unknown)?;
    if stores.journal.load(task)?.is_empty() {
        return Err(unknown().into());
    }
    let mut opened = opening::open_saved(host, stores, lock, task)?;
    let waiting = opened
        .machine
        .state()
        .waiting()
        .ok_or_else(|| DecisionError::NothingWaits { task: task.clone() })?;
    if let Some(expected) = call.filter(|call| *call != waiting.digest) {
        return Err(DecisionError::OtherCall {
            task: task.clone(),
            expected,
            found: waiting.digest,
        }
        .into());
    }
    let decision = Decision {
        subject: waiting.digest,
        approved,
        by,
    };
    let now = host.clock().now();
    let at = opened.machine.last().map_or(now, |last| now.max(last.at));
    let (record, stored) =
        Record::following(opened.machine.position(), at, Event::Decided { decision });
    opened.machine.apply(record)?;
    opened.stores.journal.append(task, &[stored])?;
    Ok(waiting)
}

/// Why there is nothing to decide.
#[derive(Debug, thiserror::Error)]
enum DecisionError {
    #[error("no call of task `{task}` waits for a decision")]
    NothingWaits { task: TaskId },
    #[error("task `{task}` waits with another call than the one that was decided about")]
    OtherCall {
        task: TaskId,
        expected: Digest,
        found: Digest,
    },
}

impl Fault for DecisionError {
    fn facts(&self) -> Facts {
        match self {
            Self::NothingWaits { .. } => Facts::new(
                "nothing-waits",
                Kind::Conflict,
                "`wharf status` tells where the task stands; `wharf resume` goes on with it",
            ),
            Self::OtherCall { .. } => Facts::new(
                "other-call",
                Kind::Conflict,
                "`wharf status` shows the call that waits; decide about that one",
            ),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::NothingWaits { .. } => None,
            Self::OtherCall {
                expected, found, ..
            } => Some(format!("its digest is {found}, not {expected}")),
        }
    }
}
