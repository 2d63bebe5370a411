//! Cancellation, and waiting that it interrupts.

use std::{future::Future, time::Duration};

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::words::error::Error;

/// Asks a run to stop. Clones ask for the same. After a run has acknowledged it, nothing more has an effect and the task
/// can be resumed.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(CancellationToken);

impl Cancellation {
    /// One that has not been asked for.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for it.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it was asked for.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Why a run stopped in the middle of a Graph.
#[derive(Debug)]
pub enum Halt {
    /// It was asked to.
    Cancelled,
    /// It failed.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Waits for futures on a blocking thread, until cancelled.
#[derive(Debug)]
pub struct Cancel {
    cancellation: Cancellation,
    runtime: Handle,
}

impl Cancel {
    /// Waits with the runtime's timers and sockets.
    #[must_use]
    pub const fn new(cancellation: Cancellation, runtime: Handle) -> Self {
        Self {
            cancellation,
            runtime,
        }
    }

    /// Whether the run was asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Sleeps.
    ///
    /// # Errors
    /// The cancellation, at once.
    pub fn sleep(&self, duration: Duration) -> Result<(), Halt> {
        self.wait(async {
            tokio::time::sleep(duration).await;
            Ok(())
        })
    }

    /// Waits for a future; dropping it where the run is cancelled first.
    ///
    /// # Errors
    /// The future's own, or the cancellation.
    pub fn wait<T>(&self, future: impl Future<Output = Result<T, Error>>) -> Result<T, Halt> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.cancellation.0.cancelled() => Err(Halt::Cancelled),
                result = future => Ok(result?),
            }
        })
    }
}
