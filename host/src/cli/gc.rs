//! `wharf gc`: removes finished tasks that are old enough.

use std::path::PathBuf;

use clap::Args;
use jiff::{SignedDuration, Span, SpanRelativeTo};
use wharf::{
    Error,
    host::{self, GcReport},
    words::clock::{Clock as _, SystemClock},
};

use super::{
    Session,
    answer::{Answer, Reply},
    args::directory,
    escape::escaped,
    exit::Exit,
    look::Look,
};

/// As typed.
#[derive(Debug, Args)]
pub(super) struct GcArgs {
    /// The workspace.
    #[arg(long, value_name = "DIR", value_parser = directory())]
    dir: PathBuf,
    /// How long ago a task must have ended: `30d`, `12h`, `1w 2d`, `PT90M`, or `0s` for all that are finished. A day has 24 hours.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    older_than: SignedDuration,
}

fn duration(text: &str) -> Result<SignedDuration, String> {
    let span: Span = text
        .parse()
        .map_err(|error: jiff::Error| format!("{error}; write for instance 30d, 12h or PT90M"))?;
    let duration = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_| "write it in weeks, days, hours, minutes and seconds".to_owned())?;
    if duration.is_negative() {
        return Err("a task ends before now: write a duration that is not negative".to_owned());
    }
    Ok(duration)
}

/// Removes them.
pub(super) fn run(session: &Session, arguments: &GcArgs) -> Result<Reply, Error> {
    let now = SystemClock.now();
    // Longer ago than there are moments: nothing is that old.
    let before = now
        .checked_sub(arguments.older_than)
        .unwrap_or(jiff::Timestamp::MIN);
    Reply::answer(&host::gc(&arguments.dir, before, now)?, session)
}

impl Answer for GcReport {
    fn text(&self, look: Look) -> String {
        let mut text = String::new();
        for task in &self.removed {
            text += &format!(
                "removed {}  {}  {}\n",
                look.strong(task.task.as_str()),
                look.status(&task.status),
                look.faint(&format!("finished {}", task.finished_at))
            );
        }
        for task in &self.damaged {
            text += &format!(
                "{} {}: {}; `wharf audit` shows more\n",
                look.bad("damaged"),
                task.task,
                escaped(&task.code)
            );
        }
        let kept = self.kept;
        text + &format!(
            "{} removed; kept: {} too young, {} unfinished, {} in use, {} damaged\n",
            self.removed.len(),
            kept.recent,
            kept.unfinished,
            kept.owned,
            self.damaged.len()
        )
    }

    fn exit(&self) -> Exit {
        if self.damaged.is_empty() {
            Exit::Success
        } else {
            Exit::Failed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_written_as_people_do() {
        let hours = |text| duration(text).unwrap().as_hours();
        assert_eq!(
            ["30d", "12h", "1w 2d", "PT90M", "0s", "P1D"].map(hours),
            [720, 12, 216, 1, 0, 24]
        );
        for wrong in ["", "30", "1 month", "-1d", "1y", "soon"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
