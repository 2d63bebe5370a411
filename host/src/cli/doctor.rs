//! `wharf doctor`: what this machine offers. What does not work is a result, not an error.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use tokio::runtime::Builder;
use wharf::{
    Error,
    host::{Examination, Probe},
};

use super::{
    Session,
    answer::{Answer, Reply},
    args::directory,
    config::{ConfigArgs, Configured},
    context::{ContextChoice, context},
    error::CliError,
    escape::escaped,
    exit::Exit,
    look::Look,
    model,
};

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Where workspaces are to be; default: the folder for temporary files.
    #[arg(long, value_name = "DIR", value_parser = directory())]
    dir: Option<PathBuf>,
    /// A Redis to be tried, at `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`.
    #[arg(long, value_name = "embedded|ADDRESS", default_value = "embedded", value_parser = context())]
    context: ContextChoice,
    #[command(flatten)]
    config: ConfigArgs,
}

/// Tries everything.
pub(super) fn run(session: &Session, arguments: &DoctorArgs) -> Result<Reply, Error> {
    let environment = &session.environment;
    let temporary = || environment.temporary.clone();
    let mut examination = Examination::of(arguments.dir.clone().unwrap_or_else(temporary));
    examination.compile_cache = environment.compile_cache.clone();
    examination.redis = arguments.context.address(environment)?;
    let Configured { config, folder } = arguments.config.read(environment)?;
    let client = |(name, settings): (&String, _)| (name.clone(), model::client(settings, &folder));
    examination.models = config.providers.iter().map(client).collect();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| CliError::Setup { source })?;
    let probes = runtime.block_on(examination.run());
    // A name that is still being looked up is not waited for.
    runtime.shutdown_background();
    Reply::answer(&DoctorAnswer { probes }, session)
}

#[derive(Serialize)]
struct DoctorAnswer {
    probes: Vec<Probe>,
}

impl DoctorAnswer {
    fn failed(&self) -> Vec<&str> {
        let failed = |probe: &&Probe| probe.ok == Some(false);
        let failed = self.probes.iter().filter(failed);
        failed.map(|probe| probe.name).collect()
    }
}

impl Answer for DoctorAnswer {
    fn text(&self, look: Look) -> String {
        let mut text = String::new();
        for probe in &self.probes {
            let mark = match probe.ok {
                Some(true) => look.good("ok     "),
                Some(false) => look.bad("failed "),
                None => look.faint("-      "),
            };
            let measured = match (probe.value, probe.unit) {
                (Some(value), Some(unit)) => format!("{value} {unit}"),
                _ => String::new(),
            };
            let detail = escaped(&probe.detail);
            text += &format!("{mark}{:16} {measured:>12}  {detail}\n", probe.name);
        }
        match &self.failed()[..] {
            [] => text,
            failed => text + &format!("{}\n", look.bad(&format!("failed: {}", failed.join(", ")))),
        }
    }

    fn exit(&self) -> Exit {
        if self.failed().is_empty() {
            Exit::Success
        } else {
            Exit::Failed
        }
    }
}
