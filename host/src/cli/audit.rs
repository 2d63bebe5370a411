//! `wharf audit`: verifies a workspace. Findings are results, not errors.

use wharf::{
    Error,
    host::{self, AuditReport},
};

use super::{
    Session,
    answer::{Answer, Reply},
    args::AuditArgs,
    drive,
    error::CliError,
    escape::escaped,
    exit::Exit,
    look::Look,
};

/// Verifies the task that is named, or all.
pub(super) fn run(session: &Session, arguments: &AuditArgs) -> Result<Reply, Error> {
    let directory = &arguments.look.dir;
    let config = arguments.config.read(&session.environment)?.config;
    let cache = drive::compile_cache(session);
    let report = host::audit(
        directory,
        arguments.look.task.as_ref(),
        cache.as_deref(),
        &config.limits,
    )?;
    if report.tasks.is_empty() {
        return Err(CliError::NoTask {
            directory: directory.clone(),
        }
        .into());
    }
    Reply::answer(&report, session)
}

impl Answer for AuditReport {
    fn text(&self, look: Look) -> String {
        let mut text = String::new();
        for task in &self.tasks {
            let verdict = match task.findings.len() {
                0 => look.good("no finding"),
                1 => look.bad("1 finding"),
                many => look.bad(&format!("{many} findings")),
            };
            text += &format!(
                "{}  {}  {verdict}\n",
                look.strong(&format!("task {}", task.task)),
                look.status(&task.status)
            );
            for finding in &task.findings {
                let code = look.bad(&escaped(&finding.code));
                text += &format!("  {code}: {}\n", escaped(&finding.message));
                text += &format!(
                    "    {}\n",
                    look.faint(&format!("at {}", escaped(&finding.place)))
                );
            }
            for skipped in &task.skipped {
                text += &format!("  {}: {}\n", look.warn("skipped"), escaped(skipped));
            }
        }
        text
    }

    fn exit(&self) -> Exit {
        if self.is_clean() {
            Exit::Success
        } else {
            Exit::Failed
        }
    }
}
