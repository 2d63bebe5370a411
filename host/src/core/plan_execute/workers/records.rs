//! Whether what a task says it has done is still there: ledger rows and evidence beside the journal.

use std::sync::Arc;

use crate::{
    core::{
        contract::OperationKey,
        plan_execute::{
            operations::StepRecord,
            state::{CompletedStep, TaskState},
        },
        ports::{
            archive::{Archive, FileState},
            business::{Business, LedgerRow},
        },
        request::Request,
    },
    words::{
        digest::Digest,
        error::{Error, Facts, Fault, Kind},
    },
};

/// Ledger and evidence of a task.
#[derive(Clone)]
pub(crate) struct Records {
    pub(crate) business: Arc<dyn Business>,
    pub(crate) archive: Arc<dyn Archive>,
}

/// A record beside what is stored of it.
pub(crate) struct StoredState {
    /// The ledger row is there and says the same; true for a record that has none.
    pub(crate) ledger: Result<(), RecordError>,
    /// The evidence file.
    pub(crate) evidence: FileState,
}

impl Records {
    /// Writes the evidence of a record.
    pub(crate) fn keep(
        &self,
        request: &Request,
        tool: &str,
        record: &StepRecord,
    ) -> Result<(), Error> {
        self.archive
            .keep_evidence(&request.id, &record.evidence(tool, request.fingerprint()))
    }

    /// Compares every record with ledger and evidence, and writes evidence that was lost.
    pub(crate) fn verify(&self, state: &TaskState) -> Result<(), Error> {
        for step in state.completed() {
            let stored = self.inspect(state, step)?;
            stored.ledger?;
            match stored.evidence {
                FileState::Whole => (),
                FileState::Absent | FileState::Torn => {
                    let (task, evidence) = (&state.request().id, step.evidence_id);
                    tracing::warn!(%task, %evidence, "an evidence file was lost or torn and is written again");
                    self.keep(state.request(), &step.performing.step.tool, &step.record)?;
                }
                FileState::Other => {
                    return Err(RecordError::Evidence {
                        id: step.evidence_id,
                    }
                    .into());
                }
            }
        }
        Ok(())
    }

    /// Compares one record with ledger and evidence.
    pub(crate) fn inspect(
        &self,
        state: &TaskState,
        step: &CompletedStep,
    ) -> Result<StoredState, Error> {
        let request = state.request();
        let evidence = step
            .record
            .evidence(&step.performing.step.tool, request.fingerprint());
        let ledger = match (&step.record.operation_key, state.subject()) {
            (Some(key), Some(subject)) if !step.record.declined => {
                let row = self.business.find(&request.plugin.name, subject, key)?;
                agrees(key, row.as_ref(), &step.record, request)
            }
            _ => Ok(()),
        };
        Ok(StoredState {
            ledger,
            evidence: self.archive.inspect_evidence(&request.id, &evidence)?,
        })
    }
}

/// Whether a ledger row says what a record says.
pub(super) fn agrees(
    key: &OperationKey,
    row: Option<&LedgerRow>,
    record: &StepRecord,
    request: &Request,
) -> Result<(), RecordError> {
    let Some(row) = row else {
        return Err(RecordError::LedgerRowMissing {
            key: key.as_str().to_owned(),
        });
    };
    let fingerprint = record
        .origin
        .as_ref()
        .map_or(request.fingerprint(), |origin| origin.fingerprint);
    let own = row.fingerprint == request.fingerprint();
    let names_its_task = row.task == request.id && row.principal == request.principal;
    if row.data == record.data
        && row.fingerprint == fingerprint
        && row.input_digest == request.input_digest()
        && (names_its_task || !own)
    {
        Ok(())
    } else {
        Err(RecordError::LedgerRowDiffers {
            key: key.as_str().to_owned(),
        })
    }
}

/// What a task says it has done is not what is stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The journal says that an operation was performed, the ledger does not.
    #[error("the journal records the operation `{key}`, but the ledger has no row for it")]
    LedgerRowMissing {
        /// The operation.
        key: String,
    },
    /// The ledger says something else.
    #[error("the ledger's row for the operation `{key}` differs from the journal's record")]
    LedgerRowDiffers {
        /// The operation.
        key: String,
    },
    /// An evidence file was changed.
    #[error("the evidence file {id}.json was changed")]
    Evidence {
        /// Its id.
        id: Digest,
    },
    /// An outcome belongs to another intent.
    #[error("an outcome carries the correlation {found}, but the intent in flight is {expected}")]
    Correlation {
        /// The intent.
        expected: u64,
        /// What the outcome carries.
        found: u64,
    },
}

impl Fault for RecordError {
    fn facts(&self) -> Facts {
        let hint = "`wharf audit` shows all that differs; restore the workspace from a backup: nothing was performed again";
        match self {
            Self::LedgerRowMissing { .. } => Facts::new("ledger-row-missing", Kind::Corrupt, hint),
            Self::LedgerRowDiffers { .. } => Facts::new("ledger-row-differs", Kind::Corrupt, hint),
            Self::Evidence { .. } => Facts::new("evidence-changed", Kind::Corrupt, hint),
            Self::Correlation { .. } => Facts::new("correlation-mismatch", Kind::Bug, hint),
        }
    }
}
