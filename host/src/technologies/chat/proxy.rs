//! Which proxy stands between the client and its server.
//!
//! Owns the precedence: the settings, then the environment where the program lets it, then none. All requests of a client go to one
//! address, so the choice is made once.

use std::net::IpAddr;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::{NoProxy, Proxy, Url, header::HeaderValue};

use super::{
    access::secret,
    secret::{Secret, Secrets},
    settings::ChatSettings,
    settings_check::{NO_PROXY, proxy_url},
    settings_error::ChatSettingsError,
    surroundings::Surroundings,
};

/// A proxy, and whether it is reached by TLS.
pub(super) struct Chosen {
    pub(super) proxy: Proxy,
    pub(super) tls: bool,
}

/// The proxy for an endpoint; none: no proxy.
pub(super) fn choose(
    settings: &ChatSettings,
    endpoint: &Url,
    surroundings: &Surroundings<'_>,
    secrets: &mut Secrets,
) -> Result<Option<Chosen>, ChatSettingsError> {
    match settings.proxy.as_deref() {
        Some(NO_PROXY) => Ok(None),
        Some(text) => {
            let url = proxy_url("proxy", text)?;
            let variable = settings.proxy_authorization_env.as_deref();
            let authorization = variable
                .map(|it| secret("proxy_authorization_env", it, "", surroundings, secrets))
                .transpose()?;
            chosen(url, authorization).map(Some)
        }
        None if surroundings.environment_proxies => of_environment(endpoint, surroundings, secrets),
        None => Ok(None),
    }
}

fn chosen(url: Url, authorization: Option<HeaderValue>) -> Result<Chosen, ChatSettingsError> {
    let tls = url.scheme() == "https";
    let proxy = Proxy::all(url).map_err(|error| ChatSettingsError::Client {
        why: error.without_url().to_string(),
    })?;
    let proxy = match authorization {
        Some(value) => proxy.custom_http_auth(value),
        None => proxy,
    };
    Ok(Chosen { proxy, tls })
}

/// By `HTTP_PROXY` or `HTTPS_PROXY`, then `ALL_PROXY`; each in small letters first. `NO_PROXY` names hosts that need none.
fn of_environment(
    endpoint: &Url,
    surroundings: &Surroundings<'_>,
    secrets: &mut Secrets,
) -> Result<Option<Chosen>, ChatSettingsError> {
    let held = |name: &str| {
        [name.to_ascii_lowercase(), name.to_owned()]
            .into_iter()
            .find_map(|name| Some((surroundings.variable(&name)?, name)))
    };
    // What runs on this machine is nobody else's business, and no proxy could reach it.
    if is_loopback(endpoint) {
        return Ok(None);
    }
    let scheme = format!("{}_PROXY", endpoint.scheme().to_ascii_uppercase());
    let Some((text, variable)) = held(&scheme).or_else(|| held("ALL_PROXY")) else {
        return Ok(None);
    };
    let (url, authorization) = read(text.trim(), secrets).ok_or_else(|| {
        let why = format!("the environment's {variable} holds no address of an HTTP proxy");
        let hint = format!("set {variable} to http://HOST:PORT, or write `proxy` in the provider's settings; \"none\" for no proxy");
        ChatSettingsError::key("proxy", why, hint)
    })?;
    let mut chosen = chosen(url, authorization)?;
    if let Some((hosts, _)) = held("NO_PROXY") {
        chosen.proxy = chosen.proxy.no_proxy(NoProxy::from_string(&hosts));
    }
    Ok(Some(chosen))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// An address as tools write it into the environment: the scheme may be left out, and a user may be there.
fn read(text: &str, secrets: &mut Secrets) -> Option<(Url, Option<HeaderValue>)> {
    let whole = if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}")
    };
    let mut url = Url::parse(&whole).ok()?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return None;
    }
    let user = percent_decoded(url.username());
    let password = percent_decoded(url.password().unwrap_or_default());
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    if user.is_empty() && password.is_empty() {
        return Some((url, None));
    }
    let encoded = STANDARD.encode([&user[..], b":", &password[..]].concat());
    let header = Secret::new(encoded);
    secrets.add(&header);
    if !password.is_empty() {
        secrets.add(&Secret::new(String::from_utf8_lossy(&password)));
    }
    Some((url, Some(header.header("Basic ")?)))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut decoded = Vec::with_capacity(rest.len());
    while let [first, others @ ..] = rest {
        let code = || {
            let digits = std::str::from_utf8(others.get(..2)?).ok()?;
            u8::from_str_radix(digits, 16).ok()
        };
        match (*first == b'%').then(code).flatten() {
            Some(code) => {
                decoded.push(code);
                rest = &others[2..];
            }
            None => {
                decoded.push(*first);
                rest = others;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_the_environment_may_have_a_user_who_is_not_shown() {
        let mut secrets = Secrets::default();
        let (url, header) = read("http://user:p%40ssw%3Ard@h:1/", &mut secrets).unwrap();
        assert_eq!(url.as_str(), "http://h:1/");
        assert_eq!(
            header.unwrap().to_str().unwrap(),
            "Basic dXNlcjpwQHNzdzpyZA=="
        );
        assert_eq!(secrets.words("p@ssw:rd dXNlcjpwQHNzdzpyZA=="), "*** ***");
        let (url, header) = read("h:3128", &mut secrets).unwrap();
        assert_eq!((url.as_str(), header), ("http://h:3128/", None));
        for bad in ["socks5://h:1", "http://", "://", "http://h:port"] {
            assert!(read(bad, &mut secrets).is_none(), "{bad}");
        }
    }

    #[test]
    fn what_is_no_escape_stays() {
        for (text, expected) in [("a%2", "a%2"), ("%zz%", "%zz%"), ("%41%4", "A%4"), ("", "")] {
            assert_eq!(percent_decoded(text), expected.as_bytes());
        }
    }
}
