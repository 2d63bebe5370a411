//! Which names and values look like a credential's, so that they do not stand in a configuration.

use crate::words::scrub::{SCRUBBED, scrubbed};

/// Whether a header of that name is made to carry a credential.
pub(super) fn is_credential_name(name: &str) -> bool {
    const PARTS: [&str; 9] = [
        "authorization",
        "api-key",
        "apikey",
        "auth-",
        "token",
        "secret",
        "password",
        "cookie",
        "credential",
    ];
    let name = name.to_ascii_lowercase().replace('_', "-");
    PARTS.iter().any(|part| name.contains(part))
        || name.ends_with("-key")
        || name.ends_with("-auth")
}

/// Whether a value has the shape of a credential.
pub(super) fn is_credential_value(value: &str) -> bool {
    scrubbed(value).contains(SCRUBBED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_known_by_the_name_of_their_header() {
        for name in [
            "Authorization",
            "Proxy-Authorization",
            "x-api-key",
            "api-key",
            "X_API_KEY",
            "Cookie",
            "Set-Cookie",
            "X-Auth-Token",
            "x-goog-api-key",
            "Ocp-Apim-Subscription-Key",
            "X-Auth-Email",
            "X-Secret",
            "my-auth",
        ] {
            assert!(is_credential_name(name), "{name}");
        }
        for name in [
            "X-Title",
            "HTTP-Referer",
            "OpenAI-Organization",
            "X-Author",
            "anthropic-version",
        ] {
            assert!(!is_credential_name(name), "{name}");
        }
    }
}
