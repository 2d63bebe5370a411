//! Order statistics of a few hundred measurements.

use serde::Serialize;

/// The median and the quartiles.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    pub(crate) fn of(values: &[f64]) -> Self {
        Self {
            low: quantile(values, 0.25),
            median: median(values),
            high: quantile(values, 0.75),
        }
    }
}

/// The value below which `share` of the values lie, by the nearest rank; 0 for no values.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted
        .get(rank.clamp(1, sorted.len().max(1)) - 1)
        .copied()
        .unwrap_or_default()
}

/// The middle value.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(median(&values), 2.0);
        assert_eq!(quantile(&values, 0.99), 4.0);
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}
