//! The benchmark's files, read and matched with each other.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, ensure};
use retail_data::{Call, Gold, GoldStep, GoldTask, Scenario, Shop};

pub(crate) const HOW_TO_OBTAIN: &str = "\
The data is MIT-licensed and not part of this project. To obtain it:

  git clone https://github.com/sierra-research/tau2-bench
  git -C tau2-bench checkout a2c024725189473d2d7cea3a5cfdbcc67478e41f

db.json and tasks.json are in its folder data/tau2/domains/retail. gold.json holds what the benchmark's
own tools answer and leave behind, task by task; plugins/retail/README.md has its form.";

/// All there is.
pub(crate) struct Benchmark {
    shop: Shop,
    seed: String,
    scenarios: Vec<Scenario>,
    gold: Gold,
}

/// One task, and what it must lead to.
pub(crate) struct Exercise<'b> {
    pub(crate) scenario: &'b Scenario,
    pub(crate) gold: &'b GoldTask,
    pub(crate) shop: &'b Shop,
    pub(crate) seed: &'b str,
}

impl Benchmark {
    /// Reads a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path)
                .with_context(|| format!("{} cannot be read\n\n{HOW_TO_OBTAIN}", path.display()))
        };
        let shop = Shop::parse(&read("db.json")?).context("db.json")?;
        let scenarios = Scenario::parse_all(&read("tasks.json")?).context("tasks.json")?;
        let gold = Gold::parse(&read("gold.json")?).context("gold.json")?;
        let pairs = scenarios.iter().zip(&gold.tasks);
        ensure!(
            scenarios.len() == gold.tasks.len()
                && pairs.clone().all(|(scenario, gold)| scenario.id == gold.id
                    && scenario.calls.len() == gold.steps.len()),
            "tasks.json and gold.json are not of one version"
        );
        Ok(Self {
            seed: shop.seed()?,
            shop,
            scenarios,
            gold,
        })
    }

    pub(crate) fn exercises(&self) -> impl Iterator<Item = Exercise<'_>> {
        let pairs = self.scenarios.iter().zip(&self.gold.tasks);
        pairs.map(|(scenario, gold)| Exercise {
            scenario,
            gold,
            shop: &self.shop,
            seed: &self.seed,
        })
    }
}

impl Exercise<'_> {
    /// The steps that carry a change out: their ids, in order.
    pub(crate) fn writes(&self) -> impl Iterator<Item = String> {
        let calls = (1..).zip(self.calls());
        let writes = calls.filter(|(_, (call, gold))| call.writes() && gold.ok);
        writes.map(|(number, _)| format!("s{number}"))
    }

    /// The tools of these steps, and whether other data is left behind.
    pub(crate) fn written(&self) -> Vec<(String, bool)> {
        let writes = self.calls().filter(|(call, gold)| call.writes() && gold.ok);
        writes
            .map(|(call, gold)| (call.name.clone(), gold.changed))
            .collect()
    }

    fn calls(&self) -> impl Iterator<Item = (&Call, &GoldStep)> {
        self.scenario.calls.iter().zip(&self.gold.steps)
    }
}
