//! What is refused is refused by its key, and no refusal repeats a secret.

use serde_json::json;

use super::*;
use crate::{
    technologies::chat::settings::SecretName,
    words::error::{Error, Kind},
};

fn settings() -> ChatSettings {
    ChatSettings::new("https://example.org/v1", "m")
}

#[track_caller]
fn refused(key: &str, change: impl FnOnce(&mut ChatSettings)) -> String {
    let mut settings = settings();
    change(&mut settings);
    let fault = settings.validate().unwrap_err();
    assert!(
        matches!(&fault, ChatSettingsError::Key { key: found, .. } if found == key),
        "{fault:?}"
    );
    let error = Error::from(fault);
    assert_eq!(
        (error.code(), error.kind()),
        ("provider-setting", Kind::InvalidInput)
    );
    assert!(!error.hint().is_empty() && !error.why().is_empty());
    format!("{error} {error:?} {}", error.hint())
}

#[test]
fn the_endpoint_stands_below_the_base() {
    for (base, endpoint) in [
        ("http://h", "http://h/chat/completions"),
        ("http://h/", "http://h/chat/completions"),
        ("https://h:8443/v1", "https://h:8443/v1/chat/completions"),
        ("https://h/v1/", "https://h/v1/chat/completions"),
        ("http://[::1]:80/a/b", "http://[::1]/a/b/chat/completions"),
    ] {
        assert_eq!(base_url(base).unwrap().as_str(), endpoint);
    }
}

#[test]
fn an_address_of_another_form_is_refused_and_not_repeated() {
    for bad in [
        "",
        "example.org/v1",
        "ftp://example.org",
        "file:///etc/passwd",
        "http://user:hunter2@example.org",
        "http://hunter2@example.org",
        "http://example.org/v1?key=hunter2",
        "http://example.org/v1#hunter2",
        "http://example.org/v1/chat/completions",
    ] {
        let said = refused("base_url", |it| it.base_url = bad.into());
        assert!(!said.contains("hunter2"), "{said}");
    }
    for bad in [
        "socks5://h:1",
        "http://user:hunter2@h:1",
        "http://h:1/path",
        "h:1",
        "",
    ] {
        let said = refused("proxy", |it| it.proxy = Some(bad.into()));
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[test]
fn a_header_that_carries_a_credential_is_refused_as_a_literal() {
    for name in ["authorization", "X-Api-Key", "cookie", "x-auth-token"] {
        let literal = HeaderSetting::Literal("hunter2hunter2".into());
        let said = refused(&format!("headers.{name}"), |it| {
            it.headers.insert(name.into(), literal);
        });
        assert!(!said.contains("hunter2"), "{said}");
    }
    let said = refused("headers.x-title", |it| {
        it.headers.insert(
            "x-title".into(),
            HeaderSetting::Literal("sk-abcdefghijklmnop0123456789".into()),
        );
    });
    assert!(!said.contains("sk-abc"), "{said}");
    let mut fine = settings();
    let secret = SecretName { env: "KEY".into() };
    fine.headers
        .insert("x-api-key".into(), HeaderSetting::Secret(secret));
    fine.validate().unwrap();
}

#[test]
fn a_header_of_the_clients_own_or_of_no_form_is_refused() {
    for name in [
        "Host",
        "content-type",
        "Content-Length",
        "a b",
        "",
        "user-agent",
    ] {
        refused(&format!("headers.{name}"), |it| {
            it.headers
                .insert(name.into(), HeaderSetting::Literal("x".into()));
        });
    }
    refused("headers.x-a", |it| {
        it.headers
            .insert("x-a".into(), HeaderSetting::Literal("a\r\nb: c".into()));
    });
    refused("headers.X-A", |it| {
        for name in ["X-A", "x-a"] {
            it.headers
                .insert(name.into(), HeaderSetting::Literal("x".into()));
        }
        // Sorted by bytes, the capital comes first; it is the second that is refused.
        it.api_key_env = Some("KEY".into());
        it.api_key_header = Some("x-a".into());
    });
    refused("api_key_header", |it| {
        it.api_key_header = Some("api-key".into())
    });
}

#[test]
fn a_variable_is_named_and_not_given() {
    let said = refused("api_key_env", |it| {
        it.api_key_env = Some("sk-abcdefghijklmnop0123456789".into());
    });
    assert!(!said.contains("sk-abc"), "{said}");
    refused("api_key_env", |it| it.api_key_env = Some(String::new()));
    refused("proxy_authorization_env", |it| {
        it.proxy_authorization_env = Some("A B".into())
    });
    refused("proxy_authorization_env", |it| {
        it.proxy_authorization_env = Some("A".into())
    });
}

#[test]
fn an_option_does_not_override_what_the_program_sets() {
    for name in OWN_FIELDS {
        refused(&format!("options.{name}"), |it| {
            it.options.insert(name.into(), json!(1));
        });
    }
    refused("options.api_key", |it| {
        it.options.insert("api_key".into(), json!("x"));
    });
    let mut fine = settings();
    fine.options.insert("top_p".into(), json!(0.5));
    fine.validate().unwrap();
}

#[test]
fn numbers_have_bounds() {
    refused("max_completion_tokens", |it| {
        it.max_tokens = Some(1);
        it.max_completion_tokens = Some(1);
    });
    refused("max_tokens", |it| it.max_tokens = Some(0));
    refused("temperature", |it| it.temperature = Some(2.1));
    refused("temperature", |it| it.temperature = Some(f64::NAN));
    refused("connect_timeout_ms", |it| it.connect_timeout_ms = 0);
    refused("first_byte_timeout_ms", |it| it.first_byte_timeout_ms = 0);
    refused("idle_timeout_ms", |it| it.idle_timeout_ms = 3_600_001);
    refused("timeout_ms", |it| it.timeout_ms = 0);
    refused("max_response_bytes", |it| it.max_response_bytes = 100);
    refused("max_answer_bytes", |it| it.max_answer_bytes = 0);
    refused("retries", |it| it.retries = 5);
    refused("model", |it| it.model = " ".into());
}
