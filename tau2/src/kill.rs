//! Where a run is killed: on either side of the commit of one step.
//!
//! The child says that it is there, and waits; the parent kills it. So the process ends at a known place, with nothing
//! unwound and nothing flushed.

use std::{
    io::Write as _,
    sync::{Mutex, PoisonError},
    thread,
};

use serde::{Deserialize, Serialize};
use wharf::core::view::{StepState, StepView};

/// What a child prints when it waits.
pub(crate) const THERE: &str = "there";

/// A place in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kill {
    /// The step's id.
    pub(crate) step: String,
    pub(crate) at: Boundary,
}

/// A side of the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Boundary {
    /// The journal says durably that the step is intended; nothing of it is done.
    Intended,
    /// The effect and its ledger row are committed; the journal does not know.
    Committed,
}

/// Waits where a run is to be killed.
#[derive(Debug)]
pub(crate) struct Hold {
    kill: Option<Kill>,
    running: Mutex<Option<String>>,
}

impl Hold {
    pub(crate) const fn new(kill: Option<Kill>) -> Self {
        Self {
            kill,
            running: Mutex::new(None),
        }
    }

    /// A step's plugin call is about to be made.
    pub(crate) fn performing(&self, step: &str) {
        self.here(step, Boundary::Intended);
    }

    /// A record was made, and is not in the journal yet. When no step runs any more, the outcome of the last one is known.
    pub(crate) fn recorded(&self, steps: &[StepView]) {
        let running = steps
            .iter()
            .find(|step| step.state == StepState::Running)
            .map(|step| step.id.clone());
        let before = {
            let mut known = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *known, running.clone())
        };
        if let Some(ended) = before.filter(|_| running.is_none()) {
            self.here(&ended, Boundary::Committed);
        }
    }

    fn here(&self, step: &str, at: Boundary) {
        let wanted = |kill: &Kill| kill.step == step && kill.at == at;
        if self.kill.as_ref().is_some_and(wanted) {
            println!("{THERE}");
            let _ = std::io::stdout().flush();
            loop {
                thread::park();
            }
        }
    }
}
