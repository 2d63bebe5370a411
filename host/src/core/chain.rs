//! The rule by which a journal is a chain: each record's hash covers the record and the hash before it.
//!
//! The first record's predecessor is the fingerprint of the task's request, so that a journal cannot be moved to another
//! task. Not keyed: whoever rewrites journal, ledger and report together is not found.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    graph::Graph,
    metering::CallUse,
    ports::journal::{Position, StoredRecord},
};
use crate::words::{
    digest::Digest,
    error::{Facts, Fault, Kind},
    id::{PrincipalId, RunId},
    json::JsonText,
};

/// What happened, as every Loop sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Event {
    /// The task was accepted; always the first record.
    Admitted {
        /// The Loop's name.
        pattern: String,
        /// The version of the Loop's records.
        version: u32,
        /// The fingerprint of the request.
        fingerprint: Digest,
        /// What else the Loop wants to remember of the admission.
        facts: JsonText,
    },
    /// A process took the task over.
    Resumed {
        /// Its run.
        run: RunId,
    },
    /// A Graph is about to run.
    Intended {
        /// The Graph.
        graph: Graph,
    },
    /// The Graph ran.
    Finished {
        /// The output of each node.
        outputs: Vec<Value>,
        /// What the plugin's calls used since the last record.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<CallUse>,
    },
    /// Somebody outside decided about what the Loop waits for.
    Decided {
        /// What.
        decision: Decision,
    },
    /// The run ended before an outcome; what the plugin's calls used until then. Nothing follows it but another run.
    Charged {
        /// At least one.
        calls: Vec<CallUse>,
    },
}

/// A decision from outside, bound to exactly what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decision {
    /// The digest of what was decided about; another digest is another question.
    pub subject: Digest,
    /// Yes or no.
    pub approved: bool,
    /// Who decided.
    pub by: PrincipalId,
}

impl Event {
    /// The kind, as outside readers find it in the journal's column.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Admitted { .. } => "admitted",
            Self::Resumed { .. } => "resumed",
            Self::Intended { .. } => "intended",
            Self::Finished { .. } => "finished",
            Self::Decided { .. } => "decided",
            Self::Charged { .. } => "charged",
        }
    }

    /// What the plugin's calls used, as far as this event tells.
    #[must_use]
    pub fn calls(&self) -> &[CallUse] {
        match self {
            Self::Finished { calls, .. } | Self::Charged { calls } => calls,
            _ => &[],
        }
    }
}

/// One event in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its sequence and the chain's hash with it.
    pub position: Position,
    /// When it was recorded; never earlier than the record before it.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}

impl Record {
    /// Puts an event behind a position.
    #[must_use]
    pub fn following(previous: Position, at: Timestamp, event: Event) -> (Self, StoredRecord) {
        let body = serde_json::to_string(&event).expect("an event can be written as JSON");
        let sequence = previous.sequence + 1;
        let hash = link(previous.head, sequence, at, event.kind(), &body);
        let stored = StoredRecord {
            sequence,
            kind: event.kind().to_owned(),
            at,
            body,
            hash,
        };
        (
            Self {
                position: Position {
                    sequence,
                    head: hash,
                },
                at,
                event,
            },
            stored,
        )
    }

    /// Reads a stored record that must follow a position.
    ///
    /// # Errors
    /// A gap, a hash that does not fit, or a record that this version does not know.
    pub fn read(previous: Position, stored: &StoredRecord) -> Result<Self, ChainError> {
        let sequence = stored.sequence;
        if sequence != previous.sequence + 1 {
            return Err(ChainError::Gap {
                expected: previous.sequence + 1,
                found: sequence,
            });
        }
        if link(
            previous.head,
            sequence,
            stored.at,
            &stored.kind,
            &stored.body,
        ) != stored.hash
        {
            return Err(ChainError::Hash { sequence });
        }
        let event: Event =
            serde_json::from_str(&stored.body).map_err(|source| ChainError::Unknown {
                sequence,
                kind: stored.kind.clone(),
                source,
            })?;
        if event.kind() != stored.kind {
            return Err(ChainError::Hash { sequence });
        }
        Ok(Self {
            position: Position {
                sequence,
                head: stored.hash,
            },
            at: stored.at,
            event,
        })
    }
}

/// Where the chain of a request begins.
#[must_use]
pub const fn origin(fingerprint: Digest) -> Position {
    Position {
        sequence: 0,
        head: fingerprint,
    }
}

fn link(previous: Digest, sequence: u64, at: Timestamp, kind: &str, body: &str) -> Digest {
    Digest::of_parts(&[
        previous.to_string().as_bytes(),
        &sequence.to_be_bytes(),
        at.to_string().as_bytes(),
        kind.as_bytes(),
        body.as_bytes(),
    ])
}

/// Why stored records are not a journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// A record is missing, doubled or out of order.
    #[error("the journal has record {found} where record {expected} should be")]
    Gap {
        /// The sequence that should follow.
        expected: u64,
        /// The sequence found.
        found: u64,
    },
    /// A record is not the one that was written.
    #[error("record {sequence} of the journal is not the one that was written")]
    Hash {
        /// Its sequence.
        sequence: u64,
    },
    /// A record of a kind that this version does not know.
    #[error(
        "record {sequence} of the journal, `{kind}`, is of a kind that this version does not know"
    )]
    Unknown {
        /// Its sequence.
        sequence: u64,
        /// Its kind.
        kind: String,
        /// What the reader said.
        source: serde_json::Error,
    },
}

impl Fault for ChainError {
    fn facts(&self) -> Facts {
        match self {
            Self::Gap { .. } => Facts::new(
                "journal-gap",
                Kind::Corrupt,
                "restore memory.sqlite from a backup; `wharf audit` lists what is affected",
            ),
            Self::Hash { .. } => Facts::new(
                "journal-hash",
                Kind::Corrupt,
                "restore memory.sqlite from a backup; `wharf audit` lists what is affected",
            ),
            Self::Unknown { .. } => Facts::new(
                "journal-unknown-record",
                Kind::Corrupt,
                "use the version of wharf that wrote this workspace; nothing was changed",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> (Position, Vec<StoredRecord>) {
        let start = origin(Digest::of("request"));
        let mut position = start;
        let stored = (0..3)
            .map(|second| {
                let event = Event::Resumed {
                    run: RunId::beginning_at(Timestamp::UNIX_EPOCH),
                };
                let (record, stored) =
                    Record::following(position, Timestamp::from_second(second).unwrap(), event);
                position = record.position;
                stored
            })
            .collect();
        (start, stored)
    }

    fn read(start: Position, stored: &[StoredRecord]) -> Result<Position, ChainError> {
        stored.iter().try_fold(start, |position, record| {
            Record::read(position, record).map(|record| record.position)
        })
    }

    #[test]
    fn edits_deletions_insertions_and_reorderings_break_the_chain() {
        let (start, stored) = chain();
        assert_eq!(read(start, &stored).unwrap().sequence, 3);
        let mut broken = Vec::new();
        for change in ["at", "kind", "body", "hash"] {
            let mut copy = stored.clone();
            match change {
                "at" => copy[1].at = Timestamp::from_second(9).unwrap(),
                "kind" => copy[1].kind = "finished".into(),
                "body" => copy[1].body = copy[1].body.replace('-', "_"),
                _ => copy[1].hash = Digest::of("x"),
            }
            broken.push(copy);
        }
        broken.push(vec![stored[0].clone(), stored[2].clone()]);
        broken.push(vec![
            stored[1].clone(),
            stored[0].clone(),
            stored[2].clone(),
        ]);
        broken.push(vec![
            stored[0].clone(),
            stored[0].clone(),
            stored[1].clone(),
        ]);
        for copy in broken {
            assert!(read(start, &copy).is_err(), "{copy:?}");
        }
        assert!(read(origin(Digest::of("another request")), &stored).is_err());
    }

    #[test]
    fn an_unknown_record_is_refused_by_name() {
        let (start, mut stored) = chain();
        stored[0].body = r#"{"upgraded":{}}"#.into();
        stored[0].kind = "upgraded".into();
        stored[0].hash = link(start.head, 1, stored[0].at, "upgraded", &stored[0].body);
        assert!(matches!(
            read(start, &stored),
            Err(ChainError::Unknown { sequence: 1, .. })
        ));
    }
}
