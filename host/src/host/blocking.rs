//! Synchronous work on a thread that may block.

use super::builder::HostError;
use crate::words::error::Error;

/// Runs it to its end. A panic goes on in the caller.
pub(super) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(HostError::RuntimeEnded.into()),
        },
    }
}
