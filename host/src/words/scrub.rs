//! Text from elsewhere without what looks like a credential.
//!
//! Owns the shapes. Every text that leaves a plugin as prose passes here once: violations, failures, summary, instructions and
//! descriptions, log lines, standard error, panics, names of functions, statements that were refused. What is data (subjects,
//! keys, snapshots, records, results, artifacts, schemas, migrations) stays as the plugin wrote it. A plugin is given no
//! credential by the host; what is scrubbed here are those that its author built in, or that came with a task's input.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};

use super::escape;

/// What stands in place of a credential.
pub const SCRUBBED: &str = "[scrubbed]";

/// ASCII only, linear in the text. What a named group holds stays before what is scrubbed.
static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    let shapes = [
        // A private key, to its end or the text's.
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\z)",
        // A JSON Web Token.
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
        // What well-known services give out: OpenAI, Anthropic, Stripe; GitHub; GitLab; Slack; AWS; Google; Hugging Face; npm.
        r"(?-u:\b)(?:sk|rk|pk)[-_](?:[A-Za-z0-9]{1,20}[-_]){0,4}[A-Za-z0-9_-]{16,}",
        r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})",
        r"(?-u:\b)(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,})",
        r"(?-u:\b)(?:hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,})",
        // In an address, between the scheme and the host.
        r"(?<scheme>://)[^/ \t\r\n@]{1,200}:[^/ \t\r\n@]{1,200}@",
        // In a header.
        r"(?<header>(?i-u:bearer|basic)[ \t]{1,3})[A-Za-z0-9._~+/=-]{12,}",
        // Behind a name that says what it is.
        r#"(?<name>(?i-u:pass(?:word|wd|phrase)|secret|api[ _-]?key|access[ _-]?key|credentials?)["']?[ \t]{0,3}[:=][ \t]{0,3}["']?)[^ \t\r\n"',;]{6,}"#,
        r#"(?<token>(?i-u:token)["']?[ \t]{0,3}[:=][ \t]{0,3}["']?)[^ \t\r\n"',;]{16,}"#,
    ];
    Regex::new(&shapes.join("|")).unwrap_or_else(|error| unreachable!("{error}"))
});

/// The text, with every credential replaced.
#[must_use]
pub fn scrubbed(text: &str) -> Cow<'_, str> {
    SHAPES.replace_all(text, |found: &Captures<'_>| {
        let kept = ["scheme", "header", "name", "token"]
            .into_iter()
            .find_map(|group| found.name(group))
            .map_or("", |kept| kept.as_str());
        let end = if kept == "://" { "@" } else { "" };
        format!("{kept}{SCRUBBED}{end}")
    })
}

/// The text, scrubbed, escaped and cut to a few hundred bytes, for an error message.
#[must_use]
pub fn excerpt(text: &str) -> String {
    escape::excerpt(&scrubbed(text), 300)
}

/// As [`scrubbed`], of a text that is owned.
#[must_use]
pub fn scrub(text: String) -> String {
    match scrubbed(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(scrubbed) => scrubbed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_credential_is_replaced() {
        for (text, expected) in [
            ("sk-proj-abcdefghijklmnop0123", "[scrubbed]"),
            ("sk_live_0123456789abcdefXYZ", "[scrubbed]"),
            ("key ghp_0123456789abcdefghijABCD!", "key [scrubbed]!"),
            ("github_pat_0123456789abcdefghij", "[scrubbed]"),
            ("glpat-0123456789abcdefgh", "[scrubbed]"),
            ("xoxb-1234567890-abcdef", "[scrubbed]"),
            ("AKIAIOSFODNN7EXAMPLE", "[scrubbed]"),
            ("AIzaSyA0123456789abcdefghijklmnopqrstuv", "[scrubbed]"),
            ("hf_0123456789abcdefghij", "[scrubbed]"),
            ("npm_0123456789abcdefghij0123456789", "[scrubbed]"),
            (
                "a eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2ln b",
                "a [scrubbed] b",
            ),
            ("redis://user:hunter2@host/1", "redis://[scrubbed]@host/1"),
            (
                "Authorization: Bearer abcdef0123456789",
                "Authorization: Bearer [scrubbed]",
            ),
            (
                "authorization: basic dXNlcjpwYXNz",
                "authorization: basic [scrubbed]",
            ),
            ("password=hunter22, next", "password=[scrubbed], next"),
            (
                r#"{"api_key": "abcdef123"}"#,
                r#"{"api_key": "[scrubbed]"}"#,
            ),
            ("Secret: 'a-long-one'", "Secret: '[scrubbed]'"),
            ("token=0123456789abcdef", "token=[scrubbed]"),
            (
                "x -----BEGIN RSA PRIVATE KEY-----\nMII\nE\n-----END RSA PRIVATE KEY----- y",
                "x [scrubbed] y",
            ),
            ("-----BEGIN PRIVATE KEY-----\ncut", "[scrubbed]"),
        ] {
            assert_eq!(scrubbed(text), expected, "{text}");
        }
    }

    #[test]
    fn ordinary_text_stays() {
        for text in [
            "",
            "unexpected token: `}` at line 3",
            "the task TASK-1001 has no room: 2 of 10",
            "https://example.org/a?b=c",
            "task-2026-11-29-first",
            "a password is missing",
            "risk-free",
            "näive ✓ \u{1b}[31m",
        ] {
            assert!(matches!(scrubbed(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn a_long_text_takes_no_long() {
        for piece in [
            "sk-a-",
            "://a:",
            "-----BEGIN PRIVATE KEY-----",
            "eyJaaaaaaaaa.",
            "password=",
        ] {
            let text = piece.repeat(200_000);
            let _ = scrubbed(&text);
        }
    }
}
