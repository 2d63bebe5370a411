//! What goes wrong below HTTP.
//!
//! Owns the reading of the HTTP library's errors, which says what happened only in the types and texts of its chain of causes.

use std::{error::Error, io};

use super::fault::{ChatFaultKind, Failure};

/// Why a request got no response.
pub(super) fn of_request(error: &reqwest::Error) -> Failure {
    let words = innermost(error);
    let kind = if tls(error).is_some() {
        ChatFaultKind::Tls
    } else if error.is_connect() && words.contains("proxy authorization required") {
        ChatFaultKind::Proxy
    } else if error.is_connect() && error.is_timeout() {
        ChatFaultKind::ConnectTimeout
    } else if error.is_connect() {
        ChatFaultKind::Connect
    } else {
        ChatFaultKind::ConnectionLost
    };
    Failure::new(kind, words)
}

/// Why a response's body broke off.
pub(super) fn of_body(error: &reqwest::Error) -> Failure {
    Failure::new(ChatFaultKind::StreamCut, innermost(error))
}

/// What the cause of all causes says. The outer ones repeat the address.
fn innermost(error: &reqwest::Error) -> String {
    if let Some(tls) = tls(error) {
        return tls.to_string();
    }
    causes(error)
        .last()
        .map_or_else(String::new, ToString::to_string)
}

/// From the outermost to the innermost, with what an error of input and output holds without naming it as its cause.
fn causes<'a>(error: &'a reqwest::Error) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| next(*cause))
}

fn next<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match cause
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(held) => Some(held),
        None => cause.source(),
    }
}

fn tls(error: &reqwest::Error) -> Option<&rustls::Error> {
    causes(error).find_map(|cause| cause.downcast_ref())
}
