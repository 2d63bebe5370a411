//! What all tasks came to.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::comparison::Found;

/// The sums of what was found.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    tasks: usize,
    states_equal: usize,
    writes: usize,
    changes: usize,
    reads: usize,
    declined: usize,
    #[serde(rename = "medianMs", serialize_with = "median_of")]
    millis: Vec<f64>,
    #[serde(skip)]
    pub(crate) kills: usize,
    #[serde(skip)]
    pub(crate) faults: usize,
}

impl Summary {
    /// One task, which took so long from its admission to its report.
    pub(crate) fn add(&mut self, found: &Found, millis: f64) {
        self.tasks += 1;
        self.states_equal += usize::from(found.state_equal);
        self.writes += found.writes;
        self.changes += found.changes;
        self.reads += found.reads;
        self.declined += found.declined;
        self.millis.push(millis);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tasks,
            states_equal,
            writes,
            changes,
            reads,
            declined,
            millis,
            kills,
            faults,
        } = self;
        let sorted = sorted(millis);
        let (least, most) = (
            sorted.first().unwrap_or(&0.0),
            sorted.last().unwrap_or(&0.0),
        );
        writeln!(f, "tasks         {tasks:>5}")?;
        writeln!(f, "states equal  {states_equal:>5}")?;
        writeln!(
            f,
            "writes        {writes:>5}   {changes} of them changed data"
        )?;
        writeln!(f, "reads         {reads:>5}")?;
        writeln!(f, "declined      {declined:>5}")?;
        writeln!(f, "kills         {kills:>5}")?;
        writeln!(f, "faults        {faults:>5}")?;
        writeln!(
            f,
            "median        {:>5.1} ms a task after admission, {least:.1} to {most:.1}",
            median(millis)
        )
    }
}

fn median_of<S: Serializer>(millis: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((median(millis) * 100.0).round() / 100.0)
}

fn median(millis: &[f64]) -> f64 {
    let sorted = sorted(millis);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

fn sorted(millis: &[f64]) -> Vec<f64> {
    let mut sorted = millis.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}
