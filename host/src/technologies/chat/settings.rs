//! What a provider's table in the configuration says.
//!
//! Owns the keys, their meaning and their defaults. What is refused stands in `settings_check.rs`. A secret is never a value
//! here: the settings name the environment variable that holds it.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{settings_check, settings_error::ChatSettingsError};

/// A server of chat completions, and how it is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub struct ChatSettings {
    /// The address below which the server offers `/chat/completions`, for instance `https://api.example.org/v1`. `http` or
    /// `https`, without user, query and fragment; a slash at its end does not matter.
    pub base_url: String,
    /// The model, as the server names it.
    pub model: String,
    /// The NAME of the environment variable that holds the key. None: no key is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// The header that carries the key as it is, for instance `api-key`. None: `Authorization: Bearer KEY`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_header: Option<String>,
    /// Further headers of each request. A value is a text, or `{ env = "NAME" }` for one that is secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, HeaderSetting>,
    /// Further fields of the request's body, as the server documents them. Fields that this program sets cannot stand here.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
    /// The most tokens of an answer, sent as `max_tokens`. Not together with `max_completion_tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The most tokens of an answer, sent as `max_completion_tokens`, which some models ask for instead of `max_tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_completion_tokens: Option<u32>,
    /// The temperature, from 0 to 2. None: the server's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The seed of the sampling, where the server knows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Whether the beginning of a prompt that stays the same is marked with `cache_control`, for servers that keep a prompt's
    /// beginning only where they are told to. One that does it by itself needs no mark.
    #[serde(default, skip_serializing_if = "is_no")]
    pub mark_prompt_cache: bool,
    /// Whether the answer is asked for as a stream. A server that answers in one piece all the same is understood.
    #[serde(default = "yes")]
    pub stream: bool,
    /// How the server is told what form the answer has to have.
    #[serde(default)]
    pub response_format: ResponseFormat,
    /// The most milliseconds until there is a connection, TLS included. 1 to 3600000.
    #[serde(default = "ten_seconds")]
    pub connect_timeout_ms: u64,
    /// The most milliseconds from the first request of an attempt to the first byte of its answer's body, connecting included.
    /// 1 to 3600000.
    #[serde(default = "two_minutes")]
    pub first_byte_timeout_ms: u64,
    /// The most milliseconds between two pieces of an answer. 1 to 3600000.
    #[serde(default = "one_minute")]
    pub idle_timeout_ms: u64,
    /// The most milliseconds of one attempt, everything included. 1 to 3600000.
    #[serde(default = "ten_minutes")]
    pub timeout_ms: u64,
    /// The most bytes of a response's body, events and all. 1024 to 268435456.
    #[serde(default = "eight_mebibytes")]
    pub max_response_bytes: u64,
    /// The most bytes of text and tool calls in an answer. 1 to 67108864.
    #[serde(default = "quarter_mebibyte")]
    pub max_answer_bytes: u64,
    /// How many times a failed attempt may be repeated, where that can help. 0 to 4.
    #[serde(default = "two")]
    pub retries: u32,
    /// The address of an HTTP proxy, without user; `"none"` for no proxy at all. None: what the environment says, where the
    /// program that embeds this one lets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// The NAME of the environment variable that holds the value of the `Proxy-Authorization` header. Needs `proxy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_authorization_env: Option<String>,
    /// A file of certificates in PEM that are trusted besides those of the machine. Relative to the configuration's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

/// The value of a further header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text, or { env = \"NAME\" }")]
pub enum HeaderSetting {
    /// As it stands; nothing secret.
    Literal(String),
    /// From the environment.
    Secret(SecretName),
}

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretName {
    /// The NAME of the environment variable that holds it.
    pub env: String,
}

/// How the server is told what form the answer has to have, where the caller wants one of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// By `json_schema`; where the server refuses that, by `json_object`, and then by nothing.
    #[default]
    Auto,
    /// By a JSON Schema; a server that refuses it is a failure.
    JsonSchema,
    /// By asking for any JSON object; a server that refuses it is a failure.
    JsonObject,
    /// Not at all.
    Text,
}

impl ChatSettings {
    /// The settings of a server and a model, all else as by default. Nothing is checked yet.
    #[must_use]
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            api_key_env: None,
            api_key_header: None,
            headers: BTreeMap::new(),
            options: Map::new(),
            max_tokens: None,
            max_completion_tokens: None,
            temperature: None,
            seed: None,
            mark_prompt_cache: false,
            stream: yes(),
            response_format: ResponseFormat::Auto,
            connect_timeout_ms: ten_seconds(),
            first_byte_timeout_ms: two_minutes(),
            idle_timeout_ms: one_minute(),
            timeout_ms: ten_minutes(),
            max_response_bytes: eight_mebibytes(),
            max_answer_bytes: quarter_mebibyte(),
            retries: two(),
            proxy: None,
            proxy_authorization_env: None,
            ca_file: None,
        }
    }

    /// Whether a client can be made of them, as far as can be said without environment and files.
    ///
    /// # Errors
    /// The first key whose value cannot be used, why, and what to write instead.
    pub fn validate(&self) -> Result<(), ChatSettingsError> {
        settings_check::check(self)
    }

    pub(super) fn first_byte_timeout(&self) -> Duration {
        Duration::from_millis(self.first_byte_timeout_ms)
    }

    pub(super) fn idle_timeout(&self) -> Duration {
        Duration::from_millis(self.idle_timeout_ms)
    }

    pub(super) fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    pub(super) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to it"
)]
fn is_no(value: &bool) -> bool {
    !value
}

fn yes() -> bool {
    true
}

fn two() -> u32 {
    2
}

fn ten_seconds() -> u64 {
    10_000
}

fn one_minute() -> u64 {
    60_000
}

fn two_minutes() -> u64 {
    120_000
}

fn ten_minutes() -> u64 {
    600_000
}

fn quarter_mebibyte() -> u64 {
    256 << 10
}

fn eight_mebibytes() -> u64 {
    8 << 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_has_its_default() {
        let read: ChatSettings =
            toml::from_str("base_url = 'http://127.0.0.1:1/v1'\nmodel = 'm'").unwrap();
        assert_eq!(read, ChatSettings::new("http://127.0.0.1:1/v1", "m"));
        read.validate().unwrap();
    }

    #[test]
    fn every_key_is_read_and_written_back() {
        let text = "
            base_url = 'https://example.org/v1/'
            model = 'm'
            api_key_env = 'KEY'
            api_key_header = 'api-key'
            max_tokens = 100
            temperature = 0
            seed = 7
            stream = false
            response_format = 'json_object'
            connect_timeout_ms = 1
            first_byte_timeout_ms = 2
            idle_timeout_ms = 3
            timeout_ms = 4
            max_response_bytes = 2048
            max_answer_bytes = 1024
            retries = 4
            proxy = 'http://127.0.0.1:3128'
            proxy_authorization_env = 'PROXY'
            ca_file = 'ca.pem'
            [headers]
            X-Title = 'Wharf'
            X-Team = { env = 'TEAM' }
            [options]
            top_p = 0.5
            provider = { order = ['a', 'b'] }
        ";
        let read: ChatSettings = toml::from_str(text).unwrap();
        read.validate().unwrap();
        assert_eq!(read.options["provider"]["order"][1], "b");
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(
            serde_json::from_value::<ChatSettings>(written).unwrap(),
            read
        );
    }

    #[test]
    fn an_unknown_key_is_refused() {
        for key in [
            "api_key = 'x'",
            "timeout = 3",
            "headers = { a = { file = 'x' } }",
        ] {
            let text = format!("base_url = 'http://h'\nmodel = 'm'\n{key}");
            assert!(toml::from_str::<ChatSettings>(&text).is_err(), "{key}");
        }
    }

    #[test]
    fn a_date_of_toml_is_refused_wherever_it_stands() {
        for date in ["since = 1979-05-27", "since = { a = [1979-05-27] }"] {
            let text = format!("base_url = 'http://h'\nmodel = 'm'\n[options]\n{date}");
            let read: ChatSettings = toml::from_str(&text).unwrap();
            let fault = read.validate().unwrap_err();
            assert!(
                matches!(&fault, ChatSettingsError::Key { key, .. } if key == "options.since"),
                "{fault:?}"
            );
        }
    }

    #[test]
    fn each_key_has_a_description_in_the_schema() {
        let schema = schemars::schema_for!(ChatSettings);
        let schema = schema.as_value();
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.len(), 23);
        for (key, property) in properties {
            assert!(property["description"].is_string(), "{key}");
        }
        assert_eq!(schema["additionalProperties"], false);
    }
}
