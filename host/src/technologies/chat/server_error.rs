//! What a server says when it refuses or fails.
//!
//! Owns the forms in which servers write an error: the object of OpenAI and those who follow it, a list around it (Gemini), a bare
//! text, `detail` (FastAPI), `message` at the top (older vLLM, Mistral), a page of HTML. Reads what is needed to choose and to
//! report, and no more.

use serde_json::Value;

use super::fault::{ChatFaultKind, Failure};

/// The most bytes of one error's words.
const MOST_WORDS: usize = 4096;

/// The most errors of a list that are read.
const MOST_DETAILS: usize = 8;

/// An error as a server tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ServerError {
    /// The status; inside of an answer the one that the error names, and otherwise 0.
    pub(super) status: u16,
    /// `code`, where it is a text.
    code: String,
    /// `type`.
    sort: String,
    /// `param`: the field that the error is about.
    param: String,
    /// What it says.
    pub(super) words: String,
}

impl ServerError {
    /// The error in the body of a response with that status.
    pub(super) fn read(status: u16, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let found = serde_json::from_str::<Value>(&text)
            .ok()
            .and_then(|value| Self::of(&value));
        let plain = || Self {
            words: plain(text.trim()),
            ..Self::default()
        };
        Self {
            status,
            ..found.unwrap_or_else(plain)
        }
    }

    /// The error in an answer or a piece of one; none, if there is none.
    pub(super) fn in_answer(piece: &Value) -> Option<Self> {
        let named = piece.get("error").is_some_and(|error| !error.is_null());
        let is_one = piece.get("object").and_then(Value::as_str) == Some("error");
        if named || is_one {
            Self::of(piece)
        } else {
            None
        }
    }

    fn of(value: &Value) -> Option<Self> {
        let value = match value {
            Value::Array(list) => list.first()?,
            other => other,
        };
        let error = match value.get("error") {
            None | Some(Value::Null) => value,
            Some(error) => error,
        };
        if let Value::String(words) = error {
            return Some(Self {
                words: bounded(words),
                ..Self::default()
            });
        }
        let text = |key: &str| match error.get(key) {
            Some(Value::String(text)) => bounded(text),
            _ => String::new(),
        };
        let mut words = ["message", "detail", "msg"]
            .map(text)
            .into_iter()
            .find(|text| !text.is_empty());
        if words.is_none() {
            words = error.get("detail").and_then(details);
        }
        // The words of the provider behind a router.
        if let Some(Value::String(raw)) = error.get("metadata").and_then(|it| it.get("raw")) {
            words = Some(bounded(&format!("{}: {raw}", words.unwrap_or_default())));
        }
        let number = error
            .get("code")
            .and_then(Value::as_u64)
            .and_then(|it| u16::try_from(it).ok());
        Some(Self {
            status: number
                .filter(|it| (400..600).contains(it))
                .unwrap_or_default(),
            code: text("code"),
            sort: text("type"),
            param: text("param"),
            words: words.unwrap_or_else(|| bounded(&error.to_string())),
        })
    }

    /// Whether the error is about one of these, which are in small letters.
    pub(super) fn names(&self, of: &[&str]) -> bool {
        [&self.words, &self.param, &self.code, &self.sort]
            .iter()
            .any(|text| {
                let text = text.to_ascii_lowercase();
                of.iter().any(|name| text.contains(name))
            })
    }

    /// As a failure of the attempt.
    pub(super) fn into_failure(self) -> Failure {
        let is = |codes: &[&str]| {
            codes
                .iter()
                .any(|code| *code == self.code || *code == self.sort)
        };
        let quota = [
            "insufficient_quota",
            "billing_hard_limit_reached",
            "billing_not_active",
            "insufficient_balance",
        ];
        let kind = match self.status {
            401 => ChatFaultKind::Unauthorized,
            402 => ChatFaultKind::Quota,
            403 => ChatFaultKind::Forbidden,
            404 => ChatFaultKind::NotFound,
            407 => ChatFaultKind::Proxy,
            408 => ChatFaultKind::RequestTimeout,
            429 if is(&quota) => ChatFaultKind::Quota,
            429 => ChatFaultKind::RateLimited,
            503 | 529 => ChatFaultKind::Overloaded,
            400 if is(&["content_filter"]) => ChatFaultKind::ContentFilter,
            400..500 => ChatFaultKind::BadRequest,
            0 if is(&quota) => ChatFaultKind::Quota,
            0 if is(&["rate_limit_exceeded", "rate_limit_error", "rate_limited"]) => {
                ChatFaultKind::RateLimited
            }
            0 if is(&["overloaded_error", "overloaded", "service_unavailable"]) => {
                ChatFaultKind::Overloaded
            }
            0 if is(&["content_filter"]) => ChatFaultKind::ContentFilter,
            0 if is(&[
                "invalid_request_error",
                "context_length_exceeded",
                "BadRequestError",
            ]) =>
            {
                ChatFaultKind::BadRequest
            }
            0 if is(&["authentication_error", "invalid_api_key"]) => ChatFaultKind::Unauthorized,
            _ => ChatFaultKind::ServerError,
        };
        Failure {
            status: Some(self.status).filter(|it| *it != 0),
            ..Failure::new(kind, self.words)
        }
    }
}

/// The messages of a list of errors, each with the place it is about.
fn details(list: &Value) -> Option<String> {
    let one = |detail: &Value| {
        let words = detail.get("msg").and_then(Value::as_str)?;
        let place = detail.get("loc").and_then(Value::as_array);
        let place: Vec<_> = place
            .into_iter()
            .flatten()
            .map(|part| match part {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
            .collect();
        Some(format!("{}: {words}", place.join(".")))
    };
    let found: Vec<_> = list
        .as_array()?
        .iter()
        .take(MOST_DETAILS)
        .filter_map(one)
        .collect();
    (!found.is_empty()).then(|| bounded(&found.join("; ")))
}

/// A text as it is; of a page of HTML its title.
fn plain(text: &str) -> String {
    if !text.starts_with('<') {
        return bounded(text);
    }
    let title = text
        .split_once("<title>")
        .and_then(|(_, rest)| rest.split_once("</title>"));
    match title {
        Some((title, _)) => bounded(title.trim()),
        None => "a page of HTML".to_owned(),
    }
}

fn bounded(text: &str) -> String {
    text[..text.floor_char_boundary(MOST_WORDS)].to_owned()
}

#[cfg(test)]
#[path = "server_error_tests.rs"]
mod tests;
