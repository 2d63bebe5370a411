//! What every run verifies before it does anything: request, policy, pinned component, anchor, ledger and evidence so far.
//!
//! If any of it fails, the run ends without having written a thing (evidence that a lost write tore is written again: it is
//! an export of what ledger and journal hold).

use super::stores::Stores;
use crate::{
    core::{
        chain::Event,
        machine::Machine,
        plan_execute::{state::TaskState, workers::Records},
        ports::{
            business::{Business as _, LedgerRow},
            journal::{Position, StoredRecord},
            permission::Acting,
        },
        request::Request,
    },
    technologies::admission,
    words::{
        digest::Digest,
        error::{Error, Facts, Fault, Kind},
        id::TaskId,
    },
};

/// Verifies a saved task and yields its pinned component's bytes.
pub(super) fn verify(
    stores: &Stores,
    request: &Request,
    machine: &Machine<TaskState>,
    stored: &[StoredRecord],
) -> Result<Vec<u8>, Error> {
    stores.permission.check(request.acting(), None)?;
    let component = admission::stored_component(&stores.workspace, &request.plugin.digest)?;
    let anchor = stores.business.anchor_of(&request.id)?;
    if let Some(anchor) = anchor {
        check_anchor(&request.id, anchor, stored)?;
    }
    let rows = stores.business.rows_of(&request.id)?;
    check_rows_are_anchored(&request.id, anchor, &rows, stored)?;
    Records {
        business: stores.business.clone(),
        archive: stores.archive.clone(),
    }
    .verify(machine.state())?;
    Ok(component)
}

/// The journal may be longer than its anchor, but it must hold that very record.
pub(super) fn check_anchor(
    task: &TaskId,
    anchor: Position,
    stored: &[StoredRecord],
) -> Result<(), PreflightError> {
    let holds = stored
        .iter()
        .any(|record| record.sequence == anchor.sequence && record.hash == anchor.head);
    if holds {
        Ok(())
    } else {
        Err(PreflightError::Anchor {
            task: task.clone(),
            sequence: anchor.sequence,
        })
    }
}

/// Each ledger row was committed together with an anchor at the record that intended it; later anchors only go on. A row of a
/// record that the journal does not hold is for others to judge.
pub(super) fn check_rows_are_anchored(
    task: &TaskId,
    anchor: Option<Position>,
    rows: &[LedgerRow],
    stored: &[StoredRecord],
) -> Result<(), PreflightError> {
    let anchored = anchor.map_or(0, |anchor| anchor.sequence);
    let last = stored.last().map_or(0, |record| record.sequence);
    let of_records = rows
        .iter()
        .map(|row| row.sequence)
        .filter(|row| *row <= last);
    match of_records.max() {
        Some(sequence) if sequence > anchored => Err(PreflightError::AnchorMissing {
            task: task.clone(),
            sequence,
        }),
        _ => Ok(()),
    }
}

/// The request must be the one that was admitted.
pub(super) fn check_request(
    acting: Acting<'_>,
    stored: &[StoredRecord],
) -> Result<(), PreflightError> {
    let admitted = stored
        .first()
        .and_then(|record| serde_json::from_str(&record.body).ok());
    match admitted {
        Some(Event::Admitted { fingerprint, .. }) if fingerprint != acting.fingerprint => {
            Err(PreflightError::RequestChanged {
                task: acting.task.clone(),
                admitted: fingerprint,
                found: acting.fingerprint,
            })
        }
        // Anything else is for the machine to judge when it folds the records.
        _ => Ok(()),
    }
}

/// A saved task is not what was saved.
#[derive(Debug, thiserror::Error)]
pub(super) enum PreflightError {
    /// The request is another than the admitted one.
    #[error("the request of task `{task}` is not the one that was admitted")]
    RequestChanged {
        /// The task.
        task: TaskId,
        /// The fingerprint in the journal.
        admitted: Digest,
        /// The fingerprint of the request.
        found: Digest,
    },
    /// The journal lost records, or its records are others.
    #[error(
        "the journal of task `{task}` does not hold record {sequence} as the business database anchors it"
    )]
    Anchor {
        /// The task.
        task: TaskId,
        /// The anchored record.
        sequence: u64,
    },
    /// The anchor that was committed with a ledger row is gone.
    #[error(
        "the business database has no anchor for record {sequence} of task `{task}`, which a row of its ledger belongs to"
    )]
    AnchorMissing {
        /// The task.
        task: TaskId,
        /// The record that the row belongs to.
        sequence: u64,
    },
}

impl Fault for PreflightError {
    fn facts(&self) -> Facts {
        match self {
            Self::RequestChanged { .. } => Facts::new(
                "task-changed",
                Kind::Conflict,
                "restore request.json, or give the changed request another id",
            ),
            Self::Anchor { .. } => Facts::new(
                "journal-cut",
                Kind::Corrupt,
                "restore memory.sqlite from a backup; `wharf audit` lists what is affected",
            ),
            Self::AnchorMissing { .. } => Facts::new(
                "anchor-missing",
                Kind::Corrupt,
                "restore business.sqlite from a backup; `wharf audit` lists what is affected",
            ),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::RequestChanged {
                admitted, found, ..
            } => Some(format!("its fingerprint was {admitted} and is {found}")),
            Self::Anchor { .. } | Self::AnchorMissing { .. } => None,
        }
    }
}
