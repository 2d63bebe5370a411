//! A panic is a broken promise inside Wharf: it is explained like any other error.

use std::{
    any::Any,
    backtrace::{Backtrace, BacktraceStatus},
    panic,
};

use wharf::{
    Error, Kind,
    words::error::{Facts, Fault},
};

use super::{error, look::Look, stderr};

/// Explains panics from now on, in three lines; with `RUST_BACKTRACE=1`, with the way there.
pub(super) fn explain(look: Look) {
    panic::set_hook(Box::new(move |info| {
        let place = info
            .location()
            .map_or_else(String::new, ToString::to_string);
        let message = message(info.payload()).to_owned();
        let mut text = error::render(&Error::from(Panic { message, place }), look);
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            text += &format!("{trace}\n");
        }
        // The display itself may have panicked.
        stderr::write_directly(&text);
    }));
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    owned
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("it gave no message")
}

#[derive(Debug, thiserror::Error)]
#[error("a promise inside Wharf was broken")]
struct Panic {
    message: String,
    place: String,
}

impl Fault for Panic {
    fn facts(&self) -> Facts {
        Facts::new(
            "bug",
            Kind::Bug,
            "report this; what is durable stays, and `wharf resume` goes on with a task",
        )
    }

    fn why(&self) -> Option<String> {
        Some(format!("{} (at {})", self.message, self.place))
    }
}
