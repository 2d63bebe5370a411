//! Standard error, shared by notices, log lines and the live display.
//!
//! Where a display is being redrawn, everything else is written above it. Nothing here fails: if standard error is gone,
//! nobody reads what is written there, and the exit code still tells.

use std::{
    io::{self, Write as _},
    sync::{Arc, Mutex, PoisonError},
};

use super::progress::Live;

static DISPLAY: Mutex<Option<Arc<Live>>> = Mutex::new(None);

/// Writes a text that ends with a newline.
pub(super) fn write(text: &str) {
    let display = DISPLAY
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    match display {
        Some(display) => display.write_above(text),
        None => write_directly(text),
    }
}

/// Writes past a display: for the display itself, and for a panic, which may have come from it.
pub(super) fn write_directly(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}

/// From now on everything stands above this display; or nothing does any more.
pub(super) fn set_display(display: Option<Arc<Live>>) {
    *DISPLAY.lock().unwrap_or_else(PoisonError::into_inner) = display;
}
