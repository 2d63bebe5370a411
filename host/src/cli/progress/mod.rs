//! Tells on standard error what a run does: in place on a terminal, line by line elsewhere.

mod frame;
mod lines;
mod live;
mod scene;

use std::sync::Arc;

use wharf::{TaskId, core::progress::ProgressSink, words::clock::Clock};

use self::{lines::Lines, live::Live};
use super::{Session, logging};

/// The display of one run.
#[derive(Clone)]
pub(super) enum Display {
    /// Redrawn in place.
    Live(Arc<Live>),
    /// A line for each change.
    Lines(Arc<Lines>),
}

impl Display {
    /// Begins to show a run.
    pub(super) fn start(session: &Session, task: &TaskId, clock: Arc<dyn Clock>) -> Self {
        match Live::start(session, task, clock) {
            Some(live) => {
                logging::draw_around(live.bar());
                Self::Live(Arc::new(live))
            }
            None => Self::Lines(Arc::default()),
        }
    }

    /// Where the run sends what happens.
    pub(super) fn sink(&self) -> ProgressSink {
        match self.clone() {
            Self::Live(live) => Arc::new(move |progress| live.show(&progress)),
            Self::Lines(lines) => Arc::new(move |progress| lines.show(&progress)),
        }
    }

    /// The run was asked to stop.
    pub(super) fn cancelling(&self) {
        match self {
            Self::Live(live) => live.cancelling(),
            Self::Lines(lines) => lines.cancelling(),
        }
    }

    /// The run has ended: nothing moves any more.
    pub(super) fn finish(&self) {
        if let Self::Live(live) = self {
            live.finish();
        }
    }
}
