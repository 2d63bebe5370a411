//! `wharf agent`: an agent that plans with tools over the workspace's memory; and going on with one.

use std::{path::Path, path::PathBuf, pin::Pin, sync::Arc};

use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;
use wharf::{
    Error, TaskId,
    core::{
        agent::{
            request::{AgentBudgets, AgentFields, AgentRequest},
            state::WaitingCall,
        },
        ports::agent_model::{AgentModel, Conversation, Reply as ModelReply},
    },
    host::{self, Agent, AgentFinished, AgentOutcome, AgentTask, Host},
    words::{
        clock::{Clock as _, SystemClock},
        id::{PrincipalId, RunId, TenantId},
    },
};

use super::{
    Session,
    answer::{Answer, Reply},
    args::directory,
    config::ConfigArgs,
    drive::{self, Driven},
    error::CliError,
    escape::escaped,
    exit::Exit,
    look::Look,
    results::{self, Place},
    way::{Means, MeansArgs},
};

/// As typed.
#[derive(Debug, Args)]
pub(super) struct AgentArgs {
    /// The workspace: missing, empty, or one of the same tenant.
    #[arg(long, value_name = "DIR", value_parser = directory())]
    dir: PathBuf,
    /// What is wanted.
    #[arg(long, value_name = "TEXT")]
    prompt: String,
    /// The agent's name: the source of what it writes. All agents of a workspace share their plans.
    #[arg(long, value_name = "NAME", default_value = "agent")]
    agent: PrincipalId,
    /// The task; the same one again goes on with it. Default: a new one.
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// Who asks.
    #[arg(long, value_name = "NAME", default_value = "operator")]
    principal: PrincipalId,
    /// Whose workspace it becomes where it is new. Default: `default`.
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantId>,
    /// A tool each of whose calls waits for `wharf approve` or `wharf deny`; may be given several times.
    #[arg(long, value_name = "TOOL")]
    ask: Vec<String>,
    /// A tool that may not be called; may be given several times.
    #[arg(long, value_name = "TOOL")]
    deny: Vec<String>,
    /// Questions to the model: 1 to 100.
    #[arg(long, value_name = "N", default_value_t = AgentBudgets::STANDARD.max_turns)]
    max_turns: u32,
    /// Tool calls: 0 to 400.
    #[arg(long, value_name = "N", default_value_t = AgentBudgets::STANDARD.max_tool_calls)]
    max_tool_calls: u32,
    /// Tokens asked and answered: 1 to 100000000.
    #[arg(long, value_name = "N", default_value_t = AgentBudgets::STANDARD.max_tokens)]
    max_tokens: u64,
    /// Wall time, pauses included: 1 to 604800.
    #[arg(long, value_name = "N", default_value_t = AgentBudgets::STANDARD.deadline_seconds)]
    deadline_seconds: u32,
    #[command(flatten)]
    means: MeansArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

/// Runs a task, or goes on with the same one.
pub(super) fn run(session: &Session, arguments: &AgentArgs) -> Result<Reply, Error> {
    let means = arguments
        .means
        .resolve(&arguments.config, &session.environment)?;
    let request = AgentRequest::new(&AgentFields {
        id: match &arguments.task {
            Some(task) => task.clone(),
            None => new_task(),
        },
        tenant: match &arguments.tenant {
            Some(tenant) => tenant.clone(),
            None => host::tenant(&arguments.dir)?.unwrap_or_else(host::standard_tenant),
        },
        principal: arguments.principal.clone(),
        agent: arguments.agent.clone(),
        prompt: arguments.prompt.clone(),
        budgets: AgentBudgets {
            max_turns: arguments.max_turns,
            max_tool_calls: arguments.max_tool_calls,
            max_tokens: arguments.max_tokens,
            deadline_seconds: arguments.deadline_seconds,
        },
        ask: arguments.ask.clone(),
        deny: arguments.deny.clone(),
    })?;
    let model = means.model.clone().ok_or(CliError::NoAgentModel)?;
    let task = AgentTask::new(request);
    drive(session, &arguments.dir, task, &means, model)
}

/// Goes on with a saved task; a finished one asks no model.
pub(super) fn resume(
    session: &Session,
    workspace: &Path,
    task: TaskId,
    means: &Means,
) -> Result<Reply, Error> {
    let model = means.model.clone().unwrap_or_else(|| Arc::new(NoModel));
    drive(session, workspace, AgentTask::Saved(task), means, model)
}

/// In the place of a model that nobody has named.
struct NoModel;

impl AgentModel for NoModel {
    fn check(&self, _conversation: &Conversation<'_>) -> Result<(), Error> {
        Err(CliError::NoAgentModel.into())
    }

    fn answer<'a>(
        &'a self,
        _conversation: &'a Conversation<'a>,
        _deltas: &'a (dyn Fn(&str) + Sync),
    ) -> Pin<Box<dyn Future<Output = Result<ModelReply, Error>> + Send + 'a>> {
        Box::pin(std::future::ready(Err(CliError::NoAgentModel.into())))
    }
}

/// Runs an agent's task in a workspace, named by an absolute path.
fn drive(
    session: &Session,
    workspace: &Path,
    task: AgentTask,
    means: &Means,
    model: Arc<dyn AgentModel>,
) -> Result<Reply, Error> {
    let id = task.id().clone();
    let place = Place {
        workspace,
        task: &id,
    };
    let run = async |host: Host, options| {
        let agent: Agent = host.make_agent(Arc::clone(&model));
        let outcome = host.run_agent(&agent, task, options).await?;
        let shows_answer = matches!(
            outcome,
            AgentOutcome::Finished(_) | AgentOutcome::Waiting(_)
        );
        Ok(Driven {
            outcome,
            shows_answer,
        })
    };
    match drive::driven(session, place, means, run)? {
        AgentOutcome::Finished(finished) => {
            let report = serde_json::from_str(&finished.report)
                .map_err(|source| CliError::Json { source })?;
            let answer = FinishedAnswer {
                workspace,
                task: &id,
                directory: &finished.directory,
                report,
                finished: &finished,
            };
            Reply::answer(&answer, session)
        }
        AgentOutcome::Waiting(call) => {
            let directory = host::status(workspace, &id, SystemClock.now())?.directory;
            let answer = WaitingAnswer {
                workspace,
                task: &id,
                directory: &directory,
                waiting: &call,
                place,
            };
            Reply::answer(&answer, session)
        }
        _ => Ok(results::cancelled(session, place)),
    }
}

/// One that no other has.
fn new_task() -> TaskId {
    format!("agent-{}", RunId::beginning_at(SystemClock.now()))
        .parse()
        .expect("a UUID is an identifier")
}

#[derive(Serialize)]
struct FinishedAnswer<'a> {
    workspace: &'a Path,
    task: &'a TaskId,
    directory: &'a Path,
    report: &'a RawValue,
    #[serde(skip)]
    finished: &'a AgentFinished,
}

impl Answer for FinishedAnswer<'_> {
    fn text(&self, look: Look) -> String {
        let status = self.finished.status.code();
        let heading = look.strong(&format!("task {}", self.task));
        let mut text = format!("{heading}  {}", look.status(status));
        match &self.finished.answer {
            Some(answer) => {
                text.push('\n');
                for line in answer.lines() {
                    text += &format!("{}\n", escaped(line));
                }
            }
            None => text += &format!(" ({})\n", self.finished.stop_reason.code()),
        }
        let output = self.directory.join("output").join("report.json");
        let report = format!("report {}", escaped(&output.to_string_lossy()));
        text + &format!("{}\n", look.faint(&report))
    }

    fn exit(&self) -> Exit {
        Exit::of_status(self.finished.status)
    }
}

#[derive(Serialize)]
struct WaitingAnswer<'a> {
    workspace: &'a Path,
    task: &'a TaskId,
    directory: &'a Path,
    waiting: &'a WaitingCall,
    #[serde(skip)]
    place: Place<'a>,
}

impl Answer for WaitingAnswer<'_> {
    fn text(&self, look: Look) -> String {
        format!(
            "{}: {} waits for a decision\n  {}\ndecide with: {}\n         or: {}\nthen       : {} --planner ...\n",
            look.warn("waiting"),
            escaped(&self.waiting.tool),
            escaped(&self.waiting.arguments),
            escaped(&self.place.decision("approve", self.waiting)),
            escaped(&self.place.decision("deny", self.waiting)),
            escaped(&self.place.command("resume")),
        )
    }

    fn exit(&self) -> Exit {
        Exit::Waiting
    }
}
