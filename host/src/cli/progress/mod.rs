//! Tells on standard error what a run does: in place on a terminal, line by line elsewhere.

mod block;
mod frame;
mod lines;
mod live;
mod scene;

use std::sync::Arc;

use wharf::{TaskId, core::progress::ProgressSink, words::clock::Clock};

use self::lines::Lines;
pub(super) use self::live::Live;
use super::{Session, stderr};

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
                stderr::set_display(Some(Arc::clone(&live)));
                Self::Live(live)
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

    /// The run has ended: the last frame stays, and nothing moves any more.
    pub(super) fn finish(&self) {
        if let Self::Live(live) = self {
            stderr::set_display(None);
            live.finish();
        }
    }

    /// The run has ended, and what follows on the same terminal says all that the display says.
    pub(super) fn give_way(&self) {
        if let Self::Live(live) = self {
            stderr::set_display(None);
            live.give_way();
        }
    }
}
