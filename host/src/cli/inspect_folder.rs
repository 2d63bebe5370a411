//! `wharf plugin inspect DIR`: all components of a folder. One that cannot be used does not hide the others.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Serialize;
use wharf::{Error, plugin::Inspection};

use super::{
    answer::Answer,
    error::CliError,
    escape::escaped,
    exit::Exit,
    inspect::{InspectAnswer, Problem},
    look::Look,
};

/// The files of a folder that are named as components are, in the order of their names.
pub(super) fn components(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let unreadable = |source| CliError::Unreadable {
        what: "folder",
        path: folder.into(),
        source,
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "wasm")
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// What was found of each.
#[derive(Serialize)]
pub(super) struct FolderAnswer<'a> {
    folder: String,
    components: Vec<Entry<'a>>,
}

impl<'a> FolderAnswer<'a> {
    pub(super) fn of(folder: &Path, found: &'a [(PathBuf, Result<Inspection, Error>)]) -> Self {
        Self {
            folder: folder.to_string_lossy().into_owned(),
            components: found
                .iter()
                .map(|(path, inspection)| Entry::of(path, inspection))
                .collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Inspected(Box<InspectAnswer<'a>>),
    Broken {
        component: String,
        problem: Problem,
        #[serde(skip)]
        exit: Exit,
    },
}

impl<'a> Entry<'a> {
    fn of(path: &Path, inspection: &'a Result<Inspection, Error>) -> Self {
        match inspection {
            Ok(inspection) => Self::Inspected(Box::new(InspectAnswer::of(path, inspection))),
            Err(error) => Self::Broken {
                component: path.to_string_lossy().into_owned(),
                problem: Problem::of(error),
                exit: Exit::of_error(error),
            },
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Inspected(answer) => answer.exit,
            Self::Broken { exit, .. } => *exit,
        }
    }
}

impl Answer for FolderAnswer<'_> {
    fn text(&self, look: Look) -> String {
        let usable = |entry: &&Entry<'_>| entry.exit() == Exit::Success;
        let mut text: String = self
            .components
            .iter()
            .map(|entry| match entry {
                Entry::Inspected(answer) => answer.text(look),
                Entry::Broken {
                    component, problem, ..
                } => format!(
                    "{}\n{}",
                    look.strong(&escaped(component)),
                    problem.text(look)
                ),
            })
            .collect();
        text += &format!(
            "{} of {} components can be used\n",
            self.components.iter().filter(usable).count(),
            self.components.len()
        );
        text
    }

    /// That of the first that cannot be used.
    fn exit(&self) -> Exit {
        let mut exits = self.components.iter().map(Entry::exit);
        exits
            .find(|exit| *exit != Exit::Success)
            .unwrap_or(Exit::Success)
    }
}
