//! The headers by which a server lets us in, and the secrets in them.
//!
//! Reads the variables that the settings name, once, while a client is made.

use reqwest::header::{
    ACCEPT_ENCODING, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};

use super::{
    secret::{Secret, Secrets},
    settings::{ChatSettings, HeaderSetting},
    settings_error::ChatSettingsError,
    surroundings::Surroundings,
};

/// The headers of each request, and what must not be shown. The settings are checked already.
pub(super) fn headers(
    settings: &ChatSettings,
    surroundings: &Surroundings<'_>,
    secrets: &mut Secrets,
) -> Result<HeaderMap, ChatSettingsError> {
    let mut headers = HeaderMap::new();
    let agent = concat!("wharf/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if let Some(variable) = &settings.api_key_env {
        let (name, prefix) = match &settings.api_key_header {
            Some(name) => (header_name("api_key_header", name)?, ""),
            None => (AUTHORIZATION, "Bearer "),
        };
        let value = secret("api_key_env", variable, prefix, surroundings, secrets)?;
        headers.insert(name, value);
    }
    for (name, setting) in &settings.headers {
        let key = format!("headers.{name}");
        let value = match setting {
            HeaderSetting::Literal(text) => HeaderValue::from_str(text).map_err(|_| {
                let why = "its value cannot be sent in a header";
                ChatSettingsError::key(&key, why, "write visible ASCII characters")
            })?,
            HeaderSetting::Secret(from) => secret(&key, &from.env, "", surroundings, secrets)?,
        };
        headers.insert(header_name(&key, name)?, value);
    }
    Ok(headers)
}

/// What a variable holds, behind a prefix, for a header.
pub(super) fn secret(
    key: &str,
    variable: &str,
    prefix: &str,
    surroundings: &Surroundings<'_>,
    secrets: &mut Secrets,
) -> Result<HeaderValue, ChatSettingsError> {
    let held = surroundings
        .variable(variable)
        .ok_or_else(|| ChatSettingsError::Variable {
            key: key.to_owned(),
            variable: variable.to_owned(),
        })?;
    // An end of line comes along when a variable is set from a file.
    let secret = Secret::new(held.trim());
    let value = secret
        .header(prefix)
        .ok_or_else(|| ChatSettingsError::NotAHeader {
            key: key.to_owned(),
            variable: variable.to_owned(),
        })?;
    secrets.add(&secret);
    Ok(value)
}

fn header_name(key: &str, name: &str) -> Result<HeaderName, ChatSettingsError> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
        let why = "it is not the name of a header";
        ChatSettingsError::key(key, why, "write letters, digits and hyphens")
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::technologies::chat::settings::SecretName;

    fn read(
        settings: &ChatSettings,
        variables: &[(&str, &str)],
    ) -> Result<(HeaderMap, Secrets), ChatSettingsError> {
        let held = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let mut secrets = Secrets::default();
        let surroundings = Surroundings::new(&held, Path::new("."));
        headers(settings, &surroundings, &mut secrets).map(|headers| (headers, secrets))
    }

    #[test]
    fn secrets_stand_in_headers_and_are_not_shown() {
        let mut settings = ChatSettings::new("http://h", "m");
        settings.api_key_env = Some("KEY".into());
        settings
            .headers
            .insert("X-Title".into(), HeaderSetting::Literal("Wharf".into()));
        let team = SecretName { env: "TEAM".into() };
        settings
            .headers
            .insert("X-Team".into(), HeaderSetting::Secret(team));
        let variables = [("KEY", "hunter2\n"), ("TEAM", "hunter3")];
        let (headers, secrets) = read(&settings, &variables).unwrap();
        assert_eq!(headers["authorization"], "Bearer hunter2");
        assert_eq!(
            (headers["x-title"].as_bytes(), headers["x-team"].as_bytes()),
            (&b"Wharf"[..], &b"hunter3"[..])
        );
        assert!(!format!("{headers:?}").contains("hunter"), "{headers:?}");
        assert_eq!(secrets.words("hunter2 hunter3"), "*** ***");
        settings.api_key_header = Some("api-key".into());
        let (headers, _) = read(&settings, &variables).unwrap();
        assert_eq!(headers["api-key"], "hunter2");
        assert!(!headers.contains_key("authorization"));
    }

    #[test]
    fn a_variable_that_holds_nothing_of_use_is_named_and_what_it_holds_is_not() {
        let mut settings = ChatSettings::new("http://h", "m");
        settings.api_key_env = Some("KEY".into());
        for variables in [&[][..], &[("KEY", " ")]] {
            let fault = read(&settings, variables).unwrap_err();
            assert!(
                matches!(fault, ChatSettingsError::Variable { .. }),
                "{fault:?}"
            );
        }
        let fault = read(&settings, &[("KEY", "hunter2\nhunter3")]).unwrap_err();
        assert!(
            matches!(&fault, ChatSettingsError::NotAHeader { variable, .. } if variable == "KEY")
        );
        assert!(!format!("{fault:?} {fault}").contains("hunter"));
    }
}
