//! The Loop: a pure state machine that decides which Graph runs next.
//!
//! [`Machine`] wraps a [`Loop`] and owns the order of records that is legal for every Loop. A live run and a recovery
//! fold the same records through the same function; nothing here does IO or asks for the time.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::{
    chain::{self, Event, Record},
    graph::Graph,
    metering::CallSums,
    ports::journal::{Position, StoredRecord},
    view::View,
};
use crate::words::{
    digest::Digest,
    error::{Error, Facts, Fault, Kind},
};

/// A pattern of work: what follows from what happened. Pure and synchronous.
pub trait Loop: Send {
    /// The name in the admitted record.
    const NAME: &'static str;
    /// The version of the records; a journal of another version is refused.
    const VERSION: u32;

    /// Folds one record. The machine has checked that it is in order.
    ///
    /// # Errors
    /// A record that does not follow from the state; the state is then of no further use.
    fn apply(&mut self, record: &Record) -> Result<(), IllegalTransition>;

    /// What to do now. Depends on the folded records alone.
    fn next(&self) -> Next;

    /// Names the working set.
    fn scope(&self) -> String;

    /// The journal head that the working set is built from.
    fn material(&self) -> Digest;

    /// The working set for the model.
    fn working_set(&self) -> Value;

    /// The checkpoints that the last record reached.
    fn reached(&self) -> &[Checkpoint];

    /// What a person wants to know. The machine adds what the calls used.
    fn view(&self) -> View;
}

/// What to do now.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Run this Graph.
    Run(Graph),
    /// Wait until this moment, then run this Graph. What was recorded is durable meanwhile.
    RunAt(Timestamp, Graph),
    /// Nothing, until somebody outside has decided; this run ends.
    Wait,
    /// This run ends with an error; a later run may go on.
    Interrupted(ModelFailure),
    /// The task is finished.
    Done,
}

impl Next {
    /// What is to be run, at once or later.
    #[must_use]
    pub const fn graph(&self) -> Option<&Graph> {
        match self {
            Self::Run(graph) | Self::RunAt(_, graph) => Some(graph),
            Self::Wait | Self::Interrupted(_) | Self::Done => None,
        }
    }
}

/// A model's failure that ended a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model failed: {code}")]
pub struct ModelFailure {
    /// The provider's code.
    pub code: String,
    /// The provider's message.
    pub message: String,
    /// Whether a later run may succeed.
    pub retryable: bool,
}

impl Fault for ModelFailure {
    fn facts(&self) -> Facts {
        let hint = if self.retryable {
            "`wharf resume`, with the same `--planner` and `--config`, tries again; each attempt counts"
        } else {
            "correct the model's configuration, then `wharf resume` with the same `--planner` and `--config`; each attempt counts"
        };
        Facts::new("model-failed", Kind::Unavailable, hint)
    }

    fn why(&self) -> Option<String> {
        Some(self.message.clone())
    }
}

/// Places at which a run may be asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Checkpoint {
    /// A plan version was accepted, before its effects.
    Plan,
    /// One step was completed.
    Step,
    /// Concluded and durable, nothing published yet.
    Report,
}

/// A record that does not follow from the state.
#[derive(Debug, thiserror::Error)]
#[error("record {sequence} of the journal does not follow from the records before it")]
pub struct IllegalTransition {
    /// Its sequence.
    pub sequence: u64,
    /// What was wrong.
    pub reason: String,
}

impl Fault for IllegalTransition {
    fn facts(&self) -> Facts {
        Facts::new(
            "journal-illegal",
            Kind::Corrupt,
            "`wharf audit` shows what is affected; restore the workspace from a backup",
        )
    }

    fn why(&self) -> Option<String> {
        Some(self.reason.clone())
    }
}

/// A Loop and its place in the journal.
pub struct Machine<L> {
    state: L,
    fingerprint: Digest,
    position: Position,
    started_at: Option<Timestamp>,
    last: Option<Record>,
    in_flight: Option<Graph>,
    graphs: u64,
    calls: CallSums,
}

impl<L: Loop> Machine<L> {
    /// A Loop before its first record.
    #[must_use]
    pub fn new(state: L, fingerprint: Digest) -> Self {
        Self {
            state,
            fingerprint,
            position: chain::origin(fingerprint),
            started_at: None,
            last: None,
            in_flight: None,
            graphs: 0,
            calls: CallSums::default(),
        }
    }

    /// Folds stored records.
    ///
    /// # Errors
    /// Records that are not the chain that was written, or not in a legal order.
    pub fn fold(mut self, stored: &[StoredRecord]) -> Result<Self, Error> {
        for record in stored {
            let record = Record::read(self.position, record)?;
            self.apply(record)?;
        }
        Ok(self)
    }

    /// Folds one record.
    ///
    /// # Errors
    /// A record that is not legal here.
    pub fn apply(&mut self, record: Record) -> Result<(), IllegalTransition> {
        let illegal = |reason: &str| {
            Err(IllegalTransition {
                sequence: record.position.sequence,
                reason: reason.to_owned(),
            })
        };
        if record.position.sequence != self.position.sequence + 1 {
            return illegal("its sequence does not follow");
        }
        if self.last.as_ref().is_some_and(|last| record.at < last.at) {
            return illegal("it is older than the record before it");
        }
        match (&record.event, &self.last) {
            (
                Event::Admitted {
                    pattern,
                    version,
                    fingerprint,
                    ..
                },
                None,
            ) => {
                if pattern != L::NAME || *version != L::VERSION {
                    return illegal(&format!(
                        "it belongs to the Loop {pattern} version {version}; this version knows {} version {}",
                        L::NAME,
                        L::VERSION
                    ));
                }
                if *fingerprint != self.fingerprint {
                    return illegal("it belongs to another request");
                }
            }
            (_, None) => return illegal("the first record must be `admitted`"),
            (Event::Admitted { .. }, Some(_)) => return illegal("a task is admitted once"),
            (Event::Resumed { .. }, _) => self.in_flight = None,
            (_, Some(last)) if matches!(last.event, Event::Charged { .. }) => {
                return illegal("the run before it has ended");
            }
            (Event::Intended { .. }, _) if self.in_flight.is_some() => {
                return illegal("a graph is in flight");
            }
            (Event::Intended { graph }, _) => {
                self.in_flight = Some(graph.clone());
                self.graphs += 1;
            }
            (Event::Decided { .. }, _) if self.next() != Next::Wait => {
                return illegal("nothing waits for a decision");
            }
            (Event::Decided { .. }, _) => (),
            (Event::Charged { calls }, _) if calls.is_empty() => {
                return illegal("it charges nothing");
            }
            (Event::Charged { .. }, _) => (),
            (Event::Finished { outputs, .. }, _) => match self.in_flight.take() {
                None => return illegal("no graph is in flight"),
                Some(graph) if graph.nodes().len() != outputs.len() => {
                    return illegal("it has not one output for each node");
                }
                Some(_) => (),
            },
        }
        self.state.apply(&record)?;
        self.calls.add(record.event.calls());
        self.position = record.position;
        self.started_at.get_or_insert(record.at);
        self.last = Some(record);
        Ok(())
    }

    /// What to do now.
    #[must_use]
    pub fn next(&self) -> Next {
        self.state.next()
    }

    /// The Loop's state.
    #[must_use]
    pub const fn state(&self) -> &L {
        &self.state
    }

    /// The place of the last record.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.position
    }

    /// When the task was admitted.
    #[must_use]
    pub const fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    /// How many Graphs were intended so far, over all runs.
    #[must_use]
    pub const fn graphs(&self) -> u64 {
        self.graphs
    }

    /// What the plugin's calls have used so far, over all runs, as far as it is recorded.
    #[must_use]
    pub const fn calls(&self) -> &CallSums {
        &self.calls
    }

    /// What a person wants to know.
    #[must_use]
    pub fn view(&self) -> View {
        View {
            calls: self.calls.clone(),
            ..self.state.view()
        }
    }

    /// The last record.
    #[must_use]
    pub const fn last(&self) -> Option<&Record> {
        self.last.as_ref()
    }

    /// Whether the task is finished.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.last.is_some() && self.next() == Next::Done
    }
}
