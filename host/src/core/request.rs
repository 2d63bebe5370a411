//! The immutable request of one task, read strictly, fingerprinted by its canonical form.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ports::permission::Acting;
use crate::words::{
    digest::Digest,
    error::{Facts, Fault, Kind},
    id::{PluginName, PrincipalId, TaskId, TenantId},
    json::{self, JsonBounds, JsonText},
};

/// The most a request may take.
pub const REQUEST_BOUNDS: JsonBounds = JsonBounds {
    bytes: 256 * 1024,
    depth: 32,
};

/// One immutable request. Made only by [`Request::read`], so that whoever holds one holds a checked one.
#[derive(Debug, Clone)]
pub struct Request {
    /// Names the task.
    pub id: TaskId,
    /// Whose workspace.
    pub tenant: TenantId,
    /// Who asks.
    pub principal: PrincipalId,
    /// What is wanted, for the planning model: 1 to 1000 characters.
    pub goal: String,
    /// The plugin that knows the domain.
    pub plugin: PluginRef,
    /// What it may cost.
    pub budgets: Budgets,
    /// The domain's own part, as it was written.
    pub input: JsonText,
    fingerprint: Digest,
    input_digest: Digest,
    text: String,
}

/// The plugin that a request names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PluginRef {
    /// The name in its descriptor.
    pub name: PluginName,
    /// The version in its descriptor.
    pub version: String,
    /// The SHA-256 of the component's bytes.
    pub digest: Digest,
}

/// What a task may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Budgets {
    /// Model attempts: 1 to 5.
    pub max_plans: u32,
    /// Tool calls: 0 to 30.
    pub max_actions: u32,
    /// Wall time since admission in seconds, pauses included: 1 to 3600.
    pub deadline_seconds: u32,
    /// Refused plans after which the model is asked again, with what was wrong: 0 to 4. Each attempt counts in `max_plans`
    /// all the same.
    #[serde(default)]
    pub max_invalid_plans: u32,
}

impl Budgets {
    /// The deadline as a duration.
    #[must_use]
    pub fn deadline(&self) -> SignedDuration {
        SignedDuration::from_secs(self.deadline_seconds.into())
    }
}

/// Why a request was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// Not one strict JSON document.
    #[error("the request is not one strict JSON document")]
    NotJson(#[source] json::JsonError),
    /// A field is missing, unknown or of the wrong form.
    #[error("the request does not have the documented form")]
    Form(#[source] serde_json::Error),
    /// A value is out of bounds.
    #[error("the request's {field} is out of bounds")]
    OutOfBounds {
        /// The field.
        field: &'static str,
        /// What is allowed.
        allowed: &'static str,
    },
}

impl Fault for RequestError {
    fn facts(&self) -> Facts {
        let code = match self {
            Self::NotJson(_) => "request-not-json",
            Self::Form(_) => "request-form",
            Self::OutOfBounds { .. } => "request-out-of-bounds",
        };
        Facts::new(
            code,
            Kind::InvalidInput,
            "correct the request; nothing was written",
        )
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::OutOfBounds { allowed, .. } => Some(format!("allowed: {allowed}")),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fields<'a> {
    id: TaskId,
    tenant: TenantId,
    principal: PrincipalId,
    goal: String,
    plugin: PluginRef,
    budgets: Budgets,
    #[serde(borrow)]
    input: &'a serde_json::value::RawValue,
}

impl Request {
    /// Reads a request from its JSON text.
    ///
    /// # Errors
    /// Anything that is not the documented form, within the documented bounds.
    pub fn read(text: &str) -> Result<Self, RequestError> {
        let value = json::parse_strict(text, REQUEST_BOUNDS).map_err(RequestError::NotJson)?;
        let fields: Fields<'_> = serde_json::from_str(text).map_err(RequestError::Form)?;
        let input =
            JsonText::parse(fields.input.get(), REQUEST_BOUNDS).map_err(RequestError::NotJson)?;
        let request = Self {
            id: fields.id,
            tenant: fields.tenant,
            principal: fields.principal,
            goal: fields.goal,
            plugin: fields.plugin,
            budgets: fields.budgets,
            fingerprint: Digest::of(json::canonical::<Value>(&value)),
            input_digest: input.digest(),
            input,
            text: text.to_owned(),
        };
        request.check_bounds()?;
        Ok(request)
    }

    /// The SHA-256 of the canonical JSON of the whole request.
    #[must_use]
    pub const fn fingerprint(&self) -> Digest {
        self.fingerprint
    }

    /// The SHA-256 of the canonical JSON of `input`.
    #[must_use]
    pub const fn input_digest(&self) -> Digest {
        self.input_digest
    }

    /// Who acts for it.
    #[must_use]
    pub const fn acting(&self) -> Acting<'_> {
        Acting {
            task: &self.id,
            principal: &self.principal,
            fingerprint: self.fingerprint,
        }
    }

    /// The text it was read from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    fn check_bounds(&self) -> Result<(), RequestError> {
        let checks = [
            (
                "goal",
                "1 to 1000 characters, not blank, no NUL",
                is_text(&self.goal),
            ),
            (
                "plugin.version",
                "1 to 1000 characters, not blank, no NUL",
                is_text(&self.plugin.version),
            ),
            (
                "budgets.maxPlans",
                "1 to 5",
                (1..=5).contains(&self.budgets.max_plans),
            ),
            (
                "budgets.maxActions",
                "0 to 30",
                self.budgets.max_actions <= 30,
            ),
            (
                "budgets.deadlineSeconds",
                "1 to 3600",
                (1..=3600).contains(&self.budgets.deadline_seconds),
            ),
            (
                "budgets.maxInvalidPlans",
                "0 to 4",
                self.budgets.max_invalid_plans <= 4,
            ),
        ];
        match checks.into_iter().find(|(_, _, holds)| !holds) {
            Some((field, allowed, _)) => Err(RequestError::OutOfBounds { field, allowed }),
            None => Ok(()),
        }
    }
}

/// Whether a text has 1 to 1000 characters, is not blank and holds no NUL.
#[must_use]
pub fn is_text(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains('\0') && text.chars().count() <= 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(change: impl FnOnce(&mut Value)) -> String {
        let mut value = serde_json::json!({
            "id": "t1", "tenant": "a", "principal": "p", "goal": "Do it",
            "plugin": {"name": "n", "version": "1.0.0", "digest": "0".repeat(64)},
            "budgets": {"maxPlans": 3, "maxActions": 12, "deadlineSeconds": 600},
            "input": {"x": 1},
        });
        change(&mut value);
        value.to_string()
    }

    #[test]
    fn blanks_and_key_order_do_not_change_the_fingerprint() {
        let plain = Request::read(&text(|_| ())).unwrap();
        let spaced = Request::read(&text(|_| ()).replace(':', " : ")).unwrap();
        assert_eq!(plain.fingerprint(), spaced.fingerprint());
        let other = Request::read(&text(|v| v["input"]["x"] = 2.into())).unwrap();
        assert_ne!(plain.fingerprint(), other.fingerprint());
        assert_ne!(plain.input_digest(), other.input_digest());
    }

    #[test]
    fn every_bound_of_a_request_is_enforced() {
        let refused = |change: fn(&mut Value), code: &str| {
            let error = crate::words::error::Error::from(Request::read(&text(change)).unwrap_err());
            assert_eq!(
                (error.code(), error.kind()),
                (code, Kind::InvalidInput),
                "{error:?}"
            );
        };
        refused(
            |v| v["budgets"]["maxPlans"] = 0.into(),
            "request-out-of-bounds",
        );
        refused(
            |v| v["budgets"]["maxPlans"] = 6.into(),
            "request-out-of-bounds",
        );
        refused(
            |v| v["budgets"]["maxActions"] = 31.into(),
            "request-out-of-bounds",
        );
        refused(
            |v| v["budgets"]["deadlineSeconds"] = 0.into(),
            "request-out-of-bounds",
        );
        refused(
            |v| v["budgets"]["deadlineSeconds"] = 3601.into(),
            "request-out-of-bounds",
        );
        refused(
            |v| v["budgets"]["maxInvalidPlans"] = 5.into(),
            "request-out-of-bounds",
        );
        refused(|v| v["goal"] = "  ".into(), "request-out-of-bounds");
        refused(
            |v| v["goal"] = "x".repeat(1001).into(),
            "request-out-of-bounds",
        );
        refused(|v| v["goal"] = "a\0".into(), "request-out-of-bounds");
        refused(|v| v["id"] = "../x".into(), "request-form");
        refused(|v| v["tenant"] = "".into(), "request-form");
        refused(|v| v["extra"] = 1.into(), "request-form");
        refused(|v| v["plugin"]["digest"] = "xyz".into(), "request-form");
        refused(|v| v["budgets"]["extra"] = 1.into(), "request-form");
        refused(|v| v["budgets"]["maxPlans"] = (-1).into(), "request-form");
        assert!(Request::read("{}").is_err());
        let doubled = text(|_| ()).replacen("\"x\":1", "\"x\":1,\"x\":1", 1);
        assert!(matches!(
            Request::read(&doubled),
            Err(RequestError::NotJson(_))
        ));
    }
}
