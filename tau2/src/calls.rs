//! Counts the plugin's calls, over all processes that ran a task: a line in a file for each.
//!
//! The line is the kernel's before the call begins, so a kill loses none.

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::Path,
    sync::Arc,
};

use anyhow::{Context as _, Result};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::layer::{Context, Layer};

use crate::kill::Hold;

/// Listens to the host.
pub(crate) struct Calls {
    file: File,
    hold: Arc<Hold>,
}

impl Calls {
    pub(crate) fn new(file: &Path, hold: Arc<Hold>) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(file)?;
        Ok(Self { file, hold })
    }

    /// The steps that were called, each as often as it was.
    pub(crate) fn read(file: &Path) -> Result<Vec<String>> {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}

impl<S: Subscriber> Layer<S> for Calls {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        metadata.target() == "wharf::plugin::domain"
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut step = Step::default();
        event.record(&mut step);
        if let Some(step) = step.0 {
            self.hold.performing(&step);
            writeln!(&self.file, "{step}").expect("the file of calls can be written");
        }
    }
}

/// The step that an event names.
#[derive(Default)]
struct Step(Option<String>);

impl Visit for Step {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "step" {
            self.0 = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}
