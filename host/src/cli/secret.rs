//! What must be shown to nobody: it is taken in here, and given to the library alone.

use std::fmt;

use wharf::technologies::redis_address::{RedisAddress, RedisAddressError};

use super::environment::Environment;

/// A password. No `Debug` of whatever holds it repeats it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(String);

impl Secret {
    pub(super) const fn new(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The address of a Redis as it was typed, perhaps with a password in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TypedAddress(Secret);

impl TypedAddress {
    pub(super) const fn new(typed: String) -> Self {
        Self(Secret::new(typed))
    }

    /// What it means, with the password of the environment where it has none of its own.
    pub(super) fn read(
        &self,
        environment: &Environment,
    ) -> Result<RedisAddress, RedisAddressError> {
        let Self(Secret(typed)) = self;
        let address = RedisAddress::parse(typed)?;
        Ok(match &environment.redis_password {
            Some(Secret(password)) => address.or_password(password),
            None => address,
        })
    }
}

/// A text in which what stands between `://` and the last `@` of a word is not shown.
pub(super) fn without_credentials(text: &str) -> String {
    let word = |word: &str| match (word.find("://"), word.rfind('@')) {
        (Some(start), Some(end)) if start + 3 <= end => {
            format!("{}***{}", &word[..start + 3], &word[end..])
        }
        _ => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_a_host_is_not_shown() {
        assert_eq!(
            without_credentials("unexpected argument 'redis://me:p@ss@host:1/2' found"),
            "unexpected argument 'redis://***@host:1/2' found"
        );
        for harmless in ["redis://host", "me@host", "a@://", "://"] {
            assert_eq!(without_credentials(harmless), harmless);
        }
    }
}
