//! Ctrl-C and SIGTERM: the first one cancels, the second one leaves at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use wharf::Cancellation;

use super::exit::Exit;

/// Watches from now on, in the current runtime. `noticed` is called once the first signal has cancelled the run.
pub(super) fn watch(
    cancellation: Cancellation,
    noticed: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        either(&mut interrupt, &mut terminate).await;
        cancellation.cancel();
        noticed();
        either(&mut interrupt, &mut terminate).await;
        leave();
    });
    Ok(())
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => (),
        _ = other.recv() => (),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "asked for twice; what is durable survives a kill, so it survives this"
)]
fn leave() {
    std::process::exit(Exit::Cancelled.code().into());
}
