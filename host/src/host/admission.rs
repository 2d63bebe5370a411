//! Admission: host and plugin check a request before anything is written; then everything that the admitted record relies on
//! becomes durable.

use std::sync::Arc;

use jiff::Timestamp;

use super::{builder::Host, stores::Stores, task::NewTask};
use crate::{
    business::{SqlLimits, check_seed},
    core::{
        chain::Event,
        contract::{Subject, Violation},
        metering::CallUse,
        plan_execute::state::TaskState,
        ports::domain::{Declared as _, Domain as _},
        request::Request,
    },
    plugin::Plugin,
    technologies::{
        admission::{Admission, Component, stored_request},
        faults_file::Faults,
        task_lock::TaskLock,
    },
    words::{
        digest::Digest,
        error::{Error, Facts, Fault, Kind},
        id::TaskId,
    },
};

/// A request that host and plugin accept.
pub(super) struct Checked<'n> {
    component: Component<'n>,
    plugin: Arc<Plugin>,
    subject: Subject,
    calls: Vec<CallUse>,
}

/// A task whose files are durable; the first record is still to come.
pub(super) struct Admitted {
    pub(super) request: Arc<Request>,
    pub(super) plugin: Arc<Plugin>,
    pub(super) first: Event,
    /// What the plugin's check of the request used.
    pub(super) calls: Vec<CallUse>,
}

/// Checks without writing anything.
pub(super) fn check<'n>(
    host: &Host,
    new: &'n NewTask,
    stores: Option<&Stores>,
) -> Result<Checked<'n>, Error> {
    let request = &new.request;
    let component = check_component(host, request, &new.component)?;
    let plugin = host.plugin(Arc::clone(&new.component), &request.plugin)?;
    let descriptor = plugin.descriptor();
    if (descriptor.name.as_str(), descriptor.version.as_str())
        != (
            request.plugin.name.as_str(),
            request.plugin.version.as_str(),
        )
    {
        return Err(AdmissionError::OtherPlugin {
            named: format!("{} {}", request.plugin.name, request.plugin.version),
            found: format!("{} {}", descriptor.name, descriptor.version),
        }
        .into());
    }
    let meter = host.meter(0, stores);
    let subject = plugin
        .metered(Arc::clone(&meter))
        .check_task(request)?
        .map_err(|violations| AdmissionError::Refused {
            task: request.id.clone(),
            violations,
        })?;
    if let Some(seed) = &new.seed {
        check_seed(
            &request.plugin.name,
            &descriptor.migrations,
            seed,
            &SqlLimits::standard(),
        )?;
    }
    Ok(Checked {
        component,
        plugin,
        subject,
        calls: meter.take(),
    })
}

/// Makes durable what the admitted record relies on: the plugin's tables, the seed, the files of the task.
pub(super) fn admit(
    stores: &Stores,
    lock: &TaskLock,
    new: &NewTask,
    checked: Checked<'_>,
    now: Timestamp,
) -> Result<Admitted, Error> {
    let Checked {
        component,
        plugin,
        subject,
        calls,
    } = checked;
    let request = Arc::new(new.request.clone());
    match stored_request(&stores.workspace, &request.id)? {
        Some(prepared) if prepared.fingerprint() != request.fingerprint() => {
            return Err(AdmissionError::TaskChanged {
                task: request.id.clone(),
            }
            .into());
        }
        _ => (),
    }
    stores.install(&plugin, &request, now)?;
    if let Some(seed) = &new.seed {
        stores.seed(&request.plugin.name, seed, now)?;
    }
    let faults = new
        .lose_response_of
        .clone()
        .map(|lose_response_of| Faults { lose_response_of });
    Admission {
        request: &request,
        component,
        principals: std::slice::from_ref(&request.principal),
        faults: faults.as_ref(),
    }
    .write(&stores.workspace, lock, &stores.components)?;
    stores.permission.check(request.acting(), None)?;
    let first = TaskState::admission(&request, subject);
    Ok(Admitted {
        request,
        plugin,
        first,
        calls,
    })
}

/// Whether a task that is handed in again is the one that was admitted.
pub(super) fn check_same(host: &Host, admitted: &Request, new: &NewTask) -> Result<(), Error> {
    check_component(host, &new.request, &new.component)?;
    if admitted.fingerprint() == new.request.fingerprint() {
        Ok(())
    } else {
        Err(AdmissionError::TaskChanged {
            task: new.request.id.clone(),
        }
        .into())
    }
}

fn check_component<'n>(
    host: &Host,
    request: &Request,
    bytes: &'n Arc<[u8]>,
) -> Result<Component<'n>, AdmissionError> {
    let component = host.component(bytes);
    if component.digest() == request.plugin.digest {
        Ok(component)
    } else {
        Err(AdmissionError::OtherComponent {
            named: request.plugin.digest,
            found: component.digest(),
        })
    }
}

/// Why a request is not admitted.
#[derive(Debug, thiserror::Error)]
pub(super) enum AdmissionError {
    /// The component is not the one that the request names.
    #[error("the request names another component than the one handed in")]
    OtherComponent {
        /// The digest in the request.
        named: Digest,
        /// The digest of the component.
        found: Digest,
    },
    /// The component calls itself otherwise.
    #[error("the request names the plugin {named}, but the component is {found}")]
    OtherPlugin {
        /// In the request.
        named: String,
        /// In the descriptor.
        found: String,
    },
    /// The plugin refuses the request.
    #[error("the plugin refuses the request of task `{task}`")]
    Refused {
        /// The task.
        task: TaskId,
        /// All it has against it.
        violations: Vec<Violation>,
    },
    /// Another request stands under this id.
    #[error("the task changed: another request was admitted as `{task}`")]
    TaskChanged {
        /// The task.
        task: TaskId,
    },
}

impl Fault for AdmissionError {
    fn facts(&self) -> Facts {
        match self {
            Self::OtherComponent { .. } => Facts::new(
                "component-mismatch",
                Kind::InvalidInput,
                "hand in the component that the request names, or correct the digest",
            ),
            Self::OtherPlugin { .. } => Facts::new(
                "plugin-mismatch",
                Kind::InvalidInput,
                "`wharf plugin inspect` shows a component's name and version",
            ),
            Self::Refused { .. } => Facts::new(
                "task-refused",
                Kind::InvalidInput,
                "correct the request's input; nothing was written",
            ),
            Self::TaskChanged { .. } => Facts::new(
                "task-changed",
                Kind::Conflict,
                "give the changed request another id",
            ),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::OtherComponent { named, found } => {
                Some(format!("it names {named}, the component is {found}"))
            }
            Self::Refused { violations, .. } => Some(
                violations
                    .iter()
                    .map(|violation| format!("{}: {}", violation.code, violation.message))
                    .collect::<Vec<_>>()
                    .join("; "),
            ),
            _ => None,
        }
    }
}
