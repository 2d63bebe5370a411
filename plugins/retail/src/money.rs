//! Money is a double, unrounded unless a rule says so: the sums of the benchmark's end states are
//! binary ones.

/// The double nearest to the two-digit decimal that is nearest to the exact value of `amount`; an exact
/// tie goes to the even digit. Not `(amount * 100).round() / 100`. Infinities and NaN stay as they are.
pub fn round2(amount: f64) -> f64 {
    // Formatting rounds the exact value, ties to even, and keeps the sign of zero.
    format!("{amount:.2}")
        .parse()
        .expect("what is formatted as a number is one")
}

#[cfg(test)]
mod tests {
    use super::round2;

    #[test]
    fn the_exact_value_is_rounded_and_ties_go_to_the_even_digit() {
        for (amount, rounded) in [
            (2.675, 2.67),
            (0.125, 0.12),
            (0.375, 0.38),
            (-0.125, -0.12),
            (1.005, 1.0),
            (14.040_000_000_000_006, 14.04),
            (71.960_000_000_000_01, 71.96),
            (1e15 + 0.25, 1e15 + 0.25),
            (1e300, 1e300),
        ] {
            assert_eq!(round2(amount), rounded, "{amount}");
        }
    }

    #[test]
    fn a_small_negative_amount_becomes_negative_zero() {
        assert_eq!(round2(-0.001).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(round2(0.001).to_bits(), 0.0_f64.to_bits());
    }
}
