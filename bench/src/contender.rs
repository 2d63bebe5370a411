//! Who runs the orders, and what each of them is told.

use std::path::PathBuf;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::scenario::Scenario;

/// Who runs the orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Name {
    /// Wharf with the plugin.
    Host,
    /// Wharf whose operator does not have outputs synced.
    HostOutputsUnsynced,
    /// Plain SQLite: the same statements and the same durable commits, each synced alone.
    Floor,
    /// The same, but threads that commit at once share a sync.
    FloorSharedCommits,
    /// The first floor, and the same files with the same syncs.
    FloorAndFiles,
}

impl Name {
    pub(crate) const ALL: [Self; 5] = [
        Self::Host,
        Self::HostOutputsUnsynced,
        Self::Floor,
        Self::FloorSharedCommits,
        Self::FloorAndFiles,
    ];

    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::HostOutputsUnsynced => "host, outputs unsynced",
            Self::Floor => "F1: floor",
            Self::FloorSharedCommits => "F2: floor, shared commits",
            Self::FloorAndFiles => "floor + files",
        }
    }

    const fn folder(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::HostOutputsUnsynced => "host-outputs-unsynced",
            Self::Floor => "floor",
            Self::FloorSharedCommits => "floor-shared-commits",
            Self::FloorAndFiles => "floor-and-files",
        }
    }
}

/// What all contenders of one measurement have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) scenario: Scenario,
    /// How many orders run at once.
    pub(crate) lanes: u32,
    pub(crate) component: PathBuf,
    /// Holds everything that any measurement writes.
    pub(crate) folder: PathBuf,
}

impl Setup {
    /// Compiled plugins, for all scenarios.
    pub(crate) fn compile_cache(&self) -> PathBuf {
        self.folder.join("compiled")
    }

    /// Holds what is the same for any number of lanes.
    pub(crate) fn scenario_folder(&self) -> PathBuf {
        self.folder.join(self.scenario.name())
    }

    pub(crate) fn script(&self) -> PathBuf {
        self.scenario_folder().join("script.jsonl")
    }

    pub(crate) fn recording(&self) -> PathBuf {
        self.scenario_folder().join("recording.json")
    }

    pub(crate) fn workspace(&self, name: Name) -> PathBuf {
        let lanes = format!("at-{}", self.lanes);
        self.scenario_folder().join(lanes).join(name.folder())
    }
}

/// Runs orders in a workspace that is closed when it is dropped.
pub(crate) trait Contender {
    /// An order that was made ready.
    type Order;
    /// What is left of it, to be looked at.
    type Done;

    /// Makes an order ready; not measured. Number 0 is the first of a new workspace.
    fn prepare(&self, number: u32) -> Result<Self::Order>;

    /// Runs all of them to their end, over that many lanes at once; measured.
    fn run(&self, orders: Vec<Self::Order>, lanes: u32) -> Result<Vec<Timed<Self::Done>>>;

    /// Whether an order went the way of its scenario; not measured.
    fn check(&self, done: &Self::Done) -> Result<()>;
}

/// One order, from when a lane took it to its end.
#[derive(Debug)]
pub(crate) struct Timed<D> {
    pub(crate) micros: f64,
    pub(crate) done: D,
}
