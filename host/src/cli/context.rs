//! `--context`: in memory, or in a Redis at an address.

use std::ffi::OsString;

use clap::builder::{OsStringValueParser, TypedValueParser};
use wharf::{Error, technologies::redis_address::RedisAddress};

use super::{environment::Environment, error::CliError, secret::TypedAddress};

/// As typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ContextChoice {
    Embedded,
    Redis(TypedAddress),
    Other,
}

impl ContextChoice {
    /// The address of the Redis; none: in memory. Connects to nothing.
    pub(super) fn address(&self, environment: &Environment) -> Result<Option<RedisAddress>, Error> {
        match self {
            Self::Embedded => Ok(None),
            Self::Redis(address) => Ok(Some(address.read(environment)?)),
            Self::Other => Err(CliError::UnknownContext.into()),
        }
    }
}

impl From<OsString> for ContextChoice {
    fn from(typed: OsString) -> Self {
        match typed.into_string() {
            Ok(name) if name == "embedded" => Self::Embedded,
            Ok(address) if address.starts_with("redis://") || address.starts_with("rediss://") => {
                Self::Redis(TypedAddress::new(address))
            }
            _ => Self::Other,
        }
    }
}

/// Reads leniently: what looks like an address may hold a password, and must not stand in an error.
pub(super) fn context() -> impl TypedValueParser<Value = ContextChoice> {
    OsStringValueParser::new().map(ContextChoice::from)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{error::render, look::Look},
        *,
    };

    #[test]
    fn a_context_is_embedded_or_an_address_and_no_error_repeats_one() {
        let environment = Environment::read();
        let read = |typed: &str| ContextChoice::from(OsString::from(typed)).address(&environment);
        assert!(read("embedded").unwrap().is_none());
        let address = read("redis://me:secret@host").unwrap().unwrap();
        assert_eq!(address.to_string(), "host:6379/0");
        for (typed, code) in [
            ("rediss://:secret@host", "context-not-available"),
            ("redis://:secret@host:port", "context-address"),
            ("redsi://:secret@host", "usage"),
            ("Embedded", "usage"),
        ] {
            let error = read(typed).unwrap_err();
            assert_eq!(
                (error.code(), error.kind()),
                (code, wharf::Kind::InvalidInput)
            );
            assert!(!render(&error, Look::plain()).contains("secret"));
            let typed = ContextChoice::from(OsString::from(typed));
            assert!(!format!("{typed:?}").contains("secret"));
        }
    }
}
