//! The Context worker: loads the working set, and rebuilds one that is missing or outdated. Any other failure propagates.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{
    cancel::{Cancel, Halt},
    graph::Node,
    machine::Loop,
    ports::context::{Context, ContextValue},
    worker::{Moment, Worker, Yield},
};

/// How long a working set lives untouched; far longer than a deadline would matter, short enough not to pile up.
const TIME_TO_LIVE: Duration = Duration::from_secs(2 * 3600);

/// The same for every Loop.
pub(super) struct ContextWorker {
    pub(super) context: Arc<dyn Context>,
}

impl ContextWorker {
    /// The working set of this state, and whether it had to be rebuilt.
    fn load<L: Loop>(&self, state: &L, cancel: &Cancel) -> Result<(String, bool), Halt> {
        let scope = state.scope();
        let head = state.material();
        let found = cancel.wait(self.context.load(&scope))?;
        let outdated = match found {
            Some(value) if value.head == head => return Ok((value.body, false)),
            Some(value) => Some(value.head),
            None => None,
        };
        let body = state.working_set().to_string();
        // Losing the comparison means that another process stored a value; ours is as true as theirs, and it is at hand.
        cancel.wait(self.context.store(
            &scope,
            outdated,
            ContextValue {
                head,
                body: body.clone(),
            },
            TIME_TO_LIVE,
        ))?;
        Ok((body, true))
    }
}

impl<L: Loop> Worker<L> for ContextWorker {
    /// A store that takes no values would fail the node after its model call was reserved, in each run anew, until none was
    /// left. So the working set is there before.
    fn check(&self, _node: &Node, state: &L, cancel: &Cancel) -> Result<(), Halt> {
        self.load(state, cancel).map(drop)
    }

    fn run(&self, _node: &Node, _inputs: &[&Value], at: &Moment<'_, L>) -> Result<Yield, Halt> {
        let (body, rebuilt) = self.load(at.state, at.cancel)?;
        Ok(Yield::transient(
            Value::String(body),
            json!({"rebuilt": rebuilt}),
        ))
    }
}
