//! Log lines of the library and of plugins, on standard error.

use std::io;

use tracing_subscriber::{
    EnvFilter,
    filter::LevelFilter,
    fmt::{self, MakeWriter},
};

use super::{error::CliError, look::Look, stderr};

/// Begins to log what the filter lets pass; without a filter, warnings and errors.
pub(super) fn start(filter: Option<&str>, look: Look) -> Result<(), CliError> {
    let log = fmt::fmt()
        .with_writer(Writer)
        .with_ansi(look.colour())
        .with_target(filter.is_some());
    match filter {
        // Cheaper to start than a filter that says the same.
        None => log.with_max_level(LevelFilter::WARN).init(),
        Some(filter) => {
            let filter =
                EnvFilter::try_new(filter).map_err(|source| CliError::LogFilter { source })?;
            log.with_env_filter(filter).init();
        }
    }
    Ok(())
}

struct Writer;

impl<'a> MakeWriter<'a> for Writer {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Self
    }
}

impl io::Write for Writer {
    /// One event, whole.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        stderr::write(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
