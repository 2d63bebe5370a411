//! The check that tasks must pass which run at once in one process: stopped anywhere, each goes on as if nothing had happened, and
//! whichever was acknowledged is finished.
//!
//! The program is `tests/programs/many_at_once.rs`. No two of its runs come in the same order, so the moments of a run are counted
//! and not named.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    process::Command,
};

use serde_json::{Value, json};
use wharf::{Planner, Request, Task};

use super::{
    Wharf, Workspace,
    command::compile_cache,
    crash_matrix::{ignore_syncs_of, same_report},
    demo,
    disk::{self, Disk, Loses},
    library,
    losses::Losses,
    trace::{Change, Moment, Said, Syncs, Traced, Watch},
    wharf,
};

const DATABASES: [&str; 2] = ["memory.sqlite", "business.sqlite"];

/// Tasks for one piece each from the same stock, each with an order of its own. Every other one loses the response of its
/// shipment, and needs a second plan.
pub struct Many {
    program: PathBuf,
    at_once: usize,
    /// With a stock that lasts.
    prepared: Workspace,
    ids: Vec<String>,
}

/// A run that nobody disturbed.
pub struct Recorded<'m> {
    many: &'m Many,
    changes: Vec<Change>,
    said: Vec<Said>,
    reports: BTreeMap<String, Vec<u8>>,
    effects: Vec<String>,
}

/// What kills covered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Killed {
    /// Runs that came to their moment.
    pub kills: usize,
    /// Tasks that had been acknowledged by then.
    pub acknowledged: usize,
    /// Tasks that had been admitted and not acknowledged.
    pub unfinished: usize,
}

/// What power losses covered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lost {
    /// Disks that the tasks went on from.
    pub disks: usize,
    /// Of them, those of a moment at which a sync was in flight and something else had been changed since it was asked for.
    pub in_flight: usize,
    /// Tasks that had been acknowledged by then, summed over the disks.
    pub acknowledged: usize,
}

/// How the tasks are gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// All at once, by the same program.
    AtOnce,
    /// Those that were admitted one after the other by `wharf resume`, the others by the program.
    OneByOne,
}

impl Again {
    const fn alternating(number: usize) -> Self {
        if number.is_multiple_of(5) {
            Self::OneByOne
        } else {
            Self::AtOnce
        }
    }
}

impl Many {
    /// So many tasks for the program, of which so many run at once.
    pub fn new(program: impl Into<PathBuf>, tasks: usize, at_once: usize) -> Self {
        let prepared = Workspace::in_memory();
        let first = Request::read(&request("first", 0).to_string()).unwrap();
        let seed = demo::seed("stable") + "UPDATE inventory SET stock = 100;";
        let first = Task::new(first, demo::component()).with_seed(seed);
        let host = library::host(prepared.path());
        library::finish(&host, Planner::Search, first);
        let many = Self {
            program: program.into(),
            at_once,
            prepared,
            ids: (1..=tasks).map(|number| format!("task-{number}")).collect(),
        };
        many.hand_in();
        many
    }

    fn hand_in(&self) {
        let described: Vec<_> = (1..)
            .zip(&self.ids)
            .map(|(number, id)| {
                let lost = (number % 2 == 0).then_some("shipment");
                json!({"request": request(id, number), "loseResponseOf": lost})
            })
            .collect();
        let described = Value::from(described).to_string();
        self.prepared.handed_in("tasks.json", described);
    }

    /// With logs that SQLite moves into their databases while the tasks run, and begins anew.
    #[must_use]
    pub fn with_long_logs(mut self) -> Self {
        /// SQLite does so from 1000 pages on.
        const PAGES: usize = 980;
        let connections = DATABASES.map(|name| {
            let connection = self.prepared.open_for_tampering(name);
            let unhindered = "PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF;";
            connection.execute_batch(unhindered).unwrap();
            for _ in 0..PAGES {
                connection
                    .execute("UPDATE wharf_barrier SET commits = commits + 1", ())
                    .unwrap();
            }
            connection
        });
        // Whoever closes a database as the last one takes the log away.
        let copy = self.copy();
        drop(connections);
        self.prepared = copy;
        self.hand_in();
        self
    }

    /// Runs them without a disturbance.
    pub fn record(&self, syncs: Syncs) -> Recorded<'_> {
        let workspace = self.copy();
        let traced = self.watch(&workspace, syncs).run();
        assert_eq!(traced.code, Some(0), "{}", traced.stderr);
        let report = |id: &String| (id.clone(), report(&workspace, id).unwrap());
        let recorded = Recorded {
            many: self,
            reports: self.ids.iter().map(report).collect(),
            effects: workspace.effects(),
            changes: traced.changes,
            said: traced.said,
        };
        let all = self.ids.iter().cloned().collect();
        assert_eq!(recorded.acknowledged(recorded.changes.len()), all);
        recorded
    }

    fn copy(&self) -> Workspace {
        self.prepared.copy_to(Workspace::in_memory())
    }

    fn watch(&self, workspace: &Workspace, syncs: Syncs) -> Watch {
        Watch::of(self.start(workspace), &workspace.folder()).with(syncs)
    }

    fn start(&self, workspace: &Workspace) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg(super::built::plugin("fulfillment"))
            .arg(self.prepared.folder().join("tasks.json"))
            .arg(workspace.path())
            .arg(compile_cache())
            .arg(self.at_once.to_string());
        command
    }

    fn go_on(
        &self,
        workspace: &Workspace,
        standing: &Standing,
        again: Again,
    ) -> Result<(), String> {
        if again == Again::OneByOne {
            for id in standing.last.keys().filter(|id| self.ids.contains(id)) {
                let resume = wharf("resume").args(["--task", id]);
                let ran = resume.dir(workspace.path()).json().run();
                if ran.code != Some(0) {
                    return Err(format!("{id} ended with {:?}: {}", ran.code, ran.stderr));
                }
            }
        }
        let ran = Wharf::from(self.start(workspace)).run();
        if ran.code != Some(0) {
            return Err(format!("they ended with {:?}: {}", ran.code, ran.stderr));
        }
        let said: BTreeSet<_> = ran.stdout.lines().filter_map(acknowledged_by).collect();
        if said.len() != self.ids.len() {
            return Err(format!("only {said:?} were acknowledged"));
        }
        Ok(())
    }
}

impl Recorded<'_> {
    /// The same run on a disk that ignores the syncs of files of this name.
    #[must_use]
    pub fn without_syncs_of(mut self, name: &str) -> Self {
        ignore_syncs_of(name, &mut self.changes);
        self
    }

    /// The same run on a disk whose syncs of files of this name keep what was there when the one before was asked for: as if whoever
    /// commits while a sync is in flight waited for that one.
    #[must_use]
    pub fn with_syncs_asked_for_too_early(mut self, name: &str) -> Self {
        let mut before = 0;
        for change in &mut self.changes {
            if let Change::Sync { path, covers } = change
                && path.ends_with(name)
            {
                before = std::mem::replace(covers, before);
            }
        }
        self
    }

    /// The same run by a program that acknowledges before the sync of a file of this name that came last.
    #[must_use]
    pub fn acknowledging_before_sync_of(mut self, name: &str) -> Self {
        for said in &mut self.said {
            let before = self.changes[..said.after].iter().rev();
            said.after = before
                .filter_map(|change| sync_of(change, name))
                .next()
                .expect("it was synced");
        }
        self
    }

    /// How many transactions a log has taken.
    pub fn commits_to(&self, log: &str) -> usize {
        let commits = self.changes.iter().filter(|change| is_commit(change, log));
        commits.count()
    }

    /// How often a log was synced.
    pub fn syncs_of(&self, log: &str) -> usize {
        let syncs = self.changes.iter();
        syncs
            .filter(|change| sync_of(change, log).is_some())
            .count()
    }

    /// How often a log was begun.
    pub fn beginnings_of(&self, log: &str) -> usize {
        let is_first = |change: &&Change| matches!(change, Change::Write { path, at: 0, .. } if path.ends_with(log));
        self.changes.iter().filter(is_first).count()
    }

    /// Kills a run at as many moments, spread over its whole length.
    pub fn killed_anywhere(&self, moments: usize) -> Result<Killed, String> {
        let mut covered = Killed::default();
        for number in 0..moments {
            let at = number * self.changes.len() / moments;
            let (moment, syncs) = match number % 4 {
                0 => (Moment::Before(at), Syncs::Slow),
                1 => (Moment::After(at), Syncs::AsTheyDo),
                2 => (Moment::After(at), Syncs::Slow),
                _ => (Moment::Before(at), Syncs::AsTheyDo),
            };
            let workspace = self.many.copy();
            let killed = self.many.watch(&workspace, syncs).until(moment).run();
            self.goes_on_after(&killed, &workspace, number, &mut covered)
                .map_err(|found| format!("{moment:?}, {syncs:?}: {found}"))?;
        }
        Ok(covered)
    }

    fn goes_on_after(
        &self,
        killed: &Traced,
        workspace: &Workspace,
        number: usize,
        covered: &mut Killed,
    ) -> Result<(), String> {
        // Another run may be a little shorter than the recorded one.
        covered.kills += usize::from(killed.code.is_none());
        let acknowledged: BTreeSet<_> = killed.stdout.lines().filter_map(acknowledged_by).collect();
        covered.acknowledged += acknowledged.len();
        let standing = Standing::of(workspace);
        let begun = |id: &&String| !acknowledged.contains(*id) && standing.last.contains_key(*id);
        covered.unfinished += self.many.ids.iter().filter(begun).count();
        let kept: BTreeMap<_, _> = acknowledged
            .iter()
            .map(|id| (id.clone(), report(workspace, id)))
            .collect();
        standing.are_finished(&acknowledged)?;
        self.goes_on(workspace, &standing, Again::alternating(number))?;
        for (id, before) in kept {
            if before.is_none() || report(workspace, &id) != before {
                return Err(format!("the report of {id}, acknowledged, is another one"));
            }
        }
        Ok(())
    }

    /// Cuts the power where a sync is asked for, where it is in flight, after it, and where a task is acknowledged; of these
    /// moments, at every `stride`-th. Everything unsynced is lost, or, `seeds` times, some of it.
    pub fn power_lost_anywhere(&self, stride: usize, seeds: u64) -> Result<Lost, String> {
        let mut cuts: BTreeSet<_> = self.acknowledgements().collect();
        for (at, change) in self.changes.iter().enumerate() {
            if let Change::Sync { covers, .. } = change {
                cuts.extend([*covers, at, at + 1]);
            }
        }
        self.power_lost_at(cuts.into_iter().step_by(stride).collect(), seeds)
    }

    /// Cuts the power where a task is acknowledged, and everything unsynced is lost.
    pub fn power_lost_at_acknowledgements(&self) -> Result<Lost, String> {
        self.power_lost_at(self.acknowledgements().collect(), 0)
    }

    /// So many changes are made when a task is acknowledged.
    fn acknowledgements(&self) -> impl Iterator<Item = usize> {
        self.said.iter().map(|said| said.after)
    }

    fn power_lost_at(&self, cuts: BTreeSet<usize>, seeds: u64) -> Result<Lost, String> {
        let mut covered = Lost::default();
        let mut disk = Disk::of(&self.many.prepared.folder());
        let mut made = 0;
        for (number, cut) in cuts.into_iter().enumerate() {
            for change in &self.changes[made..cut] {
                disk.apply(change);
            }
            made = cut;
            let again = Again::alternating(number);
            self.is_kept_on(&disk, cut, &mut disk::all, again, &mut covered)?;
            for seed in 0..seeds {
                let mut losses = Losses::new(number as u64 * seeds + seed);
                let mut draw = |unsynced| losses.draw(unsynced);
                self.is_kept_on(&disk, cut, &mut draw, again, &mut covered)?;
            }
        }
        Ok(covered)
    }

    fn is_kept_on(
        &self,
        disk: &Disk,
        cut: usize,
        loses: Loses<'_>,
        again: Again,
        covered: &mut Lost,
    ) -> Result<(), String> {
        let workspace = Workspace::of(disk.after_power_loss(loses));
        let acknowledged = self.acknowledged(cut);
        covered.disks += 1;
        covered.in_flight += usize::from(self.is_sync_in_flight(cut));
        covered.acknowledged += acknowledged.len();
        let found = |found| format!("after a power loss at change {cut}: {found}");
        let standing = Standing::of(&workspace);
        standing.are_finished(&acknowledged).map_err(found)?;
        self.goes_on(&workspace, &standing, again).map_err(found)?;
        for id in &acknowledged {
            if report(&workspace, id).as_ref() != Some(&self.reports[id]) {
                return Err(found(format!("the report of {id} is another one")));
            }
        }
        Ok(())
    }

    /// Whether a sync had been asked for before the last change and had not returned.
    fn is_sync_in_flight(&self, cut: usize) -> bool {
        self.changes[cut..]
            .iter()
            .any(|change| matches!(change, Change::Sync { covers, .. } if *covers < cut))
    }

    /// The tasks that were acknowledged when so many changes were made.
    fn acknowledged(&self, changes: usize) -> BTreeSet<String> {
        let said = self.said.iter().filter(|said| said.after <= changes);
        said.flat_map(|said| said.text.lines().filter_map(acknowledged_by))
            .collect()
    }

    /// The tasks go on and come to what they came to without a disturbance.
    fn goes_on(
        &self,
        workspace: &Workspace,
        standing: &Standing,
        again: Again,
    ) -> Result<(), String> {
        self.many.go_on(workspace, standing, again)?;
        for (id, clean) in &self.reports {
            let [report, clean] = [report(workspace, id).as_ref(), Some(clean)]
                .map(|text| serde_json::from_slice(text.expect("it is finished")).unwrap())
                .map(without_stock);
            same_report(&report, &clean).map_err(|found| format!("{id}: {found}"))?;
        }
        let effects = workspace.effects();
        if effects != self.effects {
            let expected = &self.effects;
            return Err(format!(
                "the effects are {effects:#?} instead of {expected:#?}"
            ));
        }
        let audit = wharf("audit").dir(workspace.path()).json().run();
        if audit.code != Some(0) {
            return Err(format!("the audit found {}{}", audit.stdout, audit.stderr));
        }
        Ok(())
    }
}

fn request(id: &str, number: usize) -> Value {
    let mut request = demo::request();
    request["id"] = id.into();
    request["input"]["orderId"] = format!("ORDER-{number}").into();
    request["input"]["quantity"] = 1.into();
    request
}

/// The task that a line of the program acknowledges.
fn acknowledged_by(line: &str) -> Option<String> {
    line.strip_suffix(" finished").map(str::to_owned)
}

fn report(workspace: &Workspace, id: &str) -> Option<Vec<u8>> {
    fs::read(workspace.output(id, "report.json")).ok()
}

/// A report without what depends on who came first: how much was left when the task looked.
fn without_stock(mut report: Value) -> Value {
    for plan in report["plans"].as_array_mut().unwrap() {
        plan["snapshot"]["stock"].take();
    }
    report
}

/// What a look at the databases tells of the tasks.
struct Standing {
    /// The last record of each admitted task.
    last: BTreeMap<String, (i64, String)>,
    anchors: BTreeMap<String, i64>,
}

impl Standing {
    /// From a copy, since a look at a database changes its files; for writing, so that a transaction that was cut short is rolled
    /// back first.
    fn of(workspace: &Workspace) -> Self {
        let copy = workspace.copy_to(Workspace::in_memory());
        let journal = copy.open_for_tampering("memory.sqlite");
        let last = journal
            .prepare("SELECT task, max(sequence), kind FROM journal GROUP BY task")
            .unwrap()
            .query_map((), |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let business = copy.open_for_tampering("business.sqlite");
        let anchors = business
            .prepare("SELECT task, sequence FROM wharf_anchors")
            .unwrap()
            .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        Self { last, anchors }
    }

    /// The journals of these tasks have come to their end, and the last anchor says so.
    fn are_finished(&self, tasks: &BTreeSet<String>) -> Result<(), String> {
        for id in tasks {
            let (last, anchor) = (self.last.get(id), self.anchors.get(id));
            let is_finished = last.is_some_and(|(sequence, kind)| {
                kind == "finished" && anchor.is_some_and(|anchor| anchor == sequence)
            });
            if !is_finished {
                return Err(format!(
                    "{id} was acknowledged, and its last record is {last:?}, its anchor {anchor:?}"
                ));
            }
        }
        Ok(())
    }
}

fn sync_of(change: &Change, name: &str) -> Option<usize> {
    match change {
        Change::Sync { path, covers } if path.ends_with(name) => Some(*covers),
        _ => None,
    }
}

/// The head of a frame with which a transaction ends: it says how large the database is after it.
fn is_commit(change: &Change, log: &str) -> bool {
    const HEAD: usize = 24;
    match change {
        Change::Write { path, bytes, .. } if path.ends_with(log) && bytes.len() == HEAD => {
            bytes[4..8] != [0; 4]
        }
        _ => false,
    }
}
