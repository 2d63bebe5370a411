//! Whether a plan may be executed: what host and plugin have against it.
//!
//! Owns whom is asked, and what is left out because both have said it. Called for every proposed plan, and by every audit.

use super::structure;
use crate::{
    core::{
        contract::{Plan, Violation},
        ports::domain::Domain,
        request::Request,
    },
    words::{
        error::{Error, Kind},
        json::JsonText,
    },
};

/// Every fault of a plan, the host's first. Host and plugin both say all they have against it; what both say is listed once.
///
/// # Errors
/// The plugin's own, unless the host has found a fault: a plugin may rely on the form of a plan, so it may well fail on a plan
/// of another form, which is refused whatever it says.
pub fn violations(
    domain: &dyn Domain,
    request: &Request,
    snapshot: &JsonText,
    plan: &Plan,
) -> Result<Vec<Violation>, Error> {
    let mut violations = structure::check(domain, plan);
    let mut of_domain = match domain.check_plan(request, snapshot, plan) {
        Err(error) if !violations.is_empty() && error.kind() == Kind::PluginFault => {
            tracing::warn!(
                task = %request.id,
                why = error.why(),
                "{error}; the plan is refused without its answer"
            );
            return Ok(violations);
        }
        answer => answer?,
    };
    // Two faults of one kind may be found by the plugin alone: only what the host has said as well is left out.
    of_domain.retain(|new| {
        !violations
            .iter()
            .any(|old| old.code == new.code && old.step_id == new.step_id)
    });
    violations.append(&mut of_domain);
    Ok(violations)
}
