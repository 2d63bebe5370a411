//! `wharf plugin inspect`: what a component is, and whether it can be used as a plugin.

use std::path::Path;

use serde::Serialize;
use wharf::{
    Error, Kind, PluginLimits,
    core::contract::{Descriptor, Tool},
    plugin::{CompileCache, EngineLimits, Import, Inspection, PluginEngine, VerifiedBytes},
    technologies::admission::MAX_COMPONENT_BYTES,
    words::digest::Digest,
};

use super::{
    Session,
    answer::{Answer, Reply},
    args::InspectArgs,
    drive,
    escape::escaped,
    exit::Exit,
    input,
    inspect_folder::{FolderAnswer, components},
    look::Look,
};

/// Looks at a component, or at all of a folder. That one cannot be used as a plugin is a finding, and an exit code of its own.
pub(super) fn run(session: &Session, arguments: &InspectArgs) -> Result<Reply, Error> {
    let path = &arguments.component;
    let inspector = Inspector {
        engine: PluginEngine::new(EngineLimits::standard())?,
        cache: drive::compile_cache(session)
            .map(CompileCache::open)
            .transpose()?,
    };
    if !path.is_dir() {
        let inspection = inspector.inspect(path)?;
        return Reply::answer(&InspectAnswer::of(path, &inspection), session);
    }
    let found: Vec<_> = components(path)?
        .into_iter()
        .map(|path| {
            let inspection = inspector.inspect(&path);
            (path, inspection)
        })
        .collect();
    Reply::answer(&FolderAnswer::of(path, &found), session)
}

struct Inspector {
    engine: PluginEngine,
    cache: Option<CompileCache>,
}

impl Inspector {
    fn inspect(&self, path: &Path) -> Result<Inspection, Error> {
        let limits = PluginLimits::standard();
        let bytes = input::bytes("component", path, MAX_COMPONENT_BYTES)?;
        let bytes = VerifiedBytes::pin(bytes, limits.component_bytes)?;
        Ok(Inspection::of(
            &self.engine,
            &bytes,
            limits,
            self.cache.as_ref(),
        )?)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InspectAnswer<'a> {
    component: String,
    digest: Digest,
    bytes: usize,
    contract_versions: &'a [String],
    imports: Vec<ImportAnswer<'a>>,
    descriptor: Option<DescriptorAnswer<'a>>,
    problem: Option<Problem>,
    #[serde(skip)]
    pub(super) exit: Exit,
}

#[derive(Serialize)]
struct ImportAnswer<'a> {
    name: &'a str,
    offered: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DescriptorAnswer<'a> {
    name: &'a str,
    version: &'a str,
    instructions: &'a str,
    input_schema: &'a serde_json::value::RawValue,
    tools: Vec<ToolAnswer<'a>>,
    migrations: Vec<MigrationAnswer<'a>>,
    max_steps: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolAnswer<'a> {
    name: &'a str,
    description: &'a str,
    effect: wharf::core::contract::Effect,
    postcondition: &'a str,
    arguments: Option<&'a serde_json::value::RawValue>,
}

#[derive(Serialize)]
struct MigrationAnswer<'a> {
    version: u32,
    sql: &'a str,
}

/// Why it cannot be used as a plugin.
#[derive(Serialize)]
pub(super) struct Problem {
    code: &'static str,
    kind: Kind,
    what: String,
    why: String,
    fix: String,
}

impl<'a> InspectAnswer<'a> {
    pub(super) fn of(path: &Path, found: &'a Inspection) -> Self {
        Self {
            component: path.to_string_lossy().into_owned(),
            digest: found.digest,
            bytes: found.bytes,
            contract_versions: &found.contract_versions,
            imports: found
                .imports
                .iter()
                .map(|Import { name, offered }| ImportAnswer {
                    name,
                    offered: *offered,
                })
                .collect(),
            descriptor: found.descriptor.as_ref().ok().map(DescriptorAnswer::of),
            problem: found.descriptor.as_ref().err().map(Problem::of),
            exit: found
                .descriptor
                .as_ref()
                .err()
                .map_or(Exit::Success, Exit::of_error),
        }
    }
}

impl<'a> DescriptorAnswer<'a> {
    fn of(descriptor: &'a Descriptor) -> Self {
        let tool = |tool: &'a Tool| ToolAnswer {
            name: &tool.name,
            description: &tool.description,
            effect: tool.effect,
            postcondition: &tool.postcondition,
            arguments: tool.arguments.as_ref().map(|schema| schema.raw()),
        };
        Self {
            name: &descriptor.name,
            version: &descriptor.version,
            instructions: &descriptor.instructions,
            input_schema: descriptor.input_schema.raw(),
            tools: descriptor.tools.iter().map(tool).collect(),
            migrations: descriptor
                .migrations
                .iter()
                .map(|migration| MigrationAnswer {
                    version: migration.version,
                    sql: &migration.sql,
                })
                .collect(),
            max_steps: descriptor.max_steps,
        }
    }
}

impl Problem {
    pub(super) fn of(error: &Error) -> Self {
        Self {
            code: error.code(),
            kind: error.kind(),
            what: error.to_string(),
            why: error.why(),
            fix: error.hint().into_owned(),
        }
    }

    pub(super) fn text(&self, look: Look) -> String {
        let code = look.bad(&format!("unusable[{}]", self.code));
        format!(
            "{code}: {}\n  why: {}\n  fix: {}\n",
            escaped(&self.what),
            escaped(&self.why),
            escaped(&self.fix)
        )
    }
}

impl Answer for InspectAnswer<'_> {
    fn text(&self, look: Look) -> String {
        let mut text = format!("{}\n", look.strong(&escaped(&self.component)));
        let mut field = |name: &str, value: &str| {
            text += &format!("  {} {value}\n", look.faint(&format!("{name:<10}")))
        };
        field("digest", &self.digest.to_string());
        field("size", &format!("{} bytes", self.bytes));
        let versions = self.contract_versions.join(", ");
        field(
            "contract",
            &if versions.is_empty() {
                look.warn("none: this is no plugin")
            } else {
                escaped(&versions)
            },
        );
        for (index, import) in self.imports.iter().enumerate() {
            let name = escaped(import.name);
            let line = if import.offered {
                name
            } else {
                format!("{name}  {}", look.bad("not offered"))
            };
            field(if index == 0 { "imports" } else { "" }, &line);
        }
        if let Some(descriptor) = &self.descriptor {
            field(
                "plugin",
                &escaped(&format!("{} {}", descriptor.name, descriptor.version)),
            );
            field("plans", &format!("up to {} steps", descriptor.max_steps));
            let width = descriptor
                .tools
                .iter()
                .map(|tool| tool.name.len())
                .max()
                .unwrap_or(0);
            for (index, tool) in descriptor.tools.iter().enumerate() {
                let effect = match tool.effect {
                    wharf::core::contract::Effect::Read => "reads ",
                    wharf::core::contract::Effect::Write => "writes",
                };
                let line = format!(
                    "{:width$}  {effect}  to reach {}",
                    tool.name,
                    escaped(tool.postcondition)
                );
                field(if index == 0 { "tools" } else { "" }, &line);
            }
            let migrations: Vec<String> = descriptor
                .migrations
                .iter()
                .map(|migration| migration.version.to_string())
                .collect();
            field(
                "migrations",
                &if migrations.is_empty() {
                    "none".into()
                } else {
                    migrations.join(", ")
                },
            );
        }
        if let Some(problem) = &self.problem {
            text += &problem.text(look);
        }
        text
    }

    fn exit(&self) -> Exit {
        self.exit
    }
}
