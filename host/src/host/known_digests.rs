//! Digests of components that many tasks are handed, each computed once.
//!
//! Owns that a digest is remembered for these very bytes: an `Arc<[u8]>` cannot change while anybody else, even weakly, refers to it.
//! Their memory is given back once nobody holds them and another component is met.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::{technologies::admission::Component, words::digest::Digest};

/// Remembers the digests of bytes that somebody still holds.
#[derive(Default)]
pub(super) struct KnownDigests(Mutex<Vec<(Weak<[u8]>, Digest)>>);

impl KnownDigests {
    /// The component of these bytes.
    pub(super) fn component<'a>(&self, bytes: &'a Arc<[u8]>) -> Component<'a> {
        let digest = self.of(bytes).unwrap_or_else(|| {
            let digest = Digest::of(bytes);
            let mut known = self.lock();
            known.retain(|(weak, _)| weak.strong_count() > 0);
            known.push((Arc::downgrade(bytes), digest));
            digest
        });
        Component::hashed(bytes, digest)
    }

    fn of(&self, bytes: &Arc<[u8]>) -> Option<Digest> {
        let known = self.lock();
        let (_, digest) = known.iter().find(|(weak, _)| {
            weak.upgrade()
                .is_some_and(|known| Arc::ptr_eq(&known, bytes))
        })?;
        Some(*digest)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Weak<[u8]>, Digest)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_these_very_bytes_are_known_and_none_that_are_gone() {
        let known = KnownDigests::default();
        let held: Arc<[u8]> = b"one".as_slice().into();
        for _ in 0..3 {
            let passing: Arc<[u8]> = b"two".as_slice().into();
            assert_eq!(known.component(&held).digest(), Digest::of("one"));
            assert_eq!(known.component(&passing).digest(), Digest::of("two"));
        }
        assert!(known.lock().len() <= 2);
    }
}
