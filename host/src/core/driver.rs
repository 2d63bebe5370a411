//! The driver: the only part of the core that performs IO.
//!
//! It appends the intent, runs the Graph through the Workers, appends the outcome. Records wait in memory and share a commit
//! with their neighbours, but never past an effect: before a Graph with an effect runs, everything up to and with its intent is
//! durable; before an outcome is journaled, what it was read from is durable too.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::{
    cancel::{Cancel, Halt},
    chain::{Event, Record},
    graph::{Graph, Input},
    machine::{Checkpoint, Loop, Machine, Next},
    metering::{CallUse, Meter},
    ports::{
        journal::{Journal, StoredRecord},
        memories::Memories,
    },
    progress::{Progress, ProgressBody, ProgressSink},
    worker::{Moment, Workers},
};
use crate::words::{
    clock::Clock,
    error::{Error, Facts, Fault, Kind},
    id::{RunId, TaskId},
};

/// The most Graphs that one task may run, over all its runs.
pub const GRAPH_BUDGET: u64 = 1024;

/// How a run ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// The task is finished.
    Done,
    /// Stopped at the checkpoint that was asked for.
    Checkpoint(Checkpoint),
    /// Somebody outside has to decide; after that, the task can be resumed.
    Waiting,
    /// Cancelled; the task can be resumed.
    Cancelled,
}

/// Why the driver gave up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The Loop did not end.
    #[error("the task has run {GRAPH_BUDGET} graphs without an end")]
    GraphBudget,
    /// The clock stands before the task's beginning.
    #[error("the clock says {now}, but the task began at {started}")]
    ClockBeforeStart {
        /// The clock.
        now: Timestamp,
        /// The beginning.
        started: Timestamp,
    },
}

impl Fault for DriverError {
    fn facts(&self) -> Facts {
        match self {
            Self::GraphBudget => Facts::new(
                "graph-budget",
                Kind::Limit,
                "report this with the output of `wharf status`; no Loop of this version needs so many",
            ),
            Self::ClockBeforeStart { .. } => Facts::new(
                "clock-before-start",
                Kind::Unavailable,
                "set the machine's clock, then `wharf resume`; nothing was written",
            ),
        }
    }
}

/// Drives one task.
pub struct Driver<'a, L> {
    /// The task.
    pub task: TaskId,
    /// This run.
    pub run: RunId,
    /// Where records go.
    pub journal: &'a dyn Journal,
    /// Who runs nodes.
    pub workers: &'a Workers<L>,
    /// Counts what the plugin's calls use.
    pub meter: &'a Meter,
    /// Where time comes from.
    pub clock: &'a dyn Clock,
    /// Interrupts the run.
    pub cancel: &'a Cancel,
    /// Where to stop, if anywhere.
    pub stop_after: Option<Checkpoint>,
    /// Who wants to know.
    pub progress: Option<ProgressSink>,
}

/// What waits for the next commit.
#[derive(Default)]
struct Pending {
    records: Vec<StoredRecord>,
    /// What these records charge.
    calls: Vec<CallUse>,
}

/// What the nodes of a Graph came to.
struct Ran {
    outputs: Vec<Value>,
    undo: bool,
}

const UNDONE: &str = "undone";

/// Takes back what a Graph did to the memory, within this file.
#[derive(Debug, thiserror::Error)]
#[error("what the graph did to the memory is taken back")]
struct Undone;

impl Fault for Undone {
    fn facts(&self) -> Facts {
        Facts::new(
            UNDONE,
            Kind::Bug,
            "report it with the output of `wharf status`",
        )
    }
}

impl<L: Loop> Driver<'_, L> {
    /// Begins a run with a record (`admitted` or `resumed`) and goes on until the task is finished, a checkpoint is reached or
    /// the run is cancelled. Everything that was recorded is durable when it returns.
    ///
    /// # Errors
    /// Whatever a Worker or the journal fails with; the task can be resumed.
    pub fn drive(&self, machine: &mut Machine<L>, first: Event) -> Result<RunEnd, Error> {
        let mut pending = Pending::default();
        let end = self.advance(machine, first, &mut pending);
        let end = match (end, self.charge(machine, &mut pending)) {
            (Ok(_), Err(error)) => Err(error.into()),
            (end, _) => end,
        };
        // What is known is kept, whatever ended the run; the first failure is the one to report.
        let flushed = self.flush(&mut pending);
        match end {
            Ok(end) => flushed.map(|()| end),
            Err(Halt::Cancelled) => flushed.map(|()| RunEnd::Cancelled),
            Err(Halt::Failed(error)) => Err(error),
        }
    }

    fn advance(
        &self,
        machine: &mut Machine<L>,
        first: Event,
        pending: &mut Pending,
    ) -> Result<RunEnd, Halt> {
        self.record(machine, first, pending)?;
        loop {
            let asked_for = |asked: &Checkpoint| machine.state().reached().contains(asked);
            if let Some(checkpoint) = self.stop_after.filter(asked_for) {
                return Ok(RunEnd::Checkpoint(checkpoint));
            }
            if self.cancel.is_cancelled() {
                return Err(Halt::Cancelled);
            }
            let graph = match machine.next() {
                Next::Done => return Ok(RunEnd::Done),
                Next::Wait => return Ok(RunEnd::Waiting),
                Next::Interrupted(failure) => return Err(failure.into()),
                Next::Run(graph) => graph,
                Next::RunAt(moment, graph) => {
                    self.flush(pending)?;
                    self.wait_until(moment)?;
                    graph
                }
            };
            if machine.graphs() >= GRAPH_BUDGET {
                return Err(DriverError::GraphBudget.into());
            }
            for node in graph.nodes() {
                self.workers
                    .of(node)
                    .check(node, machine.state(), self.cancel)?;
            }
            self.record(
                machine,
                Event::Intended {
                    graph: graph.clone(),
                },
                pending,
            )?;
            let shares = |node| self.workers.of(node).shares_commit(node);
            if graph.nodes().iter().any(shares) {
                self.run_in_commit(machine, &graph, pending)?;
                continue;
            }
            if graph.has_effect() {
                self.flush(pending)?;
            }
            let ran = self.run_nodes(machine, &graph, None)?;
            self.finish(machine, ran, pending)?;
        }
    }

    /// Runs a Graph inside the commit of its outcome: what it does to the memory and the record of it are there together, or
    /// neither is.
    fn run_in_commit(
        &self,
        machine: &mut Machine<L>,
        graph: &Graph,
        pending: &mut Pending,
    ) -> Result<(), Halt> {
        let mut end = Ok(());
        let known = pending.records.len();
        self.workers.settle()?;
        let committed = self.journal.append_with(&self.task, &mut |memories| {
            end = self
                .run_nodes(machine, graph, Some(memories))
                .and_then(|ran| {
                    let undo = ran.undo;
                    self.finish(machine, ran, pending)?;
                    if undo { Err(Undone.into()) } else { Ok(()) }
                });
            match end {
                Ok(()) => Ok(pending.records.clone()),
                Err(_) => Err(Undone.into()),
            }
        });
        match (end, committed) {
            (Ok(()), Ok(())) => {
                self.appended(pending);
                Ok(())
            }
            (Ok(()), Err(error)) => {
                // The outcome is not there, nor is what it tells of; what was known before still is.
                pending.records.truncate(known);
                Err(error.into())
            }
            (Err(Halt::Failed(error)), _) if error.code() == UNDONE => Ok(self.flush(pending)?),
            (Err(halt), _) => Err(halt),
        }
    }

    fn finish(
        &self,
        machine: &mut Machine<L>,
        ran: Ran,
        pending: &mut Pending,
    ) -> Result<(), Error> {
        let calls = self.calls(machine);
        let outputs = ran.outputs;
        self.record(machine, Event::Finished { outputs, calls }, pending)
    }

    /// Sleeps on the runtime's timer, so that a cancellation ends it at once.
    fn wait_until(&self, moment: Timestamp) -> Result<(), Halt> {
        let left = moment.duration_since(self.clock.now());
        match Duration::try_from(left) {
            Ok(left) => self.cancel.sleep(left),
            Err(_) => Ok(()),
        }
    }

    /// What the calls of a Graph used that has no outcome.
    fn charge(&self, machine: &mut Machine<L>, pending: &mut Pending) -> Result<(), Error> {
        let calls = self.calls(machine);
        if calls.is_empty() {
            return Ok(());
        }
        self.record(machine, Event::Charged { calls }, pending)
    }

    /// What the calls used since the last time, told to whoever wants to know.
    fn calls(&self, machine: &Machine<L>) -> Vec<CallUse> {
        let calls = self.meter.take();
        let at = machine
            .last()
            .map_or(Timestamp::UNIX_EPOCH, |record| record.at);
        for call in &calls {
            self.tell(machine.position().sequence, at, || ProgressBody::Call {
                call: call.clone(),
            });
        }
        calls
    }

    fn run_nodes(
        &self,
        machine: &Machine<L>,
        graph: &Graph,
        memories: Option<&dyn Memories>,
    ) -> Result<Ran, Halt> {
        let intent = machine.position();
        let intended_at = machine
            .last()
            .map_or(Timestamp::UNIX_EPOCH, |record| record.at);
        let deltas = |text: &str| {
            self.tell(intent.sequence, intended_at, || ProgressBody::Delta {
                text: text.to_owned(),
            })
        };
        let tool_progress = |name: &str, message: &str| {
            self.tell(intent.sequence, intended_at, || ProgressBody::Tool {
                name: name.to_owned(),
                message: message.to_owned(),
            })
        };
        let moment = Moment {
            state: machine.state(),
            intent,
            intended_at,
            cancel: self.cancel,
            memories,
            deltas: &deltas,
            tool_progress: &tool_progress,
        };
        let mut values: Vec<Value> = Vec::with_capacity(graph.nodes().len());
        let mut outputs = Vec::with_capacity(graph.nodes().len());
        let mut undo = false;
        for node in graph.nodes() {
            let inputs: Vec<&Value> = node
                .inputs
                .iter()
                .map(|input| match input {
                    Input::Literal(value) => value,
                    Input::Output(from) => &values[*from],
                })
                .collect();
            let yielded = self.workers.of(node).run(node, &inputs, &moment)?;
            values.push(yielded.value);
            outputs.push(yielded.kept);
            undo |= yielded.undo;
        }
        Ok(Ran { outputs, undo })
    }

    /// Stamps an event, folds it and queues it for the next flush.
    fn record(
        &self,
        machine: &mut Machine<L>,
        event: Event,
        pending: &mut Pending,
    ) -> Result<(), Error> {
        let at = self.now(machine)?;
        let kind = event.kind();
        pending.calls.extend_from_slice(event.calls());
        let (record, stored) = Record::following(machine.position(), at, event);
        machine.apply(record)?;
        pending.records.push(stored);
        self.tell(machine.position().sequence, at, || ProgressBody::Record {
            kind,
            view: Box::new(machine.view()),
        });
        Ok(())
    }

    /// Never earlier than the last record: a clock that was set back does not give time away, one that stands before the task's
    /// beginning is an error.
    fn now(&self, machine: &Machine<L>) -> Result<Timestamp, DriverError> {
        let now = self.clock.now();
        match (machine.started_at(), machine.last()) {
            (Some(started), _) if now < started => {
                Err(DriverError::ClockBeforeStart { now, started })
            }
            (_, Some(last)) => Ok(now.max(last.at)),
            (_, None) => Ok(now),
        }
    }

    fn flush(&self, pending: &mut Pending) -> Result<(), Error> {
        if pending.records.is_empty() {
            return Ok(());
        }
        self.workers.settle()?;
        self.journal.append(&self.task, &pending.records)?;
        self.appended(pending);
        Ok(())
    }

    fn appended(&self, pending: &mut Pending) {
        self.meter.recorded(&pending.calls);
        *pending = Pending::default();
    }

    fn tell(&self, sequence: u64, at: Timestamp, body: impl FnOnce() -> ProgressBody) {
        if let Some(sink) = &self.progress {
            sink(Progress {
                task: self.task.clone(),
                run: self.run,
                sequence,
                at,
                body: body(),
            });
        }
    }
}
