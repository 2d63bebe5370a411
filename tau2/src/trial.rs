//! One task in a workspace of its own.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tempfile::TempDir;
use wharf::Digest;

use crate::{
    benchmark::Exercise,
    child::{Ended, Job},
    comparison,
    kill::{Kill, THERE},
    killing,
    options::Options,
    summary::Summary,
};

/// What all tasks have in common.
pub(crate) struct Bench {
    component: PathBuf,
    digest: Digest,
    compile_cache: PathBuf,
    scratch: TempDir,
}

impl Bench {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let component = options.plugins.join("retail.wasm");
        let bytes = fs::read(&component)
            .with_context(|| format!("there is no component {}", component.display()))?;
        fs::create_dir_all(&options.scratch)?;
        let scratch = tempfile::tempdir_in(fs::canonicalize(&options.scratch)?)?;
        Ok(Self {
            digest: Digest::of(&bytes),
            component,
            compile_cache: scratch.path().join("compiled"),
            scratch,
        })
    }

    /// Runs a task to its end, and then, if asked, once more with kills; what is found is added up.
    pub(crate) fn run(
        &self,
        exercise: &Exercise<'_>,
        kill: bool,
        summary: &mut Summary,
    ) -> Result<Vec<String>> {
        let trial = Trial::new(self, exercise, "whole")?;
        let millis = trial.run()?;
        let mut found = comparison::compare(&trial, exercise)?;
        if kill {
            let trial = Trial::new(self, exercise, "killed")?;
            let killed = killing::run(&trial, exercise, &found.report)?;
            summary.kills += killed.kills;
            found.faults.extend(killed.faults);
        }
        summary.add(&found, millis);
        Ok(found.faults)
    }
}

/// One task in its folder, which is removed in the end.
pub(crate) struct Trial {
    folder: TempDir,
    job: Job,
    task: String,
}

impl Trial {
    pub(crate) fn new(bench: &Bench, exercise: &Exercise<'_>, name: &str) -> Result<Self> {
        let task = format!("tau2-{}", exercise.scenario.id);
        let folder = tempfile::Builder::new()
            .prefix(&format!("{task}-{name}-"))
            .tempdir_in(bench.scratch.path())?;
        let write = |name: &str, text: &str| -> Result<PathBuf> {
            let path = folder.path().join(name);
            fs::write(&path, text)?;
            Ok(path)
        };
        let request = json!({
            "id": task,
            "tenant": "tau2",
            "principal": "agent",
            "goal": format!("The calls of task {}.", exercise.scenario.id),
            "plugin": {"name": "retail", "version": "0.1.0", "digest": bench.digest},
            "budgets": {"maxPlans": 1, "maxActions": 30, "deadlineSeconds": 3600},
            "input": exercise.scenario.input(exercise.shop),
        });
        let answer = json!({
            "text": exercise.scenario.plan().to_string(),
            "finishReason": "stop",
        });
        let job = Job {
            component: bench.component.clone(),
            compile_cache: bench.compile_cache.clone(),
            workspace: folder.path().join("workspace"),
            request: request.to_string(),
            seed: write("seed.sql", exercise.seed)?,
            script: write("script.jsonl", &format!("{answer}\n"))?,
            calls: write("calls", "")?,
            kill: None,
        };
        Ok(Self { folder, job, task })
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.job.workspace
    }

    pub(crate) fn report(&self) -> PathBuf {
        let task = self.workspace().join("tasks").join(&self.task);
        task.join("output").join("report.json")
    }

    pub(crate) fn compile_cache(&self) -> &Path {
        &self.job.compile_cache
    }

    /// The file with the calls of the plugin.
    pub(crate) fn calls(&self) -> &Path {
        &self.job.calls
    }

    /// To the end; yields the milliseconds it took.
    pub(crate) fn run(&self) -> Result<f64> {
        let output = self.child(None)?.output()?;
        ensure!(
            output.status.success(),
            "the run failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let ended: Ended = serde_json::from_slice(&output.stdout)?;
        Ok(ended.millis)
    }

    /// Up to a place, and killed there.
    pub(crate) fn kill(&self, kill: &Kill) -> Result<()> {
        let mut child = self
            .child(Some(kill.clone()))?
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().context("a pipe")?;
        let first = BufReader::new(stdout).lines().next().transpose()?;
        let there = first.as_deref() == Some(THERE);
        child.kill()?;
        child.wait()?;
        ensure!(there, "the run did not come to {kill:?}, but to {first:?}");
        Ok(())
    }

    fn child(&self, kill: Option<Kill>) -> Result<Command> {
        let file = self.folder.path().join("job.json");
        let job = Job {
            kill,
            ..self.job.clone()
        };
        fs::write(&file, serde_json::to_vec(&job)?)?;
        let mut child = Command::new(std::env::current_exe()?);
        child.args(Job::words(&file)).stdin(Stdio::null());
        Ok(child)
    }
}
