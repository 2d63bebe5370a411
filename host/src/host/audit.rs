//! Audit: verifies a workspace offline, task by task. Prints nothing, writes nothing, and reads in an order in which a live run
//! gives no false finding: anchors, then journals, then ledger rows and files.

mod agent;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::Timestamp;
use serde::Serialize;

use super::{limits::HostLimits, preflight, retention, run::RunError, stores};
use crate::{
    business::{BusinessStore, SqlLimits},
    core::{
        chain::{Event, Record},
        graph::{Graph, Input, NodeKind},
        machine::{Loop, Machine},
        outputs::Output,
        plan_execute::{
            operations::{Act, Performing},
            plan_check,
            state::TaskState,
            workers::Records,
        },
        ports::{
            archive::{Archive as _, FileState},
            business::{Business as _, LedgerRow},
            journal::{Journal as _, Position, StoredRecord},
            permission::Acting,
        },
        request::Request,
        task_request::TaskRequest,
    },
    plugin::{CompileCache, Plugin, PluginEngine, VerifiedBytes},
    technologies::{
        admission::{stored as stored_of_either, stored_component},
        archive::FileArchive,
        journal::SqliteJournal,
        policy_file::Policy,
        tombstones::Tombstone,
        workspace::Workspace,
    },
    words::{
        error::{Error, Kind},
        id::TaskId,
    },
};

/// What an audit found.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuditReport {
    /// The workspace, as an absolute path.
    pub workspace: PathBuf,
    /// Task by task.
    pub tasks: Vec<TaskAudit>,
}

/// What an audit found of one task.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskAudit {
    /// The task.
    pub task: TaskId,
    /// `running`, or the status of its report; `unknown` if its journal cannot be folded.
    pub status: String,
    /// What is not as it should be.
    pub findings: Vec<Finding>,
    /// What could not be checked, and why.
    pub skipped: Vec<String>,
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Finding {
    /// Stable, kebab-case.
    pub code: String,
    /// For people; names what to do where something can be done.
    pub message: String,
    /// Where: a file, a table and key, or a record of the journal.
    pub place: String,
}

impl AuditReport {
    /// Whether nothing was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.tasks.iter().all(|task| task.findings.is_empty())
    }
}

/// Verifies one task of a workspace, or all of which the one or the other database knows.
///
/// # Errors
/// No such workspace, a task of which neither database knows anything, or a database that cannot be read at all. What is
/// wrong with a task is a finding.
pub fn audit(
    directory: &Path,
    task: Option<&TaskId>,
    compile_cache: Option<&Path>,
    limits: &HostLimits,
) -> Result<AuditReport, Error> {
    let workspace = Workspace::open(directory)?;
    let (Some(tenant), Some(journal)) = (
        stores::tenant_of(&workspace)?,
        stores::journal_of(&workspace)?,
    ) else {
        return match task.cloned() {
            Some(task) => Err(RunError::UnknownTask { task }.into()),
            None => Ok(AuditReport {
                workspace: workspace.root().to_owned(),
                tasks: Vec::new(),
            }),
        };
    };
    let auditor = Auditor {
        business: Arc::new(BusinessStore::open_read_only(
            &workspace.business_database(),
            &tenant,
            SqlLimits::standard(),
        )?),
        journal,
        archive: Arc::new(FileArchive::new(workspace.clone())),
        engine: PluginEngine::new(limits.engine)?,
        limits: limits.clone(),
        cache: compile_cache.map(CompileCache::open).transpose()?,
        workspace,
    };
    let tasks = match task {
        Some(task) => vec![task.clone()],
        None => auditor.tasks()?,
    };
    let tasks = tasks
        .iter()
        .map(|task| auditor.task(task))
        .collect::<Result<_, _>>()?;
    Ok(AuditReport {
        workspace: auditor.workspace.root().to_owned(),
        tasks,
    })
}

struct Auditor {
    workspace: Workspace,
    business: Arc<BusinessStore>,
    journal: SqliteJournal,
    archive: Arc<FileArchive>,
    engine: PluginEngine,
    limits: HostLimits,
    cache: Option<CompileCache>,
}

/// The journal of one task, folded as far as it can be.
struct Folded<L = TaskState> {
    machine: Machine<L>,
    intents: Vec<Intent>,
    whole: bool,
}

/// A Graph that was about to run.
struct Intent {
    sequence: u64,
    at: Timestamp,
    graph: Graph,
}

impl Auditor {
    /// In order of admission; after them those that were removed, and those whose journal is gone, of which only an anchor tells.
    fn tasks(&self) -> Result<Vec<TaskId>, Error> {
        let anchored = self.business.anchored_tasks()?;
        let mut tasks = self.journal.tasks()?;
        tasks.extend(self.journal.removed()?);
        let known: BTreeSet<_> = tasks.iter().cloned().collect();
        let lost: Vec<_> = anchored
            .into_iter()
            .filter(|task| !known.contains(task))
            .collect();
        tasks.extend(lost);
        Ok(tasks)
    }

    fn task(&self, task: &TaskId) -> Result<TaskAudit, Error> {
        let mut audit = TaskAudit {
            task: task.clone(),
            status: "unknown".to_owned(),
            findings: Vec::new(),
            skipped: Vec::new(),
        };
        let anchor = self.business.anchor_of(task)?;
        let stored = self.journal.load(task)?;
        let rows = self.business.rows_of(task)?;
        if let Some(stone) = self.journal.tombstone(task)? {
            removed(&stone, anchor, &stored, &rows, &mut audit);
            return Ok(audit);
        }
        if stored.is_empty() && anchor.is_none() && rows.is_empty() {
            return Err(RunError::UnknownTask { task: task.clone() }.into());
        }
        let request = match stored_of_either(&self.workspace, task) {
            Ok(Some(request)) => request,
            Ok(None) => {
                audit.find(
                    "request-missing",
                    "there is no request".to_owned(),
                    "request.json",
                );
                return Ok(audit);
            }
            Err(error) => {
                audit.find_error(&error.into(), "request.json");
                return Ok(audit);
            }
        };
        if let Err(error) = preflight::check_request(request.acting(), &stored) {
            audit.find_error(&error.into(), "request.json");
            return Ok(audit);
        }
        if let Some(anchor) = anchor
            && let Err(error) = preflight::check_anchor(task, anchor, &stored)
        {
            audit.find_error(&error.into(), &record_place(anchor.sequence));
        }
        // A row that came after the anchor was read has brought an anchor of its own.
        let anchor = self.business.anchor_of(task)?;
        if let Err(error) = preflight::check_rows_are_anchored(task, anchor, &rows, &stored) {
            audit.find_error(&error.into(), "wharf_anchors");
        }
        self.policy(request.acting(), &mut audit);
        let request = match request {
            TaskRequest::PlanExecute(request) => Arc::from(request),
            TaskRequest::Agent(request) => {
                self.agent(&Arc::from(request), &stored, &rows, &mut audit)?;
                return Ok(audit);
            }
        };
        let machine = Machine::new(TaskState::new(Arc::clone(&request)), request.fingerprint());
        let folded = fold(machine, &stored, &mut audit);
        self.records(&folded, &mut audit)?;
        check_rows(&rows, &folded, &mut audit);
        if let Some(table) = self.business.lost_table(&request.plugin.name)? {
            audit.find(
                "table-missing",
                format!("the table {table}, which the plugin's migrations created, is gone"),
                "business.sqlite",
            );
        }
        self.evidence_files(&folded, &mut audit)?;
        let outputs = folded.machine.state().publication().unwrap_or_default();
        self.outputs(outputs, folded.machine.is_done(), &mut audit)?;
        self.plans(&request, &folded, &mut audit);
        Ok(audit)
    }

    fn policy(&self, acting: Acting<'_>, audit: &mut TaskAudit) {
        match Policy::read(&self.workspace.policy_file(acting.task)) {
            Ok(policy) if policy.fingerprint == acting.fingerprint => (),
            Ok(_) => audit.find(
                "policy-other-request",
                "the policy belongs to another request".to_owned(),
                "policy.json",
            ),
            Err(error) => audit.find_error(&error.into(), "policy.json"),
        }
    }

    fn records(&self, folded: &Folded, audit: &mut TaskAudit) -> Result<(), Error> {
        let records = Records {
            business: self.business.clone(),
            archive: self.archive.clone(),
        };
        let state = folded.machine.state();
        for step in state.completed() {
            let found = records.inspect(state, step)?;
            if let Err(error) = found.ledger {
                let key = step
                    .record
                    .operation_key
                    .as_ref()
                    .map_or("-", |key| key.as_str());
                audit.find_error(&error.into(), &format!("wharf_ledger: {key}"));
            }
            audit.find_file(
                found.evidence,
                "evidence",
                &format!("evidence/{}.json", step.evidence_id),
            );
        }
        Ok(())
    }

    fn evidence_files(&self, folded: &Folded, audit: &mut TaskAudit) -> Result<(), Error> {
        let known: BTreeSet<String> = folded
            .machine
            .state()
            .completed()
            .iter()
            .map(|step| format!("{}.json", step.evidence_id))
            .collect();
        for name in self.archive.evidence_files(&audit.task)? {
            // A run that was stopped after its effect has written evidence that its journal does not hold yet.
            if folded.machine.is_done() && !known.contains(&name) {
                audit.find(
                    "evidence-foreign",
                    "no record of the journal has this evidence".to_owned(),
                    &format!("evidence/{name}"),
                );
            }
        }
        Ok(())
    }

    fn outputs(
        &self,
        outputs: Vec<Output>,
        is_done: bool,
        audit: &mut TaskAudit,
    ) -> Result<(), Error> {
        for output in outputs {
            let Ok(file) = output.file() else {
                audit.find(
                    "output-not-base64",
                    "the intended bytes cannot be read".to_owned(),
                    &format!("output/{}", output.name),
                );
                continue;
            };
            match self.archive.inspect_output(&audit.task, &file)? {
                FileState::Absent if !is_done => (),
                found => audit.find_file(found, "output", &format!("output/{}", output.name)),
            }
        }
        Ok(())
    }

    fn plans(&self, request: &Request, folded: &Folded, audit: &mut TaskAudit) {
        let plugin = match self.plugin(request) {
            Ok(plugin) => plugin,
            Err(error) if error.kind() == Kind::Corrupt && error.code() == "component-changed" => {
                return audit.find_error(&error, "plugins");
            }
            Err(error) => {
                return audit.skipped.push(format!(
                    "plans were not validated again: {error} ({})",
                    error.code()
                ));
            }
        };
        for entry in folded.machine.state().plans() {
            let place = format!("plan {}", entry.version);
            match plan_check::violations(&plugin, request, &entry.snapshot, &entry.plan) {
                Ok(violations) => {
                    for violation in violations {
                        audit.find(
                            "plan-invalid",
                            format!("{}: {}", violation.code, violation.message),
                            &place,
                        );
                    }
                }
                Err(error) => audit.find_error(&error, &place),
            }
        }
    }

    fn plugin(&self, request: &Request) -> Result<Plugin, Error> {
        let limits = self.limits.of(&request.plugin.name).sandbox;
        let component = stored_component(&self.workspace, &request.plugin.digest)?;
        let bytes =
            VerifiedBytes::expect(component, request.plugin.digest, limits.component_bytes)?;
        Plugin::load(&self.engine, &bytes, limits, self.cache.as_ref())
    }
}

/// Of a removed task the anchor and the ledger rows are left; they must be those of the task on the tombstone.
fn removed(
    stone: &Tombstone,
    anchor: Option<Position>,
    stored: &[StoredRecord],
    rows: &[LedgerRow],
    audit: &mut TaskAudit,
) {
    audit.status = "removed".to_owned();
    if anchor != Some(stone.position) {
        audit.find(
            "tombstone-differs",
            format!(
                "the task was removed with {} records, and its anchor is not the last of them",
                stone.position.sequence
            ),
            "wharf_anchors",
        );
    }
    if !stored.is_empty() {
        audit.find(
            "tombstone-differs",
            "the task was removed, and has records all the same".to_owned(),
            "memory.sqlite",
        );
    }
    if retention::digest_of(rows) != stone.ledger {
        audit.find(
            "tombstone-differs",
            "the task's ledger rows are not those that it had when it was removed".to_owned(),
            "wharf_ledger",
        );
    }
}

/// Folds record by record, so that everything before the first fault is still judged. Each intended Graph must be the one that
/// follows from the records before it: this is what ties the published bytes to the journal.
fn fold<L: Loop>(
    mut machine: Machine<L>,
    stored: &[StoredRecord],
    audit: &mut TaskAudit,
) -> Folded<L> {
    let mut intents = Vec::new();
    let mut whole = !stored.is_empty();
    if stored.is_empty() {
        audit.find(
            "journal-empty",
            "the task has no records".to_owned(),
            "memory.sqlite",
        );
    }
    for record in stored {
        let place = record_place(record.sequence);
        let read = match Record::read(machine.position(), record) {
            Ok(read) => read,
            Err(error) => {
                audit.find_error(&error.into(), &place);
                whole = false;
                break;
            }
        };
        if let Event::Intended { graph } = &read.event {
            if machine.next().graph() != Some(graph) {
                audit.find(
                    "intent-differs",
                    format!(
                        "the graph `{}` is not the one that follows from the records before it",
                        graph.stage()
                    ),
                    &place,
                );
            }
            intents.push(Intent {
                sequence: record.sequence,
                at: record.at,
                graph: graph.clone(),
            });
        }
        if let Err(error) = machine.apply(read) {
            audit.find_error(&error.into(), &place);
            whole = false;
            break;
        }
    }
    audit.status = machine.view().status.to_owned();
    Folded {
        machine,
        intents,
        whole,
    }
}

/// Every row of a task belongs to an intent of its journal, and what was recorded is what the row says.
fn check_rows(rows: &[LedgerRow], folded: &Folded, audit: &mut TaskAudit) {
    let state = folded.machine.state();
    for row in rows {
        let place = format!("wharf_ledger: {}", row.key.as_str());
        let intent = folded
            .intents
            .iter()
            .find(|intent| intent.sequence == row.sequence)
            .and_then(|intent| Some((intent, performing(&intent.graph)?)));
        match intent {
            Some((_, Performing { step, .. }))
                if step.tool != row.tool || step.arguments_digest() != row.arguments_digest =>
            {
                audit.find(
                    "ledger-row-differs",
                    format!(
                        "record {} intends another tool or other arguments than the row says",
                        row.sequence
                    ),
                    &place,
                );
            }
            Some((intent, _)) if intent.at != row.at => audit.find(
                "ledger-row-differs",
                format!(
                    "record {} was made at {}, the row says {}",
                    row.sequence, intent.at, row.at
                ),
                &place,
            ),
            Some(_) => (),
            None if folded.whole => audit.find(
                "ledger-row-unknown",
                format!(
                    "record {} of the journal intends no such operation",
                    row.sequence
                ),
                &place,
            ),
            None => (),
        }
        let recorded = state.completed().iter().any(|step| {
            step.record.operation_key.as_ref() == Some(&row.key) && !step.record.declined
        });
        if folded.machine.is_done()
            && !recorded
            && !state.knows_unknown(&row.key)
            && state.performing().is_none()
        {
            audit.skipped.push(format!("the operation `{}` was committed, but its outcome was not recorded before the task stopped", row.key.as_str()));
        }
    }
}

fn performing(graph: &Graph) -> Option<Performing> {
    let node = graph
        .nodes()
        .iter()
        .find(|node| node.kind == NodeKind::InteractionAct)?;
    let Some(Input::Literal(literal)) = node.inputs.first() else {
        return None;
    };
    match serde_json::from_value(literal.clone()) {
        Ok(Act::Perform(performing)) => Some(performing),
        _ => None,
    }
}

fn record_place(sequence: u64) -> String {
    format!("journal: record {sequence}")
}

impl TaskAudit {
    fn find(&mut self, code: &str, message: String, place: &str) {
        self.findings.push(Finding {
            code: code.to_owned(),
            message,
            place: place.to_owned(),
        });
    }

    fn find_error(&mut self, error: &Error, place: &str) {
        self.find(error.code(), format!("{error}: {}", error.why()), place);
    }

    fn find_file(&mut self, state: FileState, what: &str, place: &str) {
        match state {
            FileState::Whole => (),
            FileState::Absent => self.find(
                &format!("{what}-missing"),
                "the file is missing; `wharf resume` writes it again".to_owned(),
                place,
            ),
            FileState::Torn => self.find(
                &format!("{what}-torn"),
                "the file is torn; `wharf resume` writes it again".to_owned(),
                place,
            ),
            FileState::Other => self.find(
                &format!("{what}-changed"),
                "the file was changed".to_owned(),
                place,
            ),
        }
    }
}
