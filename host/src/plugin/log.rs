//! What a plugin says outside its answers: log lines, standard output and error.
//!
//! Owns the log budget of one call and the text of a panic. Passes lines on as `tracing` events that name plugin and
//! function, scrubbed of credentials, control characters escaped. Never keeps them. Used by the imports (`linker.rs`, `inert.rs`) and by `call.rs`.

use std::sync::Arc;

use super::limits::PluginLimits;
use crate::words::{escape::escaped, scrub::scrubbed};

/// Bytes kept of a panic's text, and of a line of standard output or error.
const TEXT: usize = 2 * 1024;

/// The level of a message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

/// Which standard stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Output,
    Error,
}

/// The log of one call.
#[derive(Debug)]
pub(super) struct GuestLog {
    plugin: Arc<str>,
    function: &'static str,
    lines_left: u32,
    bytes_left: usize,
    dropped: u64,
    output: Vec<u8>,
    error: Vec<u8>,
    panic: Vec<u8>,
}

impl GuestLog {
    pub(super) fn new(plugin: Arc<str>, function: &'static str, limits: &PluginLimits) -> Self {
        Self {
            plugin,
            function,
            lines_left: limits.log_lines.get(),
            bytes_left: limits.log_bytes.get(),
            dropped: 0,
            output: Vec::new(),
            error: Vec::new(),
            panic: Vec::new(),
        }
    }

    /// One message. False: the budget does not allow it.
    #[must_use]
    pub(super) fn message(&mut self, level: Level, text: &str) -> bool {
        let allowed = self.lines_left > 0 && text.len() <= self.bytes_left;
        if allowed {
            self.lines_left -= 1;
            self.bytes_left -= text.len();
            self.emit(level, text);
        }
        allowed
    }

    /// Bytes to a standard stream: passed on line by line, dropped beyond the budget.
    pub(super) fn written(&mut self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Error {
            self.remember(bytes);
        }
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let line = self.line_of(stream);
            let room = TEXT.saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.finish_line(stream);
            }
        }
    }

    /// Passes on what is left, and says how much was dropped.
    pub(super) fn finish(&mut self) {
        self.finish_line(Stream::Output);
        self.finish_line(Stream::Error);
        if self.dropped > 0 {
            let text = format!("{} lines of output were dropped", self.dropped);
            self.dropped = 0;
            self.emit(Level::Warn, &text);
        }
    }

    /// What standard error got from the last panic on, or from the start; escaped.
    pub(super) fn panic_text(&self) -> String {
        escaped(&scrubbed(String::from_utf8_lossy(&self.panic).trim_end()))
    }

    /// Keeps the first bytes, and from a panic on the first bytes of that.
    fn remember(&mut self, bytes: &[u8]) {
        // The runtime of Rust begins a panic with a line that holds these words, written at once.
        const PANIC: &[u8] = b"panicked at";
        let mut kept = bytes;
        if let Some(at) = bytes.windows(PANIC.len()).position(|part| part == PANIC) {
            let line = bytes[..at].iter().rposition(|&byte| byte == b'\n');
            kept = &bytes[line.map_or(0, |end| end + 1)..];
            self.panic.clear();
        }
        let room = TEXT.saturating_sub(self.panic.len());
        self.panic.extend_from_slice(&kept[..kept.len().min(room)]);
    }

    const fn line_of(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        }
    }

    fn finish_line(&mut self, stream: Stream) {
        let line = std::mem::take(self.line_of(stream));
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        let level = match stream {
            Stream::Output => Level::Info,
            Stream::Error => Level::Warn,
        };
        if !text.is_empty() && !self.message(level, text) {
            self.dropped += 1;
        }
    }

    fn emit(&self, level: Level, text: &str) {
        let (plugin, function) = (&*self.plugin, self.function);
        let text = escaped(&scrubbed(text));
        match level {
            Level::Debug => tracing::debug!(plugin, function, "{text}"),
            Level::Info => tracing::info!(plugin, function, "{text}"),
            Level::Warn => tracing::warn!(plugin, function, "{text}"),
            Level::Error => tracing::error!(plugin, function, "{text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(lines: u32, bytes: usize) -> GuestLog {
        let limits = PluginLimits {
            log_lines: lines.try_into().unwrap(),
            log_bytes: bytes.try_into().unwrap(),
            ..PluginLimits::standard()
        };
        GuestLog::new("p".into(), "describe", &limits)
    }

    #[test]
    fn a_log_ends_at_its_lines_and_at_its_bytes() {
        let mut few = log(2, 100);
        assert!(few.message(Level::Info, "a") && few.message(Level::Info, "b"));
        assert!(!few.message(Level::Info, "c"));
        let mut short = log(100, 3);
        assert!(short.message(Level::Info, "ab") && !short.message(Level::Info, "cd"));
    }

    #[test]
    fn output_beyond_the_budget_is_dropped_and_counted() {
        let mut log = log(1, 100);
        log.written(Stream::Output, b"one\ntwo\nthr");
        log.finish_line(Stream::Output);
        assert_eq!(log.dropped, 2);
    }

    #[test]
    fn a_panic_is_found_behind_a_flood_and_shown_escaped() {
        let mut log = log(1, 1);
        log.written(Stream::Error, &b"noise\n".repeat(10_000));
        log.written(
            Stream::Error,
            b"\nthread '<unnamed>' panicked at src/lib.rs:1:1:\nno \x1b[31mluck\n",
        );
        assert_eq!(
            log.panic_text(),
            r"thread '<unnamed>' panicked at src/lib.rs:1:1:\nno \u{1b}[31mluck"
        );
        log.written(Stream::Error, &[b'x'; 100_000]);
        assert!(log.panic.len() <= TEXT);
    }
}
