//! Log lines of the library and of plugins, on standard error, above the live display where there is one.

use std::{
    io::{self, Write},
    sync::{Mutex, PoisonError},
};

use indicatif::ProgressBar;
use tracing_subscriber::{EnvFilter, filter::LevelFilter, fmt::MakeWriter};

use super::{error::CliError, look::Look};

static DISPLAY: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Begins to log what the filter lets pass; without a filter, warnings and errors.
pub(super) fn start(filter: Option<&str>, look: Look) -> Result<(), CliError> {
    let log = tracing_subscriber::fmt()
        .with_writer(Stderr)
        .with_ansi(look.colour())
        .with_target(false);
    match filter {
        // Cheaper to start than a filter that says the same.
        None => log.with_max_level(LevelFilter::WARN).init(),
        Some(filter) => {
            let filter =
                EnvFilter::try_new(filter).map_err(|source| CliError::LogFilter { source })?;
            log.with_target(true).with_env_filter(filter).init();
        }
    }
    Ok(())
}

/// From now on, log lines stand above this display.
pub(super) fn draw_around(display: ProgressBar) {
    *DISPLAY.lock().unwrap_or_else(PoisonError::into_inner) = Some(display);
}

struct Stderr;

impl<'a> MakeWriter<'a> for Stderr {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Self
    }
}

impl Write for Stderr {
    // Each event is one call.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let display = DISPLAY
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        match display.filter(|display| !display.is_finished()) {
            Some(display) => display.suspend(|| io::stderr().write_all(bytes)),
            None => io::stderr().write_all(bytes),
        }
        .map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
