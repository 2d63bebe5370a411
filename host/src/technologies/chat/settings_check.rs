//! What settings are refused, and what to write instead.
//!
//! Owns every rule that needs neither environment nor files. Called by
//! [`ChatSettings::validate`](super::settings::ChatSettings::validate).

use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use serde_json::Value;

use super::{
    credential::{is_credential_name, is_credential_value},
    settings::{ChatSettings, HeaderSetting},
    settings_error::ChatSettingsError,
};

/// What a proxy that is not wanted is called.
pub(super) const NO_PROXY: &str = "none";

const MOST_MS: u64 = 3_600_000;
const MOST_RETRIES: u32 = 4;
const MOST_HEADERS: usize = 32;
const MOST_TEXT: usize = 2000;

/// Fields of the body that other settings or the caller decide.
const OWN_FIELDS: [&str; 16] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "response_format",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "n",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "seed",
    "prompt",
    "input",
];

/// Headers that the client writes itself.
const OWN_HEADERS: [&str; 15] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

type Checked = Result<(), ChatSettingsError>;

/// The first fault of the settings.
pub(super) fn check(settings: &ChatSettings) -> Checked {
    base_url(&settings.base_url)?;
    filled("model", &settings.model)?;
    if is_credential_value(&settings.model) {
        let hint = "write the model's name; a key stands in the environment variable that `api_key_env` names";
        return Err(ChatSettingsError::key(
            "model",
            "it has the shape of a key",
            hint,
        ));
    }
    let variables = [
        ("api_key_env", &settings.api_key_env),
        ("proxy_authorization_env", &settings.proxy_authorization_env),
    ];
    for (key, variable) in variables {
        if let Some(variable) = variable {
            variable_name(key, variable)?;
        }
    }
    headers(settings)?;
    options(settings)?;
    sampling(settings)?;
    bounds(settings)?;
    proxy(settings)
}

/// The address of the endpoint: the base, and `/chat/completions`.
pub(super) fn base_url(text: &str) -> Result<Url, ChatSettingsError> {
    const HINT: &str = "write http://HOST[:PORT]/PATH or https://HOST[:PORT]/PATH, as in https://api.example.org/v1";
    let url = address("base_url", text, HINT)?;
    if url.query().is_some() || url.fragment().is_some() {
        let why = "it has a query or a fragment, and `/chat/completions` is put at its end";
        return Err(ChatSettingsError::key("base_url", why, HINT));
    }
    let path = url.path().trim_end_matches('/');
    if path.ends_with("/chat/completions") {
        let why = "`/chat/completions` is put at its end";
        return Err(ChatSettingsError::key(
            "base_url",
            why,
            "leave `/chat/completions` out",
        ));
    }
    let path = format!("{path}/chat/completions");
    let mut endpoint = url;
    endpoint.set_path(&path);
    Ok(endpoint)
}

/// The address of a proxy.
pub(super) fn proxy_url(key: &str, text: &str) -> Result<Url, ChatSettingsError> {
    const HINT: &str =
        "write http://HOST:PORT, or \"none\"; name a secret in `proxy_authorization_env`";
    let url = address(key, text, HINT)?;
    if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
        return Err(ChatSettingsError::key(
            key,
            "it has more than a host and a port",
            HINT,
        ));
    }
    Ok(url)
}

/// No error repeats the address, which may hold a password.
fn address(key: &str, text: &str, hint: &str) -> Result<Url, ChatSettingsError> {
    let fault = |why: &str| ChatSettingsError::key(key, why, hint);
    if text.len() > MOST_TEXT {
        return Err(fault("it is longer than 2000 bytes"));
    }
    let url = Url::parse(text).map_err(|error| fault(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(fault("it is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(fault("it holds a user or a password"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(fault("it has no host"));
    }
    Ok(url)
}

fn filled(key: &str, text: &str) -> Checked {
    if text.trim().is_empty() || text.len() > MOST_TEXT || text.chars().any(char::is_control) {
        let why = "it is empty, longer than 2000 bytes, or has a control character";
        return Err(ChatSettingsError::key(
            key,
            why,
            "write it as the server names it",
        ));
    }
    Ok(())
}

/// A name that is a secret by mistake is not repeated.
fn variable_name(key: &str, name: &str) -> Checked {
    let fine = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.len() <= 200
        && !is_credential_value(name);
    if fine {
        return Ok(());
    }
    let why = "it is not the name of an environment variable";
    let hint = "write the NAME of the variable, as in \"EXAMPLE_API_KEY\", not what it holds";
    Err(ChatSettingsError::key(key, why, hint))
}

fn headers(settings: &ChatSettings) -> Checked {
    let mut seen = Vec::new();
    if let Some(name) = &settings.api_key_header {
        if settings.api_key_env.is_none() {
            let why = "there is no key to send in it";
            return Err(ChatSettingsError::key(
                "api_key_header",
                why,
                "name the key's variable in `api_key_env`, or leave it out",
            ));
        }
        seen.push(header_name("api_key_header", name)?);
    } else if settings.api_key_env.is_some() {
        seen.push(reqwest::header::AUTHORIZATION);
    }
    if settings.headers.len() > MOST_HEADERS {
        return Err(ChatSettingsError::key(
            "headers",
            "there are more than 32",
            "leave some out",
        ));
    }
    for (name, setting) in &settings.headers {
        let key = format!("headers.{}", crate::words::escape::excerpt(name, 60));
        let parsed = header_name(&key, name)?;
        if seen.contains(&parsed) {
            let why = "the header is there already";
            return Err(ChatSettingsError::key(
                key,
                why,
                "write each header once; the key's own is set by `api_key_env`",
            ));
        }
        header_value(&key, parsed.as_str(), setting)?;
        seen.push(parsed);
    }
    Ok(())
}

fn header_name(key: &str, name: &str) -> Result<HeaderName, ChatSettingsError> {
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
        ChatSettingsError::key(
            key,
            "it is not the name of a header",
            "write letters, digits and hyphens",
        )
    })?;
    if OWN_HEADERS.contains(&parsed.as_str()) {
        return Err(ChatSettingsError::key(
            key,
            "the client writes that header itself",
            "leave it out",
        ));
    }
    Ok(parsed)
}

fn header_value(key: &str, name: &str, setting: &HeaderSetting) -> Checked {
    match setting {
        HeaderSetting::Secret(secret) => variable_name(&format!("{key}.env"), &secret.env),
        HeaderSetting::Literal(value) => {
            if is_credential_name(name) || is_credential_value(value) {
                let why = "it carries a credential, which does not belong into a configuration";
                return Err(ChatSettingsError::key(
                    key,
                    why,
                    "write { env = \"NAME\" } with the name of an environment variable",
                ));
            }
            if value.len() > MOST_TEXT || HeaderValue::from_str(value).is_err() {
                let why = "its value cannot be sent in a header";
                return Err(ChatSettingsError::key(
                    key,
                    why,
                    "write at most 2000 visible ASCII characters",
                ));
            }
            Ok(())
        }
    }
}

fn options(settings: &ChatSettings) -> Checked {
    for (name, value) in &settings.options {
        let key = format!("options.{}", crate::words::escape::excerpt(name, 60));
        if OWN_FIELDS.contains(&name.as_str()) {
            let why = "that field is set by this program, or has a setting of its own";
            return Err(ChatSettingsError::key(
                key,
                why,
                "leave it out, or use the setting of that name",
            ));
        }
        if has_date(value) {
            return Err(ChatSettingsError::key(
                key,
                "JSON has no dates",
                "write the date as a text in quotes",
            ));
        }
        if is_credential_name(name) || is_credential_value(&value.to_string()) {
            let why = "it looks like a credential, which does not belong into a configuration";
            return Err(ChatSettingsError::key(
                key,
                why,
                "send it in a header: headers.NAME = { env = \"NAME\" }",
            ));
        }
    }
    Ok(())
}

/// So the reader of TOML hands on a date.
fn has_date(value: &Value) -> bool {
    match value {
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| key.starts_with("$__toml_private") || has_date(value)),
        Value::Array(items) => items.iter().any(has_date),
        _ => false,
    }
}

fn sampling(settings: &ChatSettings) -> Checked {
    if settings.max_tokens.is_some() && settings.max_completion_tokens.is_some() {
        let why = "`max_tokens` is there as well";
        return Err(ChatSettingsError::key(
            "max_completion_tokens",
            why,
            "write the one that the server documents for the model",
        ));
    }
    let limits = [
        ("max_tokens", settings.max_tokens),
        ("max_completion_tokens", settings.max_completion_tokens),
    ];
    for (key, limit) in limits {
        if limit == Some(0) {
            return Err(ChatSettingsError::key(
                key,
                "no answer has no tokens",
                "write at least 1, or leave it out",
            ));
        }
    }
    if settings
        .temperature
        .is_some_and(|it| !(0.0..=2.0).contains(&it))
    {
        return Err(ChatSettingsError::key(
            "temperature",
            "it is out of range",
            "write a number from 0 to 2",
        ));
    }
    Ok(())
}

fn bounds(settings: &ChatSettings) -> Checked {
    for (key, value, least, most) in [
        (
            "connect_timeout_ms",
            settings.connect_timeout_ms,
            1,
            MOST_MS,
        ),
        (
            "first_byte_timeout_ms",
            settings.first_byte_timeout_ms,
            1,
            MOST_MS,
        ),
        ("idle_timeout_ms", settings.idle_timeout_ms, 1, MOST_MS),
        ("timeout_ms", settings.timeout_ms, 1, MOST_MS),
        (
            "max_response_bytes",
            settings.max_response_bytes,
            1 << 10,
            256 << 20,
        ),
        ("max_answer_bytes", settings.max_answer_bytes, 1, 64 << 20),
        ("retries", settings.retries.into(), 0, MOST_RETRIES.into()),
    ] {
        if !(least..=most).contains(&value) {
            let hint = format!("write a number from {least} to {most}");
            return Err(ChatSettingsError::key(
                key,
                format!("{value} is out of range"),
                hint,
            ));
        }
    }
    Ok(())
}

fn proxy(settings: &ChatSettings) -> Checked {
    match settings.proxy.as_deref() {
        None | Some(NO_PROXY) if settings.proxy_authorization_env.is_some() => {
            let why = "there is no `proxy` to send it to";
            Err(ChatSettingsError::key(
                "proxy_authorization_env",
                why,
                "name the proxy in `proxy`, or leave it out",
            ))
        }
        None | Some(NO_PROXY) => Ok(()),
        Some(text) => proxy_url("proxy", text).map(drop),
    }
}

#[cfg(test)]
#[path = "settings_check_tests.rs"]
mod tests;
