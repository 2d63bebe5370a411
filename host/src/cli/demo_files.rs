//! The files of a demo, beside its component: what may be filled in, and the scenarios. Knows nothing of the domain.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;
use wharf::{
    Error, Kind, Request, Task,
    core::{contract::OperationKey, request::REQUEST_BOUNDS},
    words::{
        digest::Digest,
        error::{Facts, Fault},
    },
};

use super::{escape::escaped, input};

const MANIFEST: &str = "demo.json";
const DIGEST: &str = "/plugin/digest";

/// The folder of a demo and what its manifest says.
#[derive(Debug)]
pub(super) struct DemoFiles {
    folder: PathBuf,
    manifest: Manifest,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Manifest {
    /// The file of the request that is filled in.
    request: String,
    /// Where in the request each option goes, by JSON pointer.
    options: BTreeMap<String, String>,
    default_scenario: String,
    scenarios: Vec<Scenario>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Scenario {
    name: String,
    description: String,
    /// Files of SQL, run in this order.
    seed: Vec<String>,
    /// The operation whose response is lost.
    lose_response_of: Option<String>,
}

impl DemoFiles {
    /// Reads the manifest in `NAME.demo/`, beside the component `NAME.wasm`.
    pub(super) fn beside(component: &Path) -> Result<Self, Error> {
        let folder = component.with_extension("demo");
        let path = folder.join(MANIFEST);
        if !path.is_file() {
            return Err(DemoError::NoDemo {
                component: component.into(),
                folder,
            }
            .into());
        }
        let manifest = serde_json::from_str(&input::text("demo", &path, REQUEST_BOUNDS.bytes)?);
        Ok(Self {
            manifest: manifest.map_err(|source| DemoError::Manifest { path, source })?,
            folder,
        })
    }

    /// The scenarios with their descriptions, for a help text.
    pub(super) fn list(&self) -> String {
        let mut list = String::new();
        for Scenario {
            name, description, ..
        } in &self.manifest.scenarios
        {
            let is_default = *name == self.manifest.default_scenario;
            let default = if is_default { "  [default]" } else { "" };
            list += &format!("  {}{default}\n", escaped(name));
            for line in wrapped(&escaped(description), 70) {
                list += &format!("          {line}\n");
            }
        }
        list
    }

    /// The task of a scenario, with the given options filled in.
    pub(super) fn task(
        &self,
        scenario: Option<&str>,
        options: &[(&str, Value)],
        component: Vec<u8>,
    ) -> Result<Task, Error> {
        let scenario = self.scenario(scenario)?;
        let text = input::text(
            "request",
            &self.folder.join(&self.manifest.request),
            REQUEST_BOUNDS.bytes,
        )?;
        let mut request: Value =
            serde_json::from_str(&text).map_err(|source| DemoError::Manifest {
                path: self.folder.join(&self.manifest.request),
                source,
            })?;
        for (option, value) in options {
            let pointer =
                self.manifest
                    .options
                    .get(*option)
                    .ok_or_else(|| DemoError::NoOption {
                        option: (*option).to_owned(),
                    })?;
            fill(&mut request, pointer, value.clone())?;
        }
        fill(
            &mut request,
            DIGEST,
            Digest::of(&component).to_string().into(),
        )?;
        let request = Request::read(&format!("{request:#}\n"))?;
        let mut seed = String::new();
        for file in &scenario.seed {
            seed += &input::text("seed", &self.folder.join(file), input::MAX_SQL_BYTES)?;
            seed.push('\n');
        }
        let task = Task::new(request, component).with_seed(seed);
        match &scenario.lose_response_of {
            None => Ok(task),
            Some(key) => {
                let key = OperationKey::new(key.clone())
                    .ok_or_else(|| DemoError::Operation { key: key.clone() })?;
                Ok(task.losing_response_of(key))
            }
        }
    }

    fn scenario(&self, name: Option<&str>) -> Result<&Scenario, DemoError> {
        let Manifest {
            default_scenario,
            scenarios,
            ..
        } = &self.manifest;
        let name = name.unwrap_or(default_scenario);
        scenarios
            .iter()
            .find(|scenario| scenario.name == name)
            .ok_or_else(|| DemoError::NoScenario {
                name: name.into(),
                known: scenarios
                    .iter()
                    .map(|scenario| scenario.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}

/// Puts a value where the template has one.
fn fill(request: &mut Value, pointer: &str, value: Value) -> Result<(), DemoError> {
    let place = request
        .pointer_mut(pointer)
        .ok_or_else(|| DemoError::Pointer {
            pointer: pointer.into(),
        })?;
    *place = value;
    Ok(())
}

/// The words of a text in lines of at most so many characters, where no word is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// What is wrong with a demo or with what is asked of it.
#[derive(Debug, thiserror::Error)]
pub(super) enum DemoError {
    /// The component has no demo.
    #[error("the component {} has no demo", component.display())]
    NoDemo { component: PathBuf, folder: PathBuf },
    /// A file of the demo is not what it should be.
    #[error("{} is not of the form that a demo has", path.display())]
    Manifest {
        path: PathBuf,
        source: serde_json::Error,
    },
    /// The request has no such place.
    #[error("the demo's request has no place {pointer}")]
    Pointer { pointer: String },
    /// The operation whose response is lost has no valid name.
    #[error("the demo loses the response of {key:?}")]
    Operation { key: String },
    /// The demo does not know the option.
    #[error("this demo has no option `--{option}`")]
    NoOption { option: String },
    /// The demo does not know the scenario.
    #[error("this demo has no scenario `{name}`")]
    NoScenario { name: String, known: String },
}

impl Fault for DemoError {
    fn facts(&self) -> Facts {
        let rebuild = "`cargo xtask demo` puts a demo's files in place again; nothing was written";
        let (code, hint) = match self {
            Self::NoDemo { .. } => (
                "demo-missing",
                "run `cargo xtask demo`, or name a component that has a demo with `--plugin`",
            ),
            Self::Manifest { .. } | Self::Pointer { .. } | Self::Operation { .. } => {
                ("demo-broken", rebuild)
            }
            Self::NoOption { .. } => ("demo-option", "leave the option out; nothing was written"),
            Self::NoScenario { .. } => (
                "demo-scenario",
                "name one of the scenarios; nothing was written",
            ),
        };
        Facts::new(code, Kind::InvalidInput, hint)
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::NoDemo { folder, .. } => {
                Some(format!("there is no {}", folder.join(MANIFEST).display()))
            }
            Self::Manifest { .. } => None,
            Self::Pointer { .. } => Some(format!("{MANIFEST} points at it")),
            Self::Operation { .. } => Some("the name of an operation has 1 to 200 bytes".into()),
            Self::NoOption { .. } => Some(format!("its {MANIFEST} does not say where it goes")),
            Self::NoScenario { known, .. } => Some(format!("it has {known}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn demo(folder: &Path) -> DemoFiles {
        let demo = folder.join("p.demo");
        fs::create_dir(&demo).unwrap();
        let manifest = r#"{"request": "r.json", "options": {"goal": "/goal", "lost": "/input/nowhere"}, "defaultScenario": "one",
            "scenarios": [{"name": "one", "description": "First.", "seed": ["a.sql"]}, {"name": "other", "description": "Second.", "seed": ["a.sql"], "loseResponseOf": ""}]}"#;
        fs::write(demo.join("demo.json"), manifest).unwrap();
        fs::write(demo.join("a.sql"), "SELECT 1;").unwrap();
        let request = r#"{"id": "t", "tenant": "t", "principal": "p", "goal": "g", "plugin": {"name": "p", "version": "1", "digest": ""},
            "budgets": {"maxPlans": 1, "maxActions": 1, "deadlineSeconds": 1}, "input": {}}"#;
        fs::write(demo.join("r.json"), request).unwrap();
        DemoFiles::beside(&folder.join("p.wasm")).unwrap()
    }

    #[test]
    fn options_are_filled_in_where_the_manifest_points() {
        let mut request = serde_json::json!({"a": {"b": [1, 2]}});
        fill(&mut request, "/a/b/1", "x".into()).unwrap();
        assert_eq!(request, serde_json::json!({"a": {"b": [1, "x"]}}));
        assert!(matches!(
            fill(&mut request, "/a/c", 1.into()),
            Err(DemoError::Pointer { .. })
        ));
    }

    #[test]
    fn every_fault_of_a_demo_has_a_code_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let code_beside = DemoFiles::beside(&folder.path().join("p.wasm"))
            .unwrap_err()
            .code();
        assert_eq!(code_beside, "demo-missing");
        let demo = demo(folder.path());
        let code = |scenario: Option<&str>, options: &[(&str, Value)]| {
            demo.task(scenario, options, vec![])
                .err()
                .map(|error| error.code())
        };
        assert_eq!(code(None, &[]), None);
        assert_eq!(code(None, &[("goal", "new".into())]), None);
        assert_eq!(
            code(None, &[("goal", " ".into())]),
            Some("request-out-of-bounds")
        );
        assert_eq!(code(None, &[("unknown", 1.into())]), Some("demo-option"));
        assert_eq!(code(None, &[("lost", 1.into())]), Some("demo-broken"));
        assert_eq!(code(Some("none"), &[]), Some("demo-scenario"));
        assert_eq!(code(Some("other"), &[]), Some("demo-broken"));
    }

    #[test]
    fn the_scenarios_are_listed_with_the_default() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            demo(folder.path()).list(),
            "  one  [default]\n          First.\n  other\n          Second.\n"
        );
        assert_eq!(wrapped("a bc  def", 4), ["a bc", "def"]);
    }
}
