//! Tracking numbers.

/// `TRK-` and the 64-bit FNV-1a hash of the task's id, in 16 upper-case hexadecimal digits.
///
/// A plugin has no randomness and needs none here: a task ships its order at most once, and whoever
/// knows the task's id can check the number. The hash is written out because that of the standard
/// library may change.
pub fn number(task_id: &str) -> String {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let hash = task_id.bytes().fold(OFFSET_BASIS, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    format!("TRK-{hash:016X}")
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_follow_the_published_test_vectors_of_fnv_1a() {
        assert_eq!(number(""), "TRK-CBF29CE484222325");
        assert_eq!(number("a"), "TRK-AF63DC4C8601EC8C");
        assert_eq!(number("foobar"), "TRK-85944171F73967E8");
    }
}
