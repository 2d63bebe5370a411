//! Why an attempt gave no answer.
//!
//! Owns the kinds of failure, their stable codes, and which of them another attempt may help. Inside of the client a failure is a
//! `Failure`, whose words are a server's own; only the client, which knows the secrets, makes a [`ChatFault`] of one.

use std::{borrow::Cow, fmt, time::Duration};

use super::secret::Secrets;
use crate::words::error::{Facts, Fault, Kind};

/// What sort of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChatFaultKind {
    /// There is no connection: no such host, nobody who listens, a network that leads nowhere.
    Connect,
    /// There was no connection in time.
    ConnectTimeout,
    /// TLS came to nothing: a certificate that is not trusted, or somebody who does not speak it.
    Tls,
    /// The proxy refuses.
    Proxy,
    /// The connection broke before the answer began.
    ConnectionLost,
    /// The answer did not begin in time.
    FirstByteTimeout,
    /// The answer stopped for too long.
    IdleTimeout,
    /// The attempt took too long.
    Timeout,
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404.
    NotFound,
    /// 408.
    RequestTimeout,
    /// Another status from 400 to 499.
    BadRequest,
    /// 429.
    RateLimited,
    /// 402, or a 429 that no waiting helps: what was paid for is used up.
    Quota,
    /// 503 or 529.
    Overloaded,
    /// Another status from 500 on, or a failure that the server reports inside of an answer.
    ServerError,
    /// A redirect that is not followed.
    Redirect,
    /// A content that is neither events nor JSON.
    ContentType,
    /// JSON was due, and something else came.
    NotJson,
    /// Text was due, and something else came.
    NotUtf8,
    /// The answer ended before it was complete.
    StreamCut,
    /// `max_response_bytes` was reached.
    ResponseTooLarge,
    /// `max_answer_bytes` was reached.
    AnswerTooLarge,
    /// An answer without an answer in it.
    NoChoices,
    /// The answer repeats a secret of the client.
    SecretRepeated,
    /// The provider's filter stopped the answer.
    ContentFilter,
    /// The model refused.
    Refusal,
}

impl ChatFaultKind {
    /// A stable kebab-case code for scripts.
    #[must_use]
    pub const fn code(self) -> &'static str {
        self.facts().0
    }

    /// What happened.
    const fn happened(self) -> &'static str {
        self.facts().2
    }

    /// Code, kind, what happened, and what to do.
    #[expect(clippy::too_many_lines, reason = "a table")]
    const fn facts(self) -> (&'static str, Kind, &'static str, &'static str) {
        match self {
            Self::Connect => (
                "model-connect",
                Kind::Unavailable,
                "there is no connection to the model's server",
                "check `base_url` and the network, and try again",
            ),
            Self::ConnectTimeout => (
                "model-connect-timeout",
                Kind::Unavailable,
                "there was no connection to the model's server in time",
                "check `base_url` and the network; where both are slow, raise `connect_timeout_ms`",
            ),
            Self::Tls => (
                "model-tls",
                Kind::InvalidInput,
                "there is no safe connection to the model's server",
                "check `base_url`, also whether the server speaks TLS at all; if its certificate is of an authority of your own, name that in `ca_file`",
            ),
            Self::Proxy => (
                "model-proxy",
                Kind::Denied,
                "the proxy does not let us through",
                "check `proxy` and `proxy_authorization_env`, or the proxies that the environment names",
            ),
            Self::ConnectionLost => (
                "model-connection-lost",
                Kind::Unavailable,
                "the model's server closed the connection without an answer",
                "try again; if it stays so, look into the server's own log",
            ),
            Self::FirstByteTimeout => (
                "model-first-byte-timeout",
                Kind::Unavailable,
                "the model did not begin to answer in time",
                "try again; for a model that thinks longer, raise `first_byte_timeout_ms`",
            ),
            Self::IdleTimeout => (
                "model-idle-timeout",
                Kind::Unavailable,
                "the model stopped in the middle of its answer",
                "try again; for a model that pauses longer, raise `idle_timeout_ms`",
            ),
            Self::Timeout => (
                "model-timeout",
                Kind::Limit,
                "the model did not end its answer in time",
                "raise `timeout_ms`, or lower `max_tokens`",
            ),
            Self::Unauthorized => (
                "model-unauthorized",
                Kind::Denied,
                "the model's server does not accept the key",
                "check the variable that `api_key_env` names, and `api_key_header`",
            ),
            Self::Forbidden => (
                "model-forbidden",
                Kind::Denied,
                "the model's server does not allow it",
                "check that the key may use the model",
            ),
            Self::NotFound => (
                "model-not-found",
                Kind::InvalidInput,
                "the model's server does not know the model or the address",
                "check `model`, and that `/chat/completions` stands below `base_url`",
            ),
            Self::RequestTimeout => (
                "model-request-timeout",
                Kind::Unavailable,
                "the model's server did not wait for the request",
                "try again",
            ),
            Self::BadRequest => (
                "model-bad-request",
                Kind::InvalidInput,
                "the model's server refuses the request",
                "see what it says, and change the provider's settings, often `options`, `max_tokens` or `response_format`",
            ),
            Self::RateLimited => (
                "model-rate-limited",
                Kind::Unavailable,
                "the model's server takes no more requests for now",
                "try again later, or with fewer tasks at a time",
            ),
            Self::Quota => (
                "model-quota",
                Kind::Limit,
                "what the provider grants to the key is used up",
                "check plan and balance with the provider",
            ),
            Self::Overloaded => (
                "model-overloaded",
                Kind::Unavailable,
                "the model's server is overloaded",
                "try again later",
            ),
            Self::ServerError => (
                "model-server-error",
                Kind::Unavailable,
                "the model's server failed",
                "try again; if it stays so, tell those who run it",
            ),
            Self::Redirect => (
                "model-redirect",
                Kind::InvalidInput,
                "the model's server points to another address",
                "if you trust that address, write it in `base_url`",
            ),
            Self::ContentType => (
                "model-content-type",
                Kind::InvalidInput,
                "the model's server answers something that is neither events nor JSON",
                "check that `base_url` leads to an API and not to a web page",
            ),
            Self::NotJson => (
                "model-not-json",
                Kind::InvalidInput,
                "the model's server answers something that is not JSON",
                "check that `base_url` leads to an API of chat completions",
            ),
            Self::NotUtf8 => (
                "model-not-utf8",
                Kind::InvalidInput,
                "the model's server answers something that is not UTF-8",
                "check that no proxy on the way changes or compresses answers",
            ),
            Self::StreamCut => (
                "model-stream-cut",
                Kind::Unavailable,
                "the model's answer ended before it was complete",
                "try again",
            ),
            Self::ResponseTooLarge => (
                "model-response-too-large",
                Kind::Limit,
                "the response of the model's server is too large",
                "lower `max_tokens`, or raise `max_response_bytes`",
            ),
            Self::AnswerTooLarge => (
                "model-answer-too-large",
                Kind::Limit,
                "the model's answer is too large",
                "lower `max_tokens`, or raise `max_answer_bytes`",
            ),
            Self::NoChoices => (
                "model-no-choices",
                Kind::InvalidInput,
                "the model's server answers without an answer of the model",
                "check that `base_url` leads to an API of chat completions",
            ),
            Self::SecretRepeated => (
                "model-secret-repeated",
                Kind::Denied,
                "the model's server repeats the key in its answer",
                "take another key and another server; the answer was not kept",
            ),
            Self::ContentFilter => (
                "model-content-filter",
                Kind::Denied,
                "the provider's filter stopped the answer",
                "change what is asked, or the filter's settings with the provider",
            ),
            Self::Refusal => (
                "model-refusal",
                Kind::Denied,
                "the model refuses to answer",
                "change what is asked, or take another model",
            ),
        }
    }
}

/// Why one attempt gave no answer.
///
/// `Display` says what happened, [`why`](Fault::why) repeats the server's words; both are bounded, in one line, and without a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatFault {
    kind: ChatFaultKind,
    status: Option<u16>,
    why: Option<String>,
    retry_after: Option<Duration>,
}

impl ChatFault {
    pub(super) fn of(failure: &Failure, secrets: &Secrets) -> Self {
        let words = secrets.words(&failure.words);
        let why = match (failure.status, words.is_empty()) {
            (Some(status), true) => Some(format!("status {status}")),
            (Some(status), false) => Some(format!("status {status}: {words}")),
            (None, true) => None,
            (None, false) => Some(words),
        };
        Self {
            kind: failure.kind,
            status: failure.status,
            why,
            retry_after: failure.retry_after,
        }
    }

    /// The sort of failure.
    #[must_use]
    pub fn kind(&self) -> ChatFaultKind {
        self.kind
    }

    /// A stable kebab-case code for scripts.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// The status, where the failure is one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// Whether the same request may succeed later, without anybody changing anything.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self.kind {
            ChatFaultKind::Connect
            | ChatFaultKind::ConnectTimeout
            | ChatFaultKind::ConnectionLost
            | ChatFaultKind::FirstByteTimeout
            | ChatFaultKind::IdleTimeout
            | ChatFaultKind::RequestTimeout
            | ChatFaultKind::RateLimited
            | ChatFaultKind::Overloaded
            | ChatFaultKind::StreamCut => true,
            ChatFaultKind::ServerError => {
                matches!(self.status, None | Some(500 | 502 | 504))
            }
            _ => false,
        }
    }

    /// How long the server asks to wait; any time at all.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// What happened and why, in one line of at most 600 bytes.
    #[must_use]
    pub fn message(&self) -> String {
        match &self.why {
            Some(why) => format!("{self}: {why}"),
            None => self.to_string(),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        self.kind.facts().3
    }
}

impl fmt::Display for ChatFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.happened())
    }
}

impl std::error::Error for ChatFault {}

impl Fault for ChatFault {
    fn facts(&self) -> Facts {
        let (code, kind, _, hint) = self.kind.facts();
        Facts::new(code, kind, hint)
    }

    fn why(&self) -> Option<String> {
        self.why.clone()
    }
}

/// A failure with words from elsewhere, in which a secret may stand.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) kind: ChatFaultKind,
    /// The status, where the failure is one.
    pub(super) status: Option<u16>,
    /// Somebody else's words, or ours.
    pub(super) words: Cow<'static, str>,
    pub(super) retry_after: Option<Duration>,
}

impl Failure {
    pub(super) fn new(kind: ChatFaultKind, words: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            status: None,
            words: words.into(),
            retry_after: None,
        }
    }
}

impl From<ChatFaultKind> for Failure {
    fn from(kind: ChatFaultKind) -> Self {
        Self::new(kind, "")
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("kind", &self.kind)
            .field("status", &self.status)
            .field("retry_after", &self.retry_after)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{technologies::chat::secret::Secret, words::error::Error};

    fn fault(kind: ChatFaultKind, status: Option<u16>) -> ChatFault {
        let failure = Failure {
            status,
            ..Failure::from(kind)
        };
        ChatFault::of(&failure, &Secrets::default())
    }

    #[test]
    fn only_some_server_errors_are_tried_again() {
        for status in [None, Some(500), Some(502), Some(504)] {
            assert!(fault(ChatFaultKind::ServerError, status).retryable());
        }
        for status in [501, 505, 520] {
            assert!(!fault(ChatFaultKind::ServerError, Some(status)).retryable());
        }
        for kind in [
            ChatFaultKind::Timeout,
            ChatFaultKind::Quota,
            ChatFaultKind::Tls,
        ] {
            assert!(!fault(kind, None).retryable());
        }
    }

    #[test]
    fn a_fault_says_what_why_and_what_to_do_and_no_secret() {
        let mut secrets = Secrets::default();
        secrets.add(&Secret::new("hunter2-hunter3"));
        let failure = Failure {
            status: Some(401),
            ..Failure::new(ChatFaultKind::Unauthorized, "no key hunter2-hunter3 here")
        };
        assert!(!format!("{failure:?}").contains("hunter"));
        let fault = ChatFault::of(&failure, &secrets);
        assert_eq!(
            fault.message(),
            "the model's server does not accept the key: status 401: no key *** here"
        );
        let error = Error::from(fault);
        assert_eq!(
            (error.code(), error.kind()),
            ("model-unauthorized", Kind::Denied)
        );
        assert_eq!(error.why(), "status 401: no key *** here");
    }
}
