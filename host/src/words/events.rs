//! What a piece of a test has told the operator.

use std::{
    io,
    sync::{Arc, Mutex},
};

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The result, and the events of this thread meanwhile, a line each.
pub(crate) fn events<R>(run: impl FnOnce() -> R) -> (R, Vec<String>) {
    let kept = Kept::default();
    let writer = kept.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    // With one dispatcher alone, tracing asks the thread that comes to an event first, which may be another test's and
    // have none, whether anybody wants it.
    let _second = tracing::Dispatch::new(tracing_subscriber::fmt().finish());
    let result = tracing::subscriber::with_default(subscriber, run);
    let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    (result, text.lines().map(str::to_owned).collect())
}
