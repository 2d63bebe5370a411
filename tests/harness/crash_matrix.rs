//! The check that any task of any plugin must pass: stopped anywhere, it goes on as if nothing had happened.
//!
//! A clean run is recorded, change by change. Then the task is run once for each moment between two changes that a
//! resumed run could tell apart, killed there, resumed, and compared with the clean run: the same report, each effect once,
//! counters higher by at most one reserved call, no call of the plugin for what stood in the ledger already, a clean audit.

use std::{collections::BTreeMap, path::PathBuf, process::Command};

use serde_json::Value;

use super::{
    Ran, Wharf, Workspace, demo,
    disk::{self, Disk, Loses},
    losses::Losses,
    script,
    trace::{self, Change, Moment},
    wharf,
};

/// The script that a workspace is planned by, if any.
type Scripting = dyn Fn(&Workspace) -> Option<PathBuf> + Sync;

/// A task that can be run, and run again.
pub struct Case {
    start: Box<dyn Fn(&Workspace) -> Wharf + Sync>,
    again: Again,
    task: String,
    exit: i32,
}

/// How somebody goes on with a task.
enum Again {
    /// `wharf resume`, planned as before.
    Resume(Box<Scripting>),
    /// The program that embeds the library is started once more.
    Start,
}

/// What a kill leaves behind is changed before the task is resumed.
pub type Meddling<'a> = &'a (dyn Fn(&Workspace) + Sync);

/// A clean run.
pub struct Clean<'c> {
    case: &'c Case,
    /// The first change at which it is disturbed.
    first: usize,
    changes: Vec<Change>,
    outcome: Outcome,
}

/// What a task came to.
#[derive(Debug, Clone, PartialEq)]
struct Outcome {
    report: Value,
    effects: Vec<String>,
    calls: Calls,
}

/// How often the plugin was called for each step.
type Calls = BTreeMap<(String, String), usize>;

/// What the matrix covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covered {
    /// Changes of the workspace in a clean run.
    pub changes: usize,
    /// Runs that were killed, each at another moment.
    pub kills: usize,
}

/// What the cuts covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PowerLosses {
    /// Syncs of a clean run.
    pub syncs: usize,
    /// Disks that a task was resumed from.
    pub disks: usize,
}

impl Case {
    /// A scenario of the demo.
    pub fn demo(scenario: &'static str) -> Self {
        Self {
            start: Box::new(move |workspace| demo::demo(workspace, scenario)),
            again: Again::Resume(Box::new(|_| None)),
            task: demo::TASK.to_owned(),
            exit: demo::exit_code(scenario),
        }
    }

    /// The same where the operator leaves outputs unsynced.
    pub fn demo_with_unsynced_outputs(scenario: &'static str) -> Self {
        const KEY: &str = "WHARF__WORKSPACE__SYNC_OUTPUTS";
        Self {
            start: Box::new(move |workspace| demo::demo(workspace, scenario).env(KEY, "false")),
            ..Self::demo(scenario)
        }
    }

    /// A request to a plugin, planned by one scripted answer.
    pub fn scripted(component: PathBuf, request: Value, plan: Value, seed: Option<String>) -> Self {
        let task = request["id"].as_str().unwrap().to_owned();
        let planner = move |workspace: &Workspace| {
            // Line by line the same answer: each kill during the call costs one.
            let answers = [script::says(&plan), script::says(&plan)];
            Some(workspace.script(&answers))
        };
        let planner: Box<Scripting> = Box::new(planner);
        let start = move |workspace: &Workspace| {
            let request = workspace.handed_in("request.json", request.to_string());
            let run = wharf("run").arg("--plugin").arg(&component);
            let run = run.arg("--request").arg(request).dir(workspace.path());
            match &seed {
                Some(seed) => run.arg("--seed").arg(workspace.handed_in("seed.sql", seed)),
                None => run,
            }
        };
        Self {
            start: Box::new(start),
            again: Again::Resume(planner),
            task,
            exit: 0,
        }
    }

    /// An agent's task, whose model says these lines.
    pub fn agent(lines: Vec<Value>, options: &'static [&'static str]) -> Self {
        let start = move |workspace: &Workspace| {
            let run = wharf("agent").args(["--task", "t", "--prompt", "Do it."]);
            run.args(options).dir(workspace.path())
        };
        Self {
            start: Box::new(start),
            again: Again::Resume(Box::new(move |workspace| Some(workspace.script(&lines)))),
            task: "t".to_owned(),
            exit: 0,
        }
    }

    /// A program that embeds the library and does the same when it is started again; compared is one of its tasks.
    pub fn program(start: impl Fn(&Workspace) -> Command + Sync + 'static, task: &str) -> Self {
        Self {
            start: Box::new(move |workspace| Wharf::from(start(workspace))),
            again: Again::Start,
            task: task.to_owned(),
            exit: 0,
        }
    }

    /// Runs it without a disturbance.
    pub fn clean(&self) -> Clean<'_> {
        let workspace = Workspace::in_memory();
        let traced = trace::record(self.start(&workspace), &workspace.folder());
        assert_eq!(traced.code, Some(self.exit), "{}", traced.stderr);
        let outcome = self.outcome(&workspace, calls(&traced.stderr));
        Clean {
            case: self,
            first: 0,
            changes: traced.changes,
            outcome,
        }
    }

    fn start(&self, workspace: &Workspace) -> Command {
        self.planned((self.start)(workspace), workspace)
            .into_command()
    }

    fn planned(&self, command: Wharf, workspace: &Workspace) -> Wharf {
        let Again::Resume(planner) = &self.again else {
            return command;
        };
        let command = command
            .json()
            .env("WHARF_LOG", "wharf::plugin::domain=debug");
        match planner(workspace) {
            Some(file) => command.script(file),
            None => command,
        }
    }

    /// As somebody does who finds a task that did not come to its end.
    fn go_on(&self, workspace: &Workspace) -> Ran {
        if matches!(self.again, Again::Start) {
            return Wharf::from(self.start(workspace)).run();
        }
        let resumed = self.planned(wharf("resume").dir(workspace.path()), workspace);
        let resumed = resumed.run();
        if resumed.code == Some(2) {
            assert!(
                resumed.stderr.contains("error[no-task]"),
                "{}",
                resumed.stderr
            );
            return Wharf::from(self.start(workspace)).run();
        }
        resumed
    }

    fn outcome(&self, workspace: &Workspace, calls: Calls) -> Outcome {
        Outcome {
            report: workspace.report(&self.task),
            effects: workspace.effects(),
            calls,
        }
    }
}

impl Clean<'_> {
    /// The same run on a disk that ignores the syncs of files of this name.
    #[must_use]
    pub fn without_syncs_of(mut self, name: &str) -> Self {
        ignore_syncs_of(name, &mut self.changes);
        self
    }

    /// Not disturbed before something of this name is changed.
    #[must_use]
    pub fn after_change_of(mut self, name: &str) -> Self {
        let names = |change: &Change| format!("{change:?}").contains(name);
        self.first = self.changes.iter().position(names).unwrap();
        self
    }

    /// Kills the task at every moment that differs from the one before it.
    pub fn crash_matrix(&self) -> Covered {
        self.crash_matrix_with(&|_| ()).unwrap()
    }

    /// The same, with hands on what each kill left; yields the first difference that is found.
    pub fn crash_matrix_with(&self, meddle: Meddling<'_>) -> Result<Covered, String> {
        let moments = self.moments();
        for moment in &moments {
            self.killed_at(*moment, meddle)
                .map_err(|found| format!("{moment:?} of {:?}: {found}", self.shown(*moment)))?;
        }
        Ok(Covered {
            changes: self.changes.len(),
            kills: moments.len(),
        })
    }

    /// Before everything but a write, and after everything that a write follows: a kill between two writes of one commit leaves
    /// no more than one before them, and nothing lies between the end of one change and the beginning of the next.
    fn moments(&self) -> Vec<Moment> {
        let is_write = |at: usize| matches!(self.changes.get(at), Some(Change::Write { .. }));
        let mut moments = Vec::new();
        for at in self.first..self.changes.len() {
            if is_write(at) {
                continue;
            }
            moments.push(Moment::Before(at));
            if is_write(at + 1) || at + 1 == self.changes.len() {
                moments.push(Moment::After(at));
            }
        }
        moments
    }

    fn killed_at(&self, moment: Moment, meddle: Meddling<'_>) -> Result<(), String> {
        let workspace = Workspace::in_memory();
        let command = self.case.start(&workspace);
        let killed = trace::kill_at(command, &workspace.folder(), moment);
        meddle(&workspace);
        self.resumes(&workspace, Some(&calls(&killed.stderr)))
    }

    /// Resumes what a run left. If that run was killed and nothing more, these are the calls that it had made.
    fn resumes(&self, workspace: &Workspace, before: Option<&Calls>) -> Result<(), String> {
        let stood = standing(workspace);
        let ran = self.case.go_on(workspace);
        if ran.code != Some(self.case.exit) {
            return Err(format!("it ended with {:?}: {}", ran.code, ran.stderr));
        }
        let after = calls(&ran.stderr);
        let outcome = self.case.outcome(workspace, after);
        same_report(&outcome.report, &self.outcome.report)?;
        if outcome.effects != self.outcome.effects {
            return Err(format!(
                "the effects are {:#?} instead of {:#?}",
                outcome.effects, self.outcome.effects
            ));
        }
        self.none_again(&outcome.calls, &stood)?;
        if let Some(before) = before {
            self.as_many_calls(before, &outcome.calls)?;
        }
        let audit = wharf("audit").dir(workspace.path()).json().run();
        if audit.code != Some(0) {
            return Err(format!("the audit found {}{}", audit.stdout, audit.stderr));
        }
        Ok(())
    }

    /// What stood in the ledger is not performed again.
    fn none_again(&self, calls: &Calls, stood: &[String]) -> Result<(), String> {
        for step in self.outcome.report["completed"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let name = (text(&step["step"]["id"]), text(&step["step"]["tool"]));
            if stood.contains(&text(&step["operationKey"])) && calls.contains_key(&name) {
                return Err(format!("{name:?} was called again: {calls:?}"));
            }
        }
        Ok(())
    }

    /// As often as in a clean run, or once more: a call whose transaction the kill rolled back.
    fn as_many_calls(&self, before: &Calls, after: &Calls) -> Result<(), String> {
        for (step, clean) in &self.outcome.calls {
            let count = |calls: &Calls| calls.get(step).copied().unwrap_or(0);
            let all = count(before) + count(after);
            if all < *clean || all > clean + 1 {
                return Err(format!("{step:?} was called {all} times"));
            }
        }
        Ok(())
    }

    /// Cuts the power at every sync: everything unsynced is lost, or, `seeds` times, some of it. Yields the first
    /// difference that is found.
    pub fn power_loss_matrix(&self, seeds: u64) -> Result<PowerLosses, String> {
        let mut disk = Disk::empty();
        let mut covered = PowerLosses { syncs: 0, disks: 0 };
        for (at, change) in self.changes.iter().enumerate() {
            let is_sync = matches!(change, Change::Sync { .. });
            if is_sync {
                covered.syncs += 1;
                for seed in 0..seeds {
                    let mut losses = Losses::new(covered.syncs as u64 * seeds + seed);
                    self.goes_on_from(&disk, &mut |unsynced| losses.draw(unsynced), at)?;
                    covered.disks += 1;
                }
            }
            disk.apply(change);
            if is_sync {
                self.goes_on_from(&disk, &mut disk::all, at)?;
                covered.disks += 1;
            }
        }
        self.is_kept_on(&disk)?;
        Ok(covered)
    }

    fn goes_on_from(&self, disk: &Disk, loses: Loses<'_>, at: usize) -> Result<(), String> {
        let workspace = Workspace::of(disk.after_power_loss(loses));
        let change = || self.shown(Moment::Before(at));
        self.resumes(&workspace, None)
            .map_err(|found| format!("after a power loss at change {at}, {}: {found}", change()))
    }

    /// What was acknowledged is there after a power loss, and nothing is done again.
    fn is_kept_on(&self, disk: &Disk) -> Result<(), String> {
        let workspace = Workspace::of(disk.after_power_loss(&mut disk::all));
        let ran = self.case.go_on(&workspace);
        let again = calls(&ran.stderr);
        if ran.code != Some(self.case.exit) || !again.is_empty() {
            return Err(format!("after its end: {again:?} {}", ran.stderr));
        }
        let report = workspace.report(&self.case.task);
        if report != self.outcome.report {
            return Err(format!("after its end the report is {report}"));
        }
        Ok(())
    }

    fn shown(&self, moment: Moment) -> String {
        let (Moment::Before(at) | Moment::After(at)) = moment;
        match &self.changes[at] {
            Change::Write { path, at, .. } => format!("a write at {at} of {}", path.display()),
            change => format!("{change:?}"),
        }
    }
}

/// Makes of a record that of a disk which ignores the syncs of files of this name.
pub(crate) fn ignore_syncs_of(name: &str, changes: &mut [Change]) {
    for change in changes {
        if let Change::Sync { path, covers } = change
            && path.ends_with(name)
        {
            *covers = 0;
        }
    }
}

/// The report of a task that was disturbed once and that of one that was not: the same, but that a counter may be higher by a
/// reserved call.
pub(crate) fn same_report(report: &Value, clean: &Value) -> Result<(), String> {
    if unmarked(report) != unmarked(clean) {
        return Err(format!("the report is {report} instead of {clean}"));
    }
    for counter in ["modelCalls", "actionCalls", "turns", "toolCalls"] {
        if clean["usage"][counter].is_null() {
            continue;
        }
        let used = |report: &Value| report["usage"][counter].as_u64().unwrap();
        if !matches!(used(report).checked_sub(used(clean)), Some(0 | 1)) {
            return Err(format!("{counter}: {report}"));
        }
    }
    Ok(())
}

/// The operations in the ledger; read from a copy, since a look at a database changes its files.
fn standing(workspace: &Workspace) -> Vec<String> {
    if !workspace.path().join("business.sqlite").exists() {
        return Vec::new();
    }
    let copy = workspace.copy_to(Workspace::in_memory());
    // For writing, so that a transaction that was cut short is rolled back first.
    let database = copy.open_for_tampering("business.sqlite");
    let Ok(mut ledger) = database.prepare("SELECT operation_key FROM wharf_ledger") else {
        return Vec::new();
    };
    let keys = ledger.query_map([], |row| row.get(0)).unwrap();
    keys.collect::<Result<_, _>>().unwrap()
}

/// The calls that a run logged.
pub(crate) fn calls(log: &str) -> Calls {
    let mut calls = Calls::new();
    for line in log.lines().filter(|line| line.contains(": performing ")) {
        let field = |name: &str| {
            let value = line.split_once(&format!(" {name}=\"")).unwrap().1;
            value.split('"').next().unwrap().to_owned()
        };
        *calls.entry((field("step"), field("tool"))).or_default() += 1;
    }
    calls
}

/// A report without times, chain heads and counters.
pub fn comparable(report: &Value) -> Value {
    let mut report = report.clone();
    let members = report.as_object_mut().unwrap();
    for member in ["generatedAt", "usage", "journal"] {
        assert!(members.remove(member).is_some());
    }
    report
}

/// A report without all that a kill may change: as [`comparable`], and without the marks of adopted steps.
pub fn unmarked(report: &Value) -> Value {
    let mut report = comparable(report);
    if let Some(completed) = report.get_mut("completed") {
        for step in completed.as_array_mut().unwrap() {
            step["replayed"].take();
        }
    }
    report
}
