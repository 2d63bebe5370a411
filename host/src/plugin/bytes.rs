//! The bytes of a component whose digest is known.
//!
//! Owns the one way from a file's content to something that can be compiled: whoever holds [`VerifiedBytes`] knows
//! which digest they have. Never reads a file. Called by whoever loads a plugin.

use std::{fmt, num::NonZeroUsize, sync::Arc};

use crate::words::{
    digest::Digest,
    error::{Facts, Fault, Kind},
};

/// The bytes of one component, with their SHA-256. The only thing that can be compiled. Cheap to clone.
#[derive(Clone)]
pub struct VerifiedBytes {
    bytes: Arc<[u8]>,
    digest: Digest,
}

impl VerifiedBytes {
    /// Accepts bytes that have the expected digest.
    ///
    /// # Errors
    /// More than `most` bytes; another digest.
    pub fn expect(
        bytes: impl Into<Arc<[u8]>>,
        expected: Digest,
        most: NonZeroUsize,
    ) -> Result<Self, BytesError> {
        let verified = Self::pin(bytes, most)?;
        if verified.digest != expected {
            return Err(BytesError::OtherDigest {
                expected,
                found: verified.digest,
            });
        }
        Ok(verified)
    }

    /// Pins the bytes that are there: from here on their digest is the expected one.
    ///
    /// # Errors
    /// More than `most` bytes.
    pub fn pin(bytes: impl Into<Arc<[u8]>>, most: NonZeroUsize) -> Result<Self, BytesError> {
        let bytes = bytes.into();
        if bytes.len() > most.get() {
            return Err(BytesError::TooLarge {
                found: bytes.len(),
                allowed: most.get(),
            });
        }
        let digest = Digest::of(&bytes);
        Ok(Self { bytes, digest })
    }

    /// The SHA-256 of the bytes.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for VerifiedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "VerifiedBytes({}, {} bytes)",
            self.digest,
            self.bytes.len()
        )
    }
}

/// Why bytes were not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BytesError {
    /// The component is larger than the limit.
    #[error("the component has {found} bytes, {allowed} are allowed")]
    TooLarge {
        /// Bytes found.
        found: usize,
        /// Bytes allowed.
        allowed: usize,
    },
    /// The bytes are not the expected ones.
    #[error("the component has the digest {found}, expected was {expected}")]
    OtherDigest {
        /// The digest that was asked for.
        expected: Digest,
        /// The digest of the bytes.
        found: Digest,
    },
}

impl Fault for BytesError {
    fn facts(&self) -> Facts {
        match self {
            Self::TooLarge { .. } => Facts::new(
                "plugin-too-large",
                Kind::Limit,
                "build it smaller (release profile, stripped), or raise the limit of component bytes",
            ),
            Self::OtherDigest { .. } => Facts::new(
                "plugin-digest-mismatch",
                Kind::InvalidInput,
                "hand in the very component that was pinned, or pin the new digest",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::error::Error;

    const MOST: NonZeroUsize = NonZeroUsize::new(3).unwrap();

    #[test]
    fn only_bytes_with_the_expected_digest_are_accepted() {
        let bytes = VerifiedBytes::expect(*b"abc", Digest::of("abc"), MOST).unwrap();
        assert_eq!(bytes.as_slice(), b"abc");
        assert_eq!(bytes.digest(), Digest::of("abc"));
        let error = VerifiedBytes::expect(*b"abd", Digest::of("abc"), MOST).unwrap_err();
        assert_eq!(Error::from(error).code(), "plugin-digest-mismatch");
    }

    #[test]
    fn a_component_beyond_the_size_limit_is_refused_before_anything_else() {
        let error = VerifiedBytes::pin(*b"abcd", MOST).unwrap_err();
        assert_eq!(Error::from(error).code(), "plugin-too-large");
    }
}
