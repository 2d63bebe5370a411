//! `policy.json`: the built-in permission, one file per task.
//!
//! Owns the file's form and the answer it gives. It is read at every question and nothing is kept, so that an operator
//! who edits it is obeyed by the next tool call; whatever is wrong with it is a refusal, never a yes. It is not an
//! identity provider, and it knows no tools: who may act for a task may call all of them. Called by the driver.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{durable_file, file_error::FileError, workspace::Workspace};
use crate::{
    core::ports::permission::{Acting, Permission},
    words::{
        digest::Digest,
        error::{Error, Facts, Fault, Kind},
        id::{PrincipalId, TaskId},
        json::{self, JsonBounds},
    },
};

const BOUNDS: JsonBounds = JsonBounds {
    bytes: 64 * 1024,
    depth: 3,
};

/// The permission that the policy files of a workspace give.
#[derive(Debug, Clone)]
pub struct PolicyFile {
    workspace: Workspace,
}

impl PolicyFile {
    /// The policies of a workspace.
    #[must_use]
    pub const fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

impl Permission for PolicyFile {
    fn check(&self, acting: Acting<'_>, _tool: Option<&str>) -> Result<(), Error> {
        Policy::read(&self.workspace.policy_file(acting.task))?.allow(acting)?;
        Ok(())
    }
}

/// The content of one policy file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// The fingerprint of the only request that it speaks of.
    pub fingerprint: Digest,
    /// Whether anybody may act at all.
    pub enabled: bool,
    /// Who may.
    pub principals: Vec<PrincipalId>,
}

impl Policy {
    /// Reads a policy file: at most 64 KiB of strict JSON of exactly this form.
    ///
    /// # Errors
    /// [`PolicyError`] if it is missing, unreadable or of another form.
    pub fn read(path: &Path) -> Result<Self, PolicyError> {
        let bytes = match durable_file::read(path, BOUNDS.bytes) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(PolicyError::Missing { path: path.into() }),
            Err(source) => {
                return Err(PolicyError::Unreadable {
                    path: path.into(),
                    source,
                });
            }
        };
        Self::parse(bytes).map_err(|why| PolicyError::Malformed {
            path: path.into(),
            why,
        })
    }

    /// Whether it lets the request's principal act.
    ///
    /// # Errors
    /// [`PolicyError`], which says why not.
    pub fn allow(&self, acting: Acting<'_>) -> Result<(), PolicyError> {
        let task = || acting.task.clone();
        if self.fingerprint != acting.fingerprint {
            return Err(PolicyError::OtherRequest { task: task() });
        }
        if !self.enabled {
            return Err(PolicyError::Disabled { task: task() });
        }
        if !self.principals.contains(acting.principal) {
            return Err(PolicyError::Principal {
                task: task(),
                principal: acting.principal.clone(),
            });
        }
        Ok(())
    }

    /// The bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = serde_json::to_string_pretty(self)
            .expect("digests, booleans and identifiers can be written as JSON");
        text.push('\n');
        text.into_bytes()
    }

    fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
        let value = json::parse_strict(&text, BOUNDS).map_err(|error| error.to_string())?;
        serde_json::from_value(value).map_err(|error| error.to_string())
    }
}

/// Why a policy does not allow it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// There is none.
    #[error("there is no policy at {}", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("the policy at {} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: FileError,
    },
    /// It does not have the documented form.
    #[error("the policy at {} does not have the documented form", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// It was written for another request.
    #[error("the policy of task {task} was written for another request")]
    OtherRequest {
        /// The task.
        task: TaskId,
    },
    /// It is switched off.
    #[error("the policy of task {task} is switched off")]
    Disabled {
        /// The task.
        task: TaskId,
    },
    /// The principal is not among those it names.
    #[error("the policy of task {task} does not let {principal} act")]
    Principal {
        /// The task.
        task: TaskId,
        /// Who asked.
        principal: PrincipalId,
    },
}

impl Fault for PolicyError {
    fn facts(&self) -> Facts {
        let (code, kind, hint) = match self {
            Self::Missing { .. } => (
                "policy-missing",
                Kind::Denied,
                "restore the policy file if the task may go on, then resume",
            ),
            Self::Unreadable { .. } => (
                "policy-unreadable",
                Kind::Denied,
                "make the policy file readable for this user, then resume",
            ),
            Self::Malformed { .. } => (
                "policy-malformed",
                Kind::Corrupt,
                "write the policy as documented (fingerprint, enabled, principals), then resume",
            ),
            Self::OtherRequest { .. } => (
                "policy-other-request",
                Kind::Denied,
                "put the fingerprint of this task's request into its policy if it may go on, then resume",
            ),
            Self::Disabled { .. } => (
                "policy-disabled",
                Kind::Denied,
                "set `enabled` to true in the task's policy if it may go on, then resume",
            ),
            Self::Principal { .. } => (
                "principal-not-allowed",
                Kind::Denied,
                "add the principal to the task's policy if it may act, then resume",
            ),
        };
        Facts::new(code, kind, hint)
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::Malformed { why, .. } => Some(why.clone()),
            Self::Unreadable { source, .. } => Some(source.cause()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{
        super::fixtures::{assert_error, request, workspace},
        *,
    };

    /// What the policy answers once its file has been given to `change`.
    fn answer(change: impl FnOnce(&Path)) -> Result<(), Error> {
        let (_folder, workspace) = workspace();
        let request = request("goal");
        let _owner = workspace.claim(&request.id).unwrap();
        let path = workspace.policy_file(&request.id);
        let policy = Policy {
            fingerprint: request.fingerprint(),
            enabled: true,
            principals: vec!["somebody".parse().unwrap(), request.principal.clone()],
        };
        std::fs::write(&path, policy.to_bytes()).unwrap();
        let permission = PolicyFile::new(workspace);
        permission.check(request.acting(), None).unwrap();
        permission.check(request.acting(), Some("any")).unwrap();
        // The same object is asked again: nothing may be kept.
        change(&path);
        permission.check(request.acting(), Some("any"))
    }

    fn edited(edit: impl FnOnce(&mut Value)) -> Result<(), Error> {
        answer(|path| {
            let mut value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            edit(&mut value);
            std::fs::write(path, value.to_string()).unwrap();
        })
    }

    #[test]
    fn an_edited_policy_is_obeyed_by_the_next_call() {
        edited(|_| ()).unwrap();
        assert_error(
            edited(|policy| policy["enabled"] = false.into()).unwrap_err(),
            "policy-disabled",
            Kind::Denied,
        );
        assert_error(
            edited(|policy| policy["principals"] = json!(["somebody"])).unwrap_err(),
            "principal-not-allowed",
            Kind::Denied,
        );
        assert_error(
            edited(|policy| policy["principals"] = json!([])).unwrap_err(),
            "principal-not-allowed",
            Kind::Denied,
        );
        assert_error(
            edited(|policy| policy["fingerprint"] = json!(Digest::of("other"))).unwrap_err(),
            "policy-other-request",
            Kind::Denied,
        );
    }

    #[test]
    fn a_policy_that_is_missing_or_unreadable_denies() {
        assert_error(
            answer(|path| std::fs::remove_file(path).unwrap()).unwrap_err(),
            "policy-missing",
            Kind::Denied,
        );
        let folder_in_its_place = answer(|path| {
            std::fs::remove_file(path).unwrap();
            std::fs::create_dir(path).unwrap();
        });
        let file_above_it = answer(|path| {
            let folder = path.parent().unwrap();
            std::fs::remove_dir_all(folder).unwrap();
            std::fs::write(folder, b"").unwrap();
        });
        let too_large = answer(|path| {
            let mut text = std::fs::read(path).unwrap();
            text.resize(BOUNDS.bytes + 1, b' ');
            std::fs::write(path, text).unwrap();
        });
        for denied in [folder_in_its_place, file_above_it, too_large] {
            assert_error(denied.unwrap_err(), "policy-unreadable", Kind::Denied);
        }
    }

    #[test]
    fn a_policy_of_any_other_form_is_corrupt() {
        for refused in [
            edited(|policy| policy["more"] = 1.into()),
            edited(|policy| policy["enabled"] = "true".into()),
            edited(|policy| policy["enabled"] = 1.into()),
            edited(|policy| policy["principals"] = "operator".into()),
            edited(|policy| policy["principals"] = json!(["*", ""])),
            edited(|policy| policy["fingerprint"] = "x".into()),
            edited(|policy| drop(policy.as_object_mut().unwrap().remove("enabled"))),
            edited(|policy| drop(policy.as_object_mut().unwrap().remove("principals"))),
            edited(|policy| drop(policy.as_object_mut().unwrap().remove("fingerprint"))),
            answer(|path| std::fs::write(path, b"").unwrap()),
            answer(|path| std::fs::write(path, b"\xff").unwrap()),
            answer(|path| {
                let text = std::fs::read_to_string(path).unwrap();
                let twice = text.replace("\"enabled\"", "\"enabled\": true, \"enabled\"");
                std::fs::write(path, twice).unwrap();
            }),
            answer(|path| {
                let text = std::fs::read_to_string(path).unwrap();
                std::fs::write(path, &text[..text.len() / 2]).unwrap();
            }),
            answer(|path| {
                let text = std::fs::read_to_string(path).unwrap();
                std::fs::write(path, text + "{}").unwrap();
            }),
        ] {
            assert_error(refused.unwrap_err(), "policy-malformed", Kind::Corrupt);
        }
    }
}
