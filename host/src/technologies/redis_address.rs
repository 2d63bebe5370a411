//! Where a Redis is, and as whom one speaks to it.
//!
//! Owns the reading of a `redis://` address, and the secrets in it: nothing that this file gives out but the connection
//! itself repeats them. Never connects. Called by whoever makes a [`RedisContext`](super::redis_context::RedisContext).

use std::fmt;

use redis::{
    Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, io::tcp::TcpSettings,
};

use crate::words::error::{Facts, Fault, Kind};

/// The address of a Redis: `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`. Its `Display` and `Debug` are host, port and
/// database alone.
#[derive(Clone)]
pub struct RedisAddress(ConnectionInfo);

impl RedisAddress {
    /// Reads an address. Port 6379 and database 0 where none is named; user and password may be percent-encoded.
    ///
    /// # Errors
    /// Another scheme, TLS, which is not supported, or another form. No error repeats a part of the address.
    pub fn parse(address: &str) -> Result<Self, RedisAddressError> {
        if address.starts_with("rediss://") {
            return Err(RedisAddressError::Tls);
        }
        if !address.starts_with("redis://") {
            return Err(RedisAddressError::Form);
        }
        // The crate takes options of its own there, and passes over those that it does not know.
        if address.contains(['?', '#']) {
            return Err(RedisAddressError::Options);
        }
        let info = address
            .into_connection_info()
            .map_err(|_| RedisAddressError::Form)?;
        if info.redis_settings().db() < 0 {
            return Err(RedisAddressError::Form);
        }
        // A connection that announces itself has its first refusal answered to the announcement, where nobody looks.
        let settings = info.redis_settings().clone().set_skip_set_lib_name();
        Ok(Self(info.set_redis_settings(settings).set_tcp_settings(
            TcpSettings::default().set_nodelay(true),
        )))
    }

    /// Whether it names a password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.0.redis_settings().password().is_some()
    }

    /// With this password, where the address has none.
    #[must_use]
    pub fn or_password(self, password: &str) -> Self {
        if self.has_password() {
            return self;
        }
        let settings = self.0.redis_settings().clone().set_password(password);
        Self(self.0.set_redis_settings(settings))
    }

    pub(super) fn client(&self) -> Client {
        Client::open(self.0.clone()).expect("an address that was read needs no further reading")
    }

    /// A text of the server's without the secrets, should it repeat them.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let settings = self.0.redis_settings();
        [settings.password(), settings.username()]
            .into_iter()
            .flatten()
            .filter(|secret| !secret.is_empty())
            .fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
    }
}

impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.addr() {
            ConnectionAddr::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}")?,
            address => write!(f, "{address}")?,
        }
        write!(f, "/{}", self.0.redis_settings().db())
    }
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisAddress({self})")
    }
}

/// Why an address cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedisAddressError {
    /// It is no address of a Redis.
    #[error("that is not the address of a Redis")]
    Form,
    /// It has a `?` or a `#`.
    #[error("the address of the Redis has a part that is not known")]
    Options,
    /// It is one over TLS.
    #[error("a Redis over TLS is not available")]
    Tls,
}

impl Fault for RedisAddressError {
    fn facts(&self) -> Facts {
        let (code, hint) = match self {
            Self::Form => (
                "context-address",
                "write it as redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]",
            ),
            Self::Options => (
                "context-address",
                "leave the part out; in a password, write `?` as %3F and `#` as %23",
            ),
            Self::Tls => (
                "context-not-available",
                "use redis:// through a tunnel, or in a network that nobody else can listen to",
            ),
        };
        Facts::new(code, Kind::InvalidInput, hint)
    }

    fn why(&self) -> Option<String> {
        Some(
            match self {
                Self::Form => "it does not have the form of one",
                Self::Options => "it has a `?` or a `#`",
                Self::Tls => "it is not in this version",
            }
            .into(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{super::fixtures::assert_error, *};

    fn shown(address: &str) -> String {
        RedisAddress::parse(address).unwrap().to_string()
    }

    #[test]
    fn an_address_is_shown_without_user_and_password() {
        assert_eq!(shown("redis://cache"), "cache:6379/0");
        assert_eq!(
            shown("redis://:s%40cret@127.0.0.1:7000/3"),
            "127.0.0.1:7000/3"
        );
        assert_eq!(shown("redis://me:secret@[::1]:7000"), "[::1]:7000/0");
        let address = RedisAddress::parse("redis://me:secret@cache").unwrap();
        assert_eq!(format!("{address:?}"), "RedisAddress(cache:6379/0)");
        assert_eq!(
            address.without_secrets("ERR user me may not `secret`"),
            "ERR user *** may not `***`"
        );
    }

    #[test]
    fn a_password_from_elsewhere_counts_where_the_address_has_none() {
        let password = |address: &str| {
            let address = RedisAddress::parse(address).unwrap().or_password("other");
            let settings = address.0.redis_settings().clone();
            (
                settings.username().map(str::to_owned),
                settings.password().map(str::to_owned),
            )
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(password("redis://h"), (None, some("other")));
        assert_eq!(password("redis://me@h"), (some("me"), some("other")));
        assert_eq!(password("redis://:own@h"), (None, some("own")));
    }

    #[test]
    fn what_is_no_address_is_refused_without_being_repeated() {
        for (address, code) in [
            ("", "context-address"),
            ("redis://", "context-address"),
            ("redis://:secret@", "context-address"),
            ("redis://:secret@h:port", "context-address"),
            ("redis://:secret@h/first", "context-address"),
            ("redis://:secret@h/-1", "context-address"),
            ("redis://:secret@h/0/1", "context-address"),
            ("redis://:secret@0.0.0.0", "context-address"),
            ("redis://:sec?ret@h", "context-address"),
            ("redis://:secret@h/0?timeout=1", "context-address"),
            ("redis://:secret@h#insecure", "context-address"),
            ("redis+unix:///secret", "context-address"),
            ("unix:///secret", "context-address"),
            ("valkey://:secret@h", "context-address"),
            ("rediss://:secret@h", "context-not-available"),
        ] {
            let error = RedisAddress::parse(address).unwrap_err();
            let facts = error.facts();
            let said = format!("{error}{error:?}{:?}{}", error.why(), facts.hint);
            assert!(!said.contains("secret"), "{said}");
            assert_error(error, code, Kind::InvalidInput);
        }
    }
}
